// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments the amounts of docs/concepts/money.md, written a second time. All saturate,
// so that an absurd product shows as a wrong amount and not as a wrap.
#pragma once

#include <cstdint>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::ledger {

inline constexpr std::uint64_t kMillion = 1'000'000;

/// floor(a · b / c). REQUIRES c > 0.
std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// The bond of a held slot: of which the burned part outweighs the work that a cheat saves and what it gains
/// outside, at the rate at which it is found although a part of the verifiers colludes. Rounded up.
std::uint64_t bond_of(const contracts::Params& params, const contracts::Job& job, contracts::Amount price,
                      const contracts::SlotRound& slot);

/// ceil(amount · ppm / 10^6).
std::uint64_t part_up(std::uint64_t amount, std::uint64_t ppm);

/// What a verifier loses for a wrong or unopened merge where this is the dearest bond of the round.
std::uint64_t penalty_of(const contracts::Params& params, std::uint64_t bond);

/// What a verifier loses that accused a slot wrongly, or was drawn for it and sealed or opened nothing.
std::uint64_t accusation_of(const contracts::Params& params, const contracts::Job& job,
                            contracts::Amount price);

/// The least that a verifier locks for the job beside its link bond: the dearest word at the job's cap.
std::uint64_t enlistment_of(const contracts::Params& params, const contracts::Job& job);

/// What each member of the beacon locks behind its links: three audits of everything in a round at the cap.
std::uint64_t link_bond_of(const contracts::Params& params, const contracts::Job& job);

/// Work units of one audit unit: the segment's share of the slot's work, rounded up; one for `finalise`.
std::uint64_t work_of(const contracts::Job& job, std::uint32_t unit);

}  // namespace assay::ledger
