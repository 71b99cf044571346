// SPDX-License-Identifier: Apache-2.0
// File formats of states, for workers and tests. All numbers are little-endian; nothing lies between or after
// the fields:
//   base state   "ABASE001" ‖ u64 step ‖ parameters ‖ outer momentum                       (binary32)
//   slot state   a head (contracts/program/state_head.hpp), and for each array a file of its own, which holds
//                its numbers (binary32) and nothing else
//   update       the magic of the job's codec ‖ values, as the codec packs them
//                (contracts/program/strategies; "AUPDT001" ‖ int64 values, "AHALF001" ‖ binary16 values)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/state_head.hpp"
#include "trainer/run/state.hpp"

namespace assay::trainer {

using program::base_state_bytes;

base::Bytes encode_base_state(const BaseState& state);
/// The bytes of an array's file: a view of the numbers in memory.
base::ByteView array_file(const std::vector<float>& values);
/// The array of a slot's state. REQUIRES one that slot states have.
std::vector<float>& array_of(SlotState& state, program::StateArray array);
const std::vector<float>& array_of(const SlotState& state, program::StateArray array);
/// The head of a slot's state whose components are `roots`, with the names of its arrays' files.
program::StateHead slot_head(const SlotState& state, const program::StateRoots& roots,
                             std::span<const program::StateArray> arrays);
/// REQUIRES an update that the codec (or `spec`'s codec) made.
base::Bytes encode_update(const Update& update, const program::UpdateCodec& codec,
                          const program::RoundSettings& settings);
base::Bytes encode_update(const Update& update, const program::JobSpec& spec);

/// Strict: the first eight bytes and the length must be exactly those of a model of `parameters` numbers.
/// Numbers that are not finite are refused, too, since no honest state holds one. Fails with kFailure, naming
/// the kind of file and what was wrong.
base::Outcome<BaseState> decode_base_state(base::ByteView bytes, std::uint64_t parameters);
/// Accepts numbers that are not finite: a claimed array is judged by its root and its place.
base::Outcome<std::vector<float>> decode_array(base::ByteView bytes, std::uint64_t parameters);
/// A slot's state with the counters of its head, and no arrays yet.
SlotState counters_of(const program::StateHead& head);
/// Decodes by the codec (or `spec`'s codec), which judges the length, up to its most. Numbers that it never
/// writes are refused.
base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::UpdateCodec& codec,
                                    const program::RoundSettings& settings);
base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::JobSpec& spec);

}  // namespace assay::trainer
