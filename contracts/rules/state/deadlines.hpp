// SPDX-License-Identifier: Apache-2.0
// The index of deadlines, for everything that happens at a height without a transaction. The beginning of a
// block reads only what is due, however much waits for later heights. Internal to the rules.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/base/hash.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

using base::Hash256;

/// What falls due. The numbers are part of stored keys.
enum class DueKind : std::uint8_t {
    kJob = 1,      ///< a phase of the job's bidding, or of its running round; the subject is the job
    kWindows = 2,  ///< windows of settled claims; the subject is their job
    kGames = 3,    ///< clocks of games over a job's claims; the subject is the job
    kLeaving = 4,  ///< the records of an ended job leave the state; the subject is the job
    kMarket = 5,   ///< a part of the running epoch of the market; the subject is zero
};

struct Deadline {
    std::uint64_t height = 0;  ///< the first whose begin_block must look at the subject
    DueKind kind = DueKind::kJob;
    Hash256 subject;
};

Bytes deadline_key(const Deadline& deadline);
/// The deadline that a key of the index encodes; nothing when it is no such key.
std::optional<Deadline> deadline_of(ByteView key);

/// The first deadline that is due at or before `height` and whose key is not below `from`; nothing when there
/// is none. Deadlines ascend by height, kind and subject. Reads one entry.
std::optional<Deadline> first_due(const StateView& state, ByteView from, std::uint64_t height);
/// The height of the next deadline; nothing when none is pending.
std::optional<std::uint64_t> next_due(const StateView& state);

}  // namespace assay::contracts
