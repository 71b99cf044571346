// SPDX-License-Identifier: Apache-2.0
// The amounts of docs/concepts/money.md, implemented a second time for the audit of payments. All saturate,
// so that an absurd product is a wrong amount and does not wrap.
#pragma once

#include <cstdint>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::ledger {

inline constexpr std::uint64_t kMillion = 1'000'000;

/// floor(a · b / c). REQUIRES c > 0.
std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// The bond of a held slot. Its burned part outweighs the work that a cheat saves and what it gains outside,
/// at the rate at which it is found although a part of the verifiers colludes. Rounded up.
std::uint64_t bond_of(const contracts::Params& params, const contracts::Job& job, contracts::Amount price,
                      const contracts::SlotRound& slot);

/// ceil(amount · ppm / 10^6).
std::uint64_t part_up(std::uint64_t amount, std::uint64_t ppm);

/// The fee of an audit of so many work units. A newcomer's registration fee pays at most what it is at the
/// price of its own slot, whatever the round's price is.
std::uint64_t audit_fee_of(const contracts::Params& params, contracts::Amount price, std::uint64_t work);

/// What a verifier loses for a sealed merge that it did not open; `bond` is the dearest bond of the round.
std::uint64_t penalty_of(const contracts::Params& params, std::uint64_t bond);

/// What a verifier loses when it accused a slot wrongly, or was drawn for it and sealed or opened nothing.
std::uint64_t accusation_of(const contracts::Params& params, const contracts::Job& job,
                            contracts::Amount price);

/// The least that a verifier locks for the job in addition to its link bond: the dearest penalty at the job's
/// cap, at least Params::verifier_bond.
std::uint64_t enlistment_of(const contracts::Params& params, const contracts::Job& job);

/// What each member of the beacon locks behind its links: three audits of everything in a round at the cap,
/// plus what another draw is worth to a cheat (link_bond); at least Params::link_penalty.
std::uint64_t link_bond_of(const contracts::Params& params, const contracts::Job& job);

/// Work units of one audit unit: the segment's share of the slot's work, rounded up; one for `finalise`.
std::uint64_t work_of(const contracts::Job& job, std::uint32_t unit);

}  // namespace assay::ledger
