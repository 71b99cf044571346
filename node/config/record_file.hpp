// SPDX-License-Identifier: Apache-2.0
// Gives commands record.json, the run record, with which `assay model train --record` computes the same model
// without the network. Schema "assay.record/v2" (docs/formats/record.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"

namespace assay::node {

/// A slot whose update was merged, and with what weight.
struct AcceptedSlot {
    std::uint32_t slot = 0;
    std::uint64_t weight = 1;  ///< at least 1
    /// Root of the carried state that the slot went on with, zero if there was none; nothing in jobs that
    /// carry no state.
    std::optional<base::Hash256> carried_in = std::nullopt;
    friend bool operator==(const AcceptedSlot&, const AcceptedSlot&) = default;
};

struct RecordRound {
    std::uint32_t round = 0;
    base::Hash256 base_root;             ///< state root at the round's start
    std::vector<AcceptedSlot> accepted;  ///< ascending by slot; empty when nothing was accepted
    /// Bits of the binary32 factor by which the merged update was clipped; nothing for strategies that do not
    /// clip.
    std::optional<std::uint32_t> clip_bits;
    base::Hash256 result_root;  ///< state root after the merge
    friend bool operator==(const RecordRound&, const RecordRound&) = default;
};

struct RunRecord {
    std::string job_id;  ///< as the ledger names it
    std::uint32_t slots = 0;
    std::vector<RecordRound> rounds;  ///< 0, 1, … without a gap
    friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// The same record always gives the same bytes.
std::string record_to_json(const RunRecord& record);

/// Parses strictly. Refuses unknown, missing and repeated keys, slots out of order or range, rounds with
/// gaps, and a base root that is not the result of the round before. Errors: kUsage.
base::Outcome<RunRecord> record_from_json(std::string_view json);

base::Outcome<RunRecord> read_record(const std::filesystem::path& path);
base::Outcome<void> write_record(const std::filesystem::path& path, const RunRecord& record);

}  // namespace assay::node
