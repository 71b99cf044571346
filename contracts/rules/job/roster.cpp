// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/roster.hpp"

#include <algorithm>
#include <optional>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

bool is_joiner(const Job& job, const RosterEntry& entry) {
    return !job.leases() && entry.place >= job.auction.winners;
}

bool is_member(const StateView& state, const RosterEntry& entry) {
    return !entry.dropped && !read_node_key(state, entry.node)->revoked;
}

namespace {

bool holds_place(const StateView& state, const Params& params, const Job& job, const RosterEntry& entry) {
    if (!is_member(state, entry)) return false;
    return !entry.locked.is_zero() || has_bond_at(state, params, job, entry.node, job.auction.clearing_price);
}

}  // namespace

std::uint32_t open_places(const StateView& state, const Job& job) {
    if (job.leases() || job.roster.empty()) return 0;
    const Params params = params_of(state, job);
    const auto held = std::count_if(job.roster.begin(), job.roster.end(), [&](const RosterEntry& entry) {
        return holds_place(state, params, job, entry);
    });
    ASSAY_CHECK(held <= job.auction.winners);
    return job.auction.winners - static_cast<std::uint32_t>(held);
}

void vacate_place(Work& work, const Job& job) {
    const Params params = params_of(work.state, job);
    std::uint32_t members = 0;
    std::optional<RosterEntry> last;
    for (const RosterEntry& entry : job.roster) {
        if (!is_member(work.state, entry)) continue;
        ++members;
        if (!holds_place(work.state, params, job, entry)) last = entry;
    }
    ASSAY_CHECK(last || members < job.auction.winners);
    if (members < job.auction.winners) return;
    drop(work, job, *last, Reason::kDropped, job.round);
    store(work.state, roster_key(job.id, last->node), *last);
}

void drop_absent(Work& work, Job& job) {
    const Params params = params_of(work.state, job);
    for (RosterEntry& entry : job.roster)
        if (!holds_place(work.state, params, job, entry)) drop(work, job, entry, Reason::kDropped, job.round);
}

Amount bond_at(const StateView& state, const Params& params, const JobTerms& job, const PublicKey& miner,
               Amount price) {
    const bool newcomer = is_newcomer(state, params, miner, job);
    const auto bond =
        slot_bond(params, job.spec, price, job.slot_work, newcomer ? Audited::kAlways : Audited::kAtRate);
    ASSAY_CHECK(bond.has_value());  // the job was refused otherwise
    return *bond;
}

Amount stake_to_ask(const StateView& state, const Params& params, const JobTerms& job,
                    const PublicKey& miner) {
    return saturating_sum(bond_at(state, params, job, miner, job.spec.market.max_price), params.ask_deposit);
}

Amount bond_in(const StateView& state, const Params& params, const Job& job, const PublicKey& miner) {
    return bond_at(state, params, job, miner, job.auction.clearing_price);
}

bool has_bond_at(const StateView& state, const Params& params, const Job& job, const PublicKey& miner,
                 Amount price) {
    if (waits_for_window(state, job, miner)) return true;
    return read_stake(state, miner).free >= bond_at(state, params, job, miner, price);
}

bool waits_for_window(const StateView& state, const Job& job, const PublicKey& miner) {
    // A settled merge holds no bond, and of slots the first that is not dead does.
    bool waits = false;
    for_each_claim_of(state, job.id, miner, ClaimKind::kSlot, [&](const ClaimId& id) {
        waits = !required(read_claim(state, id)).bond.is_zero();
        return !waits;
    });
    return waits;
}

bool members_wait_for_window(const StateView& state, const Job& job) {
    return std::any_of(job.roster.begin(), job.roster.end(), [&](const RosterEntry& entry) {
        return is_member(state, entry) && waits_for_window(state, job, entry.node);
    });
}

RosterEntry& roster_entry(Job& job, const PublicKey& miner) {
    const auto found = std::find_if(job.roster.begin(), job.roster.end(),
                                    [&](const RosterEntry& entry) { return entry.node == miner; });
    ASSAY_CHECK(found != job.roster.end());
    return *found;
}

void drop(Work& work, const Job& job, RosterEntry& entry, Reason reason, std::uint32_t round) {
    if (entry.dropped) return;
    entry.dropped = true;
    entry.dropped_for = reason;
    entry.dropped_round = round;
    if (job.leases()) store(work.state, dropped_at_key(job.id, entry.node), work.block.height);
    work.tell(
        {.kind = EventKind::kDropped, .job = job.id, .round = round, .node = entry.node, .reason = reason});
}

}  // namespace assay::contracts
