// SPDX-License-Identifier: Apache-2.0
#include "node/sim/strategies.hpp"

#include <algorithm>
#include <cmath>

namespace assay::node::sim {

namespace {

using contracts::TxType;

constexpr std::string_view kCheat = "cheat";

Strategy hashing(std::string_view name, std::string_view text, FalseUnits units, Law law, double work) {
    Strategy strategy{.name = name, .text = text, .law = law, .work = work};
    strategy.behaviour.false_units = units;
    return strategy;
}

Strategy silent(std::string_view name, std::string_view text, std::set<TxType> never, Law law) {
    Strategy strategy{.name = name, .text = text, .law = law, .work = 1};
    strategy.behaviour.never_sends = std::move(never);
    return strategy;
}

Strategy judging(std::string_view name, std::string_view text, Trial trial, Law law) {
    Strategy strategy{.name = name,
                      .text = text,
                      .trial = trial,
                      .caught = Caught::kPenalty,
                      .law = law,
                      .rate_one = true,
                      .cheat = WorkRole::kVerifier};
    return strategy;
}

void add_miners(std::vector<Strategy>& all) {
    const auto add = [&](auto... row) { all.push_back(hashing(row...)); };
    add("lazy", "commits to noise in place of every segment", FalseUnits::kAll, Law::kSegments, 0.0);
    add("zero", "trains nothing and claims an update of zeros", FalseUnits::kAll, Law::kSegments, 0.0);
    add("noise", "claims random numbers of the right size", FalseUnits::kAll, Law::kSegments, 0.0);
    add("one-ulp", "trains, and moves one number of one segment by its last bit", FalseUnits::kOne,
        Law::kOneSegment, 1.0);
    add("skipped-steps", "leaves out the steps of one segment", FalseUnits::kOne, Law::kOneSegment, 0.75);
    add("stale-base", "trains from the base of the round before", FalseUnits::kFirst, Law::kOneSegment, 1.0);
    add("wrong-shard", "trains on another slot's data", FalseUnits::kAll, Law::kSegments, 1.0);
    add("copied", "hands in another slot's work", FalseUnits::kAll, Law::kSegments, 0.0);
    add("replayed", "hands in its own work of the round before", FalseUnits::kAll, Law::kSegments, 0.0);
    add("late-cheat", "trains honestly and makes up the last segment", FalseUnits::kLast, Law::kOneSegment,
        0.75);
    add("laundered-state", "claims a state whose root fits and whose counters are of another step",
        FalseUnits::kPlace, Law::kTwoSegments, 1.0);
    add("bad-finalise", "trains honestly and hands in another update", FalseUnits::kFinalise, Law::kFinalise,
        1.0);
    Strategy start = silent("withheld-start", "makes up every segment and serves no start of a drawn run",
                            {TxType::kRoundServe}, Law::kAnyUnit);
    start.behaviour.false_units = FalseUnits::kAll;
    start.work = 0;
    all.push_back(std::move(start));
    Strategy update =
        silent("withheld-update", "works honestly and gives nobody its update", {}, Law::kNotFinalise);
    update.caught = Caught::kUnpaid;
    update.behaviour.withholds = {Traffic::kUpdate};
    all.push_back(std::move(update));
    all.push_back(silent("silent-after-draw", "says nothing more once the draw is known",
                         {TxType::kRoundServe, TxType::kRoundReveal}, Law::kAlways));
    Strategy squatter = silent("squatter", "wins slots and never commits", {}, Law::kAlways);
    squatter.caught = Caught::kUnpaid;
    squatter.work = 0;
    squatter.behaviour.trains = false;
    all.push_back(std::move(squatter));
}

void add_names(std::vector<Strategy>& all) {
    Strategy swarm = hashing("sybil-swarm", "cheats under names that have no standing yet", FalseUnits::kAll,
                             Law::kAlways, 0.0);
    swarm.probation = true;
    all.push_back(swarm);
    Strategy laundered = hashing("laundered-standing", "earns a standing in jobs of its own, and cheats in others",
                                 FalseUnits::kAll, Law::kAlways, 0.0);
    laundered.probation = laundered.launders = true;
    all.push_back(laundered);
    Strategy sniping = silent("sniping-bidder", "seals an ask and opens it only if the others' suit it",
                              {TxType::kAskReveal}, Law::kAlways);
    sniping.trial = Trial::kJob;
    sniping.caught = Caught::kPoorer;
    sniping.slots = 2;
    all.push_back(sniping);
}

void add_verifiers(std::vector<Strategy>& all) {
    Strategy stamp = judging("rubber-stamp", "seals roots without computing them", Trial::kAudit,
                             Law::kAlways);
    stamp.behaviour.word = Word::kMadeUp;
    all.push_back(stamp);
    Strategy coin = judging("coin-flip", "computes every second slot and makes the others up", Trial::kAudit,
                            Law::kHalf);
    coin.behaviour.word = Word::kCoin;
    coin.work = 0.5;
    all.push_back(coin);
    Strategy copy = judging("copy", "seals something, looks at what others open, and does not open",
                            Trial::kAudit, Law::kAlways);
    copy.behaviour.word = Word::kMadeUp;
    copy.behaviour.never_sends = {TxType::kAuditOpen};
    all.push_back(copy);
    Strategy merge = judging("bad-merge", "claims a merge that is none of its updates", Trial::kMerge,
                             Law::kAlways);
    merge.behaviour.merges_false = true;
    merge.slots = 2;
    all.push_back(merge);
    Strategy censor = judging("censored-merge", "leaves a slot out of its merge", Trial::kMerge,
                              Law::kAlways);
    censor.behaviour.censors = true;
    censor.slots = 2;
    all.push_back(censor);
    Strategy link = judging("link-withholding", "keeps its beacon link back", Trial::kLink, Law::kAlways);
    link.behaviour.never_sends = {TxType::kBeaconOpen};
    link.work = 1;
    link.slots = 2;
    all.push_back(link);
}

void add_buyers(std::vector<Strategy>& all) {
    Strategy starving{.name = "starving-buyer",
                      .text = "serves its data to miners and to no verifier",
                      .trial = Trial::kJob,
                      .caught = Caught::kNoWork,
                      .law = Law::kAlways,
                      .slots = 2,
                      .cheat = WorkRole::kBuyer};
    starving.behaviour.serves_miners_alone = true;
    all.push_back(starving);
    Strategy trap{.name = "trap-job",
                  .text = "names a gain bound far above the pay, so that bonds outgrow it",
                  .trial = Trial::kJob,
                  .caught = Caught::kNoWork,
                  .law = Law::kAlways,
                  .slots = 2,
                  .cheat = WorkRole::kBuyer,
                  .gain_percent = 1'000'000};
    all.push_back(trap);
}

void add_open(std::vector<Strategy>& all) {
    for (const std::string_view name : {"colluding-panel", "sybil-panel"}) {
        Strategy panel = hashing(name,
                                 name == "sybil-panel"
                                     ? "a lazy miner with two of three verifiers, one person under two owners"
                                     : "a lazy miner with two of three verifiers",
                                 FalseUnits::kAll, Law::kNoneWhileColluding, 0.0);
        panel.open = true;
        panel.rate_one = true;
        panel.colluding_verifiers = 2;
        all.push_back(std::move(panel));
    }
}

double share_of(std::uint64_t threshold) { return std::ldexp(static_cast<double>(threshold), -64); }

}  // namespace

const std::vector<Strategy>& strategies() {
    static const std::vector<Strategy> all = [] {
        std::vector<Strategy> made;
        made.push_back({.name = "honest",
                        .text = "everybody does what its role says",
                        .law = Law::kNever,
                        .work = 1});
        add_miners(made);
        add_names(made);
        add_verifiers(made);
        add_buyers(made);
        add_open(made);
        return made;
    }();
    return all;
}

const Strategy* find_strategy(std::string_view name) {
    const auto& all = strategies();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Strategy& s) { return s.name == name; });
    return found == all.end() ? nullptr : &*found;
}

double predicted_rate(const Strategy& strategy) {
    const double q = strategy.rate_one ? 1.0 : share_of(kSegmentRate);
    const double finalise = strategy.rate_one ? 1.0 : share_of(kFinaliseRate);
    switch (strategy.law) {
        case Law::kNever:
        case Law::kNoneWhileColluding: return 0;
        case Law::kAlways: return 1;
        case Law::kSegments: return 1 - std::pow(1 - q, kSegments);
        case Law::kAnyUnit: return 1 - std::pow(1 - q, kSegments) * (1 - finalise);
        case Law::kOneSegment: return q;
        case Law::kTwoSegments: return 1 - std::pow(1 - q, 2);
        case Law::kFinalise: return finalise;
        case Law::kNotFinalise: return 1 - finalise;
        case Law::kHalf: return 0.5;
    }
    return 0;
}

WorldSetup setup_of(const Strategy& strategy, std::uint64_t seed, bool third) {
    WorldSetup setup{.seed = seed,
                     .parties = {{"mia", WorkRole::kMiner, {}}},
                     .slots = strategy.slots,
                     .gain_percent = strategy.gain_percent,
                     .probation = strategy.probation,
                     .launders = strategy.launders};
    if (!strategy.rate_one) {
        setup.segment_rate = kSegmentRate;
        setup.finalise_rate = kFinaliseRate;
    }
    const auto add = [&](const std::string& name, WorkRole role, Behaviour behaviour) {
        setup.parties.push_back({name, role, std::move(behaviour)});
    };
    const auto cheats = [&](WorkRole role) { return strategy.cheat == role; };
    add(cheats(WorkRole::kMiner) ? std::string(kCheat) : "moe", WorkRole::kMiner,
        cheats(WorkRole::kMiner) ? strategy.behaviour : Behaviour());
    int colluding = strategy.colluding_verifiers;
    if (third && colluding == 0 && !cheats(WorkRole::kVerifier)) colluding = 1;
    for (const char* name : {"vera", "viki", "vito"}) {
        if (cheats(WorkRole::kVerifier) && name == std::string_view("vito")) {
            add(std::string(kCheat), WorkRole::kVerifier, strategy.behaviour);
        } else if (colluding > 0) {
            --colluding;
            add(std::string("friend-") + name, WorkRole::kVerifier,
                {.word = Word::kColludes});
        } else {
            add(name, WorkRole::kVerifier, {});
        }
    }
    add(cheats(WorkRole::kBuyer) ? std::string(kCheat) : "bea", WorkRole::kBuyer,
        cheats(WorkRole::kBuyer) ? strategy.behaviour : Behaviour());
    if (strategy.launders) setup.parties.push_back({"shop", WorkRole::kBuyer, {}, std::string(kCheat)});
    return setup;
}

bool is_honest(const Party& party) {
    return party.name != kCheat && party.behaviour.word != Word::kColludes;
}

}  // namespace assay::node::sim
