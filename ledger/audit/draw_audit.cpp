// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/draw_audit.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "contracts/rules/job/auction.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::ledger {

using contracts::BeaconLink;
using contracts::BeaconMember;
using contracts::Hash256;
using contracts::Job;
using contracts::PublicKey;
using contracts::Round;

namespace {

struct Opening {
    std::uint32_t index = 0;
    Hash256 link;
};

class BeaconAudit {
public:
    BeaconAudit(const contracts::StateView& state, const Job& job) : state_(state), job_(job) {}

    std::vector<RoundFailure> run(const std::vector<Round>& rounds) {
        Hash256 before = beacon_zero();
        for (const Round& round : rounds) {
            check_links(round);
            if (round.phase <= contracts::RoundPhase::kBeacon) continue;
            check_beacon(round, before);
            before = round.beacon;
        }
        if (before != job_.last_beacon && !rounds.empty())
            wrong(rounds.back().number, "the job's last beacon is not the last round's");
        return std::move(failures_);
    }

private:
    void wrong(std::uint32_t round, const std::string& what) {
        failures_.push_back({round, "beacon: " + what});
    }

    // What the bidding's end made of the registered tips: a member's last link leads back to what it
    // registered.
    [[nodiscard]] Hash256 beacon_zero() const {
        base::Hasher hasher("assay/beacon-zero/v1");
        hasher.add(job_.id);
        for (const BeaconMember& member : job_.beacon)
            hasher.add(contracts::follow_link(member.tip, member.used));
        return hasher.finish();
    }

    // Links of void tries are stepped over, and no link is opened in two rounds.
    void check_links(const Round& round) {
        for (const BeaconLink& link : round.links) {
            if (!link.opened) continue;
            const auto last = last_.find(link.node);
            if (last != last_.end() && !leads(link, last->second))
                wrong(round.number, "the link of " + link.node.brief() + " does not lead to the one before");
            last_[link.node] = {link.index, link.link};
        }
    }

    static bool leads(const BeaconLink& link, const Opening& before) {
        return link.index > before.index &&
               contracts::follow_link(link.link, link.index - before.index) == before.link;
    }

    void check_beacon(const Round& round, const Hash256& before) {
        const bool none = std::none_of(round.links.begin(), round.links.end(),
                                       [](const BeaconLink& link) { return link.opened; });
        base::Hasher hasher(none ? "assay/beacon/none/v1" : "assay/beacon/v2");
        hasher.add(job_.id).add_u64(round.number).add(before);
        bool missing = none;
        for (const BeaconLink& link : round.links) {
            if (link.opened) hasher.add(link.node.view()).add(link.link);
            missing = missing || !link.opened;
            if (link.opened == link.withheld)
                wrong(round.number, "the link of " + link.node.brief() + " is neither opened nor withheld");
        }
        if (none) {
            for (const auto& slot : contracts::list_slots(state_, job_.id, round.number))
                if (slot.committed) hasher.add_u64(slot.slot).add(slot.seal);
        }
        if (hasher.finish() != round.beacon) wrong(round.number, "it is not what the opened links give");
        if (missing != round.link_missing) wrong(round.number, "a missing link is counted wrong");
    }

    const contracts::StateView& state_;
    const Job& job_;
    std::map<PublicKey, Opening> last_;
    std::vector<RoundFailure> failures_;
};

// What the opened salts make of the ties: nobody's choice.
Hash256 seed_of_ties(const Job& job, const std::vector<contracts::Ask>& asks) {
    base::Hasher hasher("assay/ask-ties/v2");
    hasher.add(job.id);
    for (const contracts::Ask& ask : asks) {
        if (ask.revealed) hasher.add(ask.miner.view()).add(ask.salt);
    }
    return hasher.finish();
}

// Place of an ask among the feasible ones: by price, then by the tie-break of the auction.
std::pair<contracts::Amount, Hash256> place_of(const Hash256& seed, contracts::Amount price,
                                               const PublicKey& miner) {
    return {price, base::Hasher("assay/ask-tie/v2").add(seed).add(miner.view()).finish()};
}

// The roster without those who joined later.
std::span<const contracts::RosterEntry> winners_of(const Job& job) {
    return std::span(job.roster).first(std::min<std::size_t>(job.roster.size(), job.auction.winners));
}

// Whether the outcome treats an ask as covered by stake: winners were; of the others those were not that sort
// before the last winner or that the clearing price passed over.
bool treated_as_covered(const Job& job, const Hash256& seed, const contracts::Ask& ask) {
    const auto winners = winners_of(job);
    const bool won = std::any_of(winners.begin(), winners.end(),
                                 [&](const auto& entry) { return entry.node == ask.miner; });
    if (won) return true;
    if (!job.auction.first_rejected || winners.empty()) return false;
    const contracts::RosterEntry& last = winners.back();
    return ask.price >= job.auction.clearing_price &&
           place_of(seed, ask.price, ask.miner) > place_of(seed, last.ask, last.node);
}

}  // namespace

std::vector<RoundFailure> audit_beacons(const contracts::StateView& state, const Job& job,
                                        const std::vector<Round>& rounds) {
    return BeaconAudit(state, job).run(rounds);
}

std::vector<std::string> audit_auction(const std::string& chain, const Job& job,
                                       const std::vector<contracts::Ask>& asks) {
    if (job.spec.market.terms.gang > 0) {  // it leases: audit_prices
        const bool none = asks.empty() && job.auction.winners == 0 && job.auction.clearing_price.is_zero();
        return none ? std::vector<std::string>{} : std::vector<std::string>{"auction: the job has none"};
    }
    const bool cleared = !job.roster.empty() || job.end_reason == contracts::Reason::kNoAsks;
    if (!cleared) return {};
    std::vector<std::string> wrong;
    const auto& recorded = job.auction;
    std::vector<contracts::Offer> offers;
    const Hash256 seed = seed_of_ties(job, asks);
    for (const contracts::Ask& ask : asks) {
        if (!ask.revealed) continue;
        if (contracts::ask_seal(chain, job.id, ask.miner, ask.price, ask.salt) != ask.seal)
            wrong.push_back("auction: the ask of " + ask.miner.brief() + " is not the one that was sealed");
        // When nobody was short, every ask counts; no outcome is taken at its word.
        offers.push_back(
            {ask.miner, ask.price, recorded.short_stake == 0 || treated_as_covered(job, seed, ask)});
    }
    const auto again = contracts::clear_auction(seed, job.spec.market.max_price, job.spec.slots, offers);
    const auto expect = [&](const char* what, std::uint64_t found, std::uint64_t expected) {
        if (found != expected)
            wrong.push_back("auction: " + std::string(what) + " is " + std::to_string(found) +
                            ", the revealed asks give " + std::to_string(expected));
    };
    expect("the clearing price", recorded.clearing_price.units(), again.outcome.clearing_price.units());
    expect("the number of sealed asks", recorded.asks_sealed, asks.size());
    expect("the number of revealed asks", recorded.asks_revealed, again.outcome.asks_revealed);
    expect("the number of asks above the cap", recorded.above_cap, again.outcome.above_cap);
    expect("the number of winners", recorded.winners, again.outcome.winners);
    if (again.outcome.short_stake > recorded.short_stake)
        wrong.emplace_back("auction: the price passes over more asks than lacked stake");
    if (recorded.first_rejected != again.outcome.first_rejected)
        wrong.emplace_back("auction: the first rejected ask is another one");
    // Ties of asks without a salt were broken by a rule of that time.
    const bool ties_known = std::none_of(asks.begin(), asks.end(), [](const contracts::Ask& ask) {
        return ask.revealed && ask.salt.is_zero();
    });
    for (std::size_t i = winners_of(job).size(); i < job.roster.size(); ++i) {
        if (job.roster[i].ask != recorded.clearing_price)
            wrong.push_back("auction: " + job.roster[i].node.brief() + " joined at another price");
    }
    bool same = winners_of(job).size() == again.winners.size();
    for (std::size_t i = 0; same && i < again.winners.size(); ++i) {
        const contracts::Offer& offer = offers[again.winners[i]];
        same = job.roster[i].ask == offer.price && (!ties_known || job.roster[i].node == offer.miner);
    }
    if (!same) wrong.emplace_back("auction: the roster is not the cheapest asks in their order");
    return wrong;
}

}  // namespace assay::ledger
