// SPDX-License-Identifier: Apache-2.0
// Gives workers and tests the files of states. All numbers little-endian, nothing between or after the
// fields:
//   base state   "ABASE001" ‖ u64 step ‖ parameters ‖ outer momentum                       (binary32)
//   slot state   "ASLOT001" ‖ u64 step ‖ u64 cursor ‖ parameters ‖ first ‖ second moment   (binary32)
//   slot state with carried moments
//                "ASLOT002" ‖ u64 step ‖ u64 cursor ‖ u64 age ‖ parameters ‖ first ‖ second moment
//   update       the magic of the job's codec ‖ values, as the codec packs them
//                (contracts/program/strategies; "AUPDT001" ‖ int64 values, "AHALF001" ‖ binary16 values)
#pragma once

#include <cstdint>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/run/state.hpp"

namespace assay::trainer {

using program::base_state_bytes;
using program::slot_state_bytes;

base::Bytes encode_base_state(const BaseState& state);
base::Bytes encode_slot_state(const SlotState& state);
/// REQUIRES an update that `spec`'s codec gave.
base::Bytes encode_update(const Update& update, const program::JobSpec& spec);

/// A slot state is of either kind, as its magic says; whether that is the job's is for JobRunner::misfit.
/// Strict: the first eight bytes and the length must be exactly those of a model of `parameters` numbers.
/// Non-finite numbers are refused too, since no honest state holds one. kFailure with a sentence that names
/// the file kind and what was wrong.
base::Outcome<BaseState> decode_base_state(base::ByteView bytes, std::uint64_t parameters);
base::Outcome<SlotState> decode_slot_state(base::ByteView bytes, std::uint64_t parameters);
/// As decode_slot_state, numbers that are not finite included: for a state that somebody claims, which is
/// judged by its root and its place.
base::Outcome<SlotState> decode_claimed_slot_state(base::ByteView bytes, std::uint64_t parameters);
/// By the codec of `spec`; numbers that it never writes are refused.
base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::JobSpec& spec);

}  // namespace assay::trainer
