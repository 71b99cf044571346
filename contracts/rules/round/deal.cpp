// SPDX-License-Identifier: Apache-2.0
// Dealing the slots: who works on what in the next round, and what it locks.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/judges.hpp"
#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/round/beacon.hpp"
#include "contracts/rules/round/leased.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// A miner that can hold slots in the coming round.
struct Hand {
    const RosterEntry* entry;
    Amount price;                ///< of a work unit
    Amount bond;                 ///< per slot
    std::uint32_t capacity = 0;  ///< slots whose bonds its free stake covers
    bool newcomer = false;
};

/// Without capacity where its stake covers no slot, or too few others could judge its work.
Hand hand_of(const StateView& state, const Params& params, const Job& job, const RosterEntry& entry,
             Amount price, const std::vector<PublicKey>& judges) {
    Hand hand{&entry, price, bond_at(state, params, job, entry.node, price), 0,
              is_newcomer(state, params, entry.node, job)};
    const std::uint64_t free = read_stake(state, entry.node).free.units();
    const std::uint64_t fits = hand.bond.is_zero() ? job.spec.slots : free / hand.bond.units();
    if (can_be_judged(judges, entry.owner, params))
        hand.capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(fits, job.spec.slots));
    return hand;
}

/// Of a job with an auction of its own. Drops a joiner that cannot hold a slot: it would have its place for
/// nothing. A winner could lock a slot's bond at the auction, and its stake may come back. It keeps its place
/// until somebody takes it (vacate_place), or a refill ends with nobody who can hold a slot.
std::vector<Hand> hands_of(Work& work, Job& job) {
    const Params params = params_of(work.state, job);
    const std::vector<PublicKey> judges = owners_of_judges(work.state, job);
    std::vector<Hand> hands;
    for (RosterEntry& entry : job.roster) {
        if (!is_member(work.state, entry)) continue;
        const Hand hand = hand_of(work.state, params, job, entry, job.auction.clearing_price, judges);
        if (hand.capacity > 0) {
            hands.push_back(hand);
        } else if (is_joiner(job, entry) && !waits_for_window(work.state, job, entry.node)) {
            drop(work, job, entry, Reason::kDropped, job.round);
        }
    }
    return hands;
}

/// Of a job that leases: those whose lots it has now, each at its lot's price. A lot above the cap would be
/// the market's mistake, and deals nothing.
std::vector<Hand> leased_hands(Work& work, Job& job) {
    const Params params = params_of(work.state, job);
    const std::vector<PublicKey> judges = owners_of_judges(work.state, job);
    const std::vector<Lease> leases = leases_at(work.state, job.id, work.block.height);
    follow_leases(work, job, leases);
    std::map<PublicKey, Amount> prices;
    for (const Lease& lease : leases) prices.emplace(lease.node, lease.price);
    std::vector<Hand> hands;
    for (const RosterEntry& entry : job.roster) {
        const auto leased = prices.find(entry.node);
        if (leased == prices.end() || leased->second > job.spec.market.max_price) continue;
        if (!is_member(work.state, entry)) continue;
        const Hand hand = hand_of(work.state, params, job, entry, leased->second, judges);
        if (hand.capacity > 0) hands.push_back(hand);
    }
    return hands;
}

Amount highest_price(const std::vector<Hand>& hands) {
    Amount highest;
    for (const Hand& hand : hands) highest = std::max(highest, hand.price);
    return highest;
}

/// Nobody can hold a slot. Whoever joins has to fetch what a round starts from first, so that it may take as
/// long as storing that; members whose bonds are in windows are waited for.
void begin_refill(Work& work, Job& job) {
    const Params params = params_of(work.state, job);
    const bool open = open_places(work.state, job) > 0;
    std::uint64_t window = open ? params.storage_window : params.ask_commit_window;
    if (members_wait_for_window(work.state, job)) window = std::max(window, params.claim_window);
    set_phase(work, job, JobPhase::kRefill, later(work.block.height, window));
}

/// One each while nobody is measured; then by measured speed, with the unmeasured at the slowest's.
std::vector<std::uint64_t> weights_of(const std::vector<Hand>& hands) {
    std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
    for (const Hand& hand : hands) {
        if (hand.entry->speed() > 0) slowest = std::min(slowest, hand.entry->speed());
    }
    if (slowest == std::numeric_limits<std::uint64_t>::max()) slowest = 1;
    std::vector<std::uint64_t> weights;
    for (const Hand& hand : hands) weights.push_back(hand.entry->speed() > 0 ? hand.entry->speed() : slowest);
    return weights;
}

/// The holder of each slot as a place in `hands`, in drawn order, one each in turn until shares are dealt.
std::vector<std::size_t> deal(const Job& job, const std::vector<Hand>& hands) {
    std::vector<std::size_t> order = draw_order(job.last_beacon, "deal", hands.size());
    std::vector<Hand> in_order;
    std::vector<std::uint32_t> caps;
    for (const std::size_t place : order) {
        in_order.push_back(hands[place]);
        caps.push_back(hands[place].capacity);
    }
    std::vector<std::uint32_t> shares = share(job.spec.slots, weights_of(in_order), caps);
    std::vector<std::size_t> holders;
    for (bool dealt = true; dealt;) {
        dealt = false;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (shares[i] == 0) continue;
            --shares[i];
            holders.push_back(order[i]);
            dealt = true;
        }
    }
    return holders;
}

/// Escrow is never overdrawn: a round begins only when its dearest course is covered.
bool covers_round(const Params& params, const Job& job, Amount price) {
    const auto cost = round_cost(params, job.spec, price, job.slot_work);
    ASSAY_CHECK(cost.has_value());
    return job.escrow >= *cost;
}

/// Why no further round may begin; kNone: one may.
Reason obstacle(const Work& work, const Job& job) {
    if (job.found_void) return Reason::kJobVoid;
    if (job.round >= job.spec.rounds) return Reason::kJobComplete;
    if (job.cancel_asked) return Reason::kJobCancelled;
    if (work.block.height >= job.current_deadline()) return Reason::kJobDeadline;
    const Params params = params_of(work.state, job);
    if (owners_of_judges(work.state, job).size() < params.panel_owners_least) return Reason::kTooFewVerifiers;
    // What leased machines cost is known once they are.
    return job.leases() || covers_round(params, job, job.auction.clearing_price) ? Reason::kNone
                                                                                 : Reason::kJobExhausted;
}

std::ptrdiff_t count_dropped(const Job& job) {
    return std::count_if(job.roster.begin(), job.roster.end(),
                         [](const RosterEntry& entry) { return entry.dropped; });
}

/// Who can hold slots in the coming round. Nobody: the job ends for `stop`, or waits already.
std::vector<Hand> gather(Work& work, Job& job, Reason& stop) {
    const auto dropped = count_dropped(job);
    std::vector<Hand> hands = job.leases() ? leased_hands(work, job) : hands_of(work, job);
    if (job.leases()) {
        if (hands.size() < job.spec.market.terms.gang) {
            wait_for_gang(work, job);
            return {};
        }
        if (!covers_round(params_of(work.state, job), job, highest_price(hands)))
            stop = Reason::kJobExhausted;
    } else if (hands.empty()) {
        // Who left, or lost its bond, may have kept a place closed until now: it is offered in another
        // refill. There is an end: each further refill has somebody dropped, or waits for games to end.
        const bool is_first = job.phase != JobPhase::kRefill;
        if (!is_first) drop_absent(work, job);
        if (is_first || count_dropped(job) > dropped || members_wait_for_window(work.state, job)) {
            begin_refill(work, job);
        } else {
            stop = Reason::kNoMiners;
        }
    }
    return hands;
}

/// Deals one slot, or leaves it to nobody. Returns the price of a work unit in it.
Amount deal_slot(Work& work, Job& job, std::uint32_t number, const Hand* hand) {
    SlotRound slot;
    slot.slot = number;
    if (hand != nullptr) {
        slot.assigned = true;
        slot.miner = hand->entry->node;
        slot.owner = hand->entry->owner;
        slot.bond = hand->bond;
        slot.newcomer = hand->newcomer;
        lock_stake(work.state, slot.miner, slot.bond);
        const Amount pay = set_aside(job, slot_pay(hand->price, job.slot_work));
        open_claim(work.state, {job.id, job.round, ClaimKind::kSlot, number},
                   {slot.miner, slot.owner, slot.bond, pay, params_of(work.state, job).claim_window});
    }
    store(work.state, slot_key(job.id, job.round, number), slot);
    return hand != nullptr ? hand->price : Amount{};
}

}  // namespace

std::vector<EligibleVerifier> eligible_verifiers(const StateView& state, const Job& job) {
    std::vector<EligibleVerifier> candidates;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        if (verifier.dropped || read_node_key(state, verifier.node)->revoked) continue;
        candidates.push_back({verifier.node, verifier.owner, verifier.bond.units()});
    }
    return candidates;
}

Amount set_aside(Job& job, std::optional<Amount> pay) {
    ASSAY_CHECK(pay.has_value());
    job.escrow = difference(job.escrow, *pay);
    return *pay;
}

void start_round(Work& work, Job& job) {
    Reason stop = obstacle(work, job);
    std::vector<Hand> hands;
    if (stop == Reason::kNone) {
        release_joiners(work.state, job);
        hands = gather(work, job, stop);
    }
    if (stop != Reason::kNone) return end_job(work, job, stop);
    if (hands.empty()) return;
    if (job.phase != JobPhase::kRounds) set_phase(work, job, JobPhase::kRounds, 0);

    Round round;
    round.job = job.id;
    round.number = job.round;
    round.phase = RoundPhase::kCommit;
    round.phase_deadline = later(work.block.height, params_of(work.state, job).commit_window);
    round.started_at = work.block.height;
    round.base_root = job.base_root;
    round.base_blob = job.base_blob;
    for (const EligibleVerifier& candidate : eligible_verifiers(work.state, job)) {
        const auto weight = Amount::of(candidate.weight);
        ASSAY_CHECK(weight.has_value());
        round.judges.push_back({candidate.node, *weight});
    }
    round.links = links_of_round(work.state, job);
    write_round(work.state, round);
    schedule(work.state, job.id, job, round.phase_deadline);

    const std::vector<std::size_t> holders = deal(job, hands);
    RoundPrices prices;
    for (std::uint32_t number = 0; number < job.spec.slots; ++number) {
        const Hand* const hand = number < holders.size() ? &hands[holders[number]] : nullptr;
        prices.slots.push_back(deal_slot(work, job, number, hand));
        prices.highest = std::max(prices.highest, prices.slots.back());
    }
    if (job.leases()) store(work.state, round_prices_key(job.id, job.round), prices);
    work.tell({.kind = EventKind::kRoundStarted, .job = job.id, .round = round.number});
}

}  // namespace assay::contracts
