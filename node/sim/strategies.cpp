// SPDX-License-Identifier: Apache-2.0
#include "node/sim/strategies.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "node/sim/link_rows.hpp"

namespace assay::node::sim {

namespace {

using contracts::TxType;

constexpr std::string_view kCheat = "cheat";
constexpr std::array kPanel{"vera", "viki", "vito"};

/// Locks where stake is deposited for the draw: of each of three honest verifiers, and of each of two others.
constexpr base::Amount kHonestLock = base::units(500'000 * base::kUnitsPerToken);
/// A verifier's stake that covers the 10 tokens and the link bond of some 3 that it locks for a job, and the
/// first bond of a challenge (2), but not a doubled one.
constexpr base::Amount kPoorStake = base::units(16 * base::kUnitsPerToken);
constexpr base::Amount kFlashLock = base::units(1'000 * base::kUnitsPerToken);

CheatRow hashing(std::string_view name, std::string_view text, FalseUnits units, CatchLaw law, double work) {
    CheatRow strategy{.name = name, .text = text, .law = law, .work = work};
    strategy.behaviour.false_units = units;
    // Whoever trained has something to post, and plays to the end; others concede.
    strategy.behaviour.defends_lies = work >= 1;
    return strategy;
}

CheatRow silent(std::string_view name, std::string_view text, std::set<TxType> never, CatchLaw law) {
    CheatRow strategy{.name = name, .text = text, .law = law, .work = 1};
    strategy.behaviour.never_sends = std::move(never);
    return strategy;
}

CheatRow judging(std::string_view name, std::string_view text, Trial trial, CatchLaw law) {
    CheatRow strategy{.name = name,
                      .text = text,
                      .trial = trial,
                      .caught = Caught::kPenalty,
                      .law = law,
                      .rate_one = true,
                      .cheat = WorkRole::kVerifier};
    return strategy;
}

void add_miners(std::vector<CheatRow>& all) {
    const auto add = [&](auto... row) { all.push_back(hashing(row...)); };
    add("lazy", "commits to noise in place of every segment", FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    add("zero", "trains nothing and claims an update of zeros", FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    add("noise", "claims random numbers of the right size", FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    add("one-ulp", "trains, and moves one number of one segment by its last bit", FalseUnits::kOne,
        CatchLaw::kOneSegment, 1.0);
    add("skipped-steps", "leaves out the steps of one segment", FalseUnits::kOne, CatchLaw::kOneSegment,
        0.75);
    add("stale-base", "trains from the base of the round before", FalseUnits::kFirst, CatchLaw::kOneSegment,
        1.0);
    add("wrong-shard", "trains on another slot's data", FalseUnits::kAll, CatchLaw::kSegments, 1.0);
    add("copied", "hands in another slot's work", FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    add("replayed", "hands in its own work of the round before", FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    add("late-cheat", "trains honestly and makes up the last segment", FalseUnits::kLast,
        CatchLaw::kOneSegment, 0.75);
    add("laundered-state", "claims a state whose root fits and whose counters are of another step",
        FalseUnits::kPlace, CatchLaw::kTwoSegments, 1.0);
    add("bad-finalise", "trains honestly and hands in another update", FalseUnits::kFinalise,
        CatchLaw::kFinalise, 1.0);
    CheatRow bought =
        hashing("bought-fault",
                "trains, makes up one segment, and wins the gain bound outside where no game defeats it",
                FalseUnits::kOne, CatchLaw::kOneSegment, 1.0);
    bought.rate = kGainRate;
    bought.gain_percent = kGainPercent;
    bought.wins_gain = true;
    all.push_back(std::move(bought));
    CheatRow start = silent("withheld-start", "makes up every segment and serves no start of a drawn run",
                            {TxType::kRoundServe}, CatchLaw::kAnyUnit);
    start.behaviour.false_units = FalseUnits::kAll;
    start.work = 0;
    all.push_back(std::move(start));
    CheatRow update =
        silent("withheld-update", "works honestly and gives nobody its update", {}, CatchLaw::kNotFinalise);
    update.caught = Caught::kUnpaid;
    update.behaviour.withholds = {Traffic::kUpdate};
    all.push_back(std::move(update));
    all.push_back(silent("silent-after-draw", "says nothing more once the draw is known",
                         {TxType::kRoundServe, TxType::kRoundReveal}, CatchLaw::kAlways));
    CheatRow squatter = silent("squatter", "wins slots and never commits", {}, CatchLaw::kAlways);
    squatter.caught = Caught::kUnpaid;
    squatter.work = 0;
    squatter.rounds = 2;  // an absence costs from the second round in a row on
    squatter.behaviour.trains = false;
    all.push_back(std::move(squatter));
}

void add_names(std::vector<CheatRow>& all) {
    CheatRow swarm = hashing("sybil-swarm", "cheats under names that have no standing yet", FalseUnits::kAll,
                             CatchLaw::kEveryUnit, 0.0);
    swarm.probation = true;
    swarm.keys = 4;
    all.push_back(swarm);
    CheatRow laundered =
        hashing("laundered-standing", "earns a standing in jobs of its own, and cheats in others",
                FalseUnits::kAll, CatchLaw::kEveryUnit, 0.0);
    laundered.probation = laundered.launders = true;
    all.push_back(laundered);
    CheatRow sniping{.name = "sniping-bidder",
                     .text = "seals half of its ask and opens it only if the others' make it pay its ask",
                     .trial = Trial::kJob,
                     .caught = Caught::kPoorer,
                     .law = CatchLaw::kHalf,
                     .slots = 2,
                     .rival = true};
    sniping.behaviour.ask = base::units(30'000);
    sniping.instead = sniping.behaviour;
    sniping.behaviour.role.add(Misconduct::kSnipingBidder);
    all.push_back(sniping);
}

void add_verifiers(std::vector<CheatRow>& all) {
    CheatRow stamp =
        judging("rubber-stamp", "seals roots without computing them", Trial::kAudit, CatchLaw::kAlways);
    stamp.behaviour.verdicts = Verdicts::kMadeUp;
    stamp.caught = Caught::kLosesGame;
    all.push_back(stamp);
    CheatRow coin = judging("coin-flip", "computes every second slot and makes the others up", Trial::kAudit,
                            CatchLaw::kHalf);
    coin.behaviour.verdicts = Verdicts::kCoin;
    coin.caught = Caught::kLosesGame;
    coin.work = 0.5;
    all.push_back(coin);
    CheatRow copy = judging("copy", "seals something, looks at what others open, and does not open",
                            Trial::kAudit, CatchLaw::kAlways);
    copy.behaviour.verdicts = Verdicts::kMadeUp;
    copy.behaviour.never_sends = {TxType::kAuditOpen};
    all.push_back(copy);
    CheatRow left = judging("left-out", "computes and seals one of its slots, and leaves the others out",
                            Trial::kAudit, CatchLaw::kAllButOne);
    left.behaviour.role.add(Misconduct::kLeftOut);
    left.work = 1;
    all.push_back(left);
    CheatRow merge =
        judging("bad-merge", "claims a merge that is none of its updates", Trial::kMerge, CatchLaw::kAlways);
    merge.behaviour.merges_false = true;
    merge.caught = Caught::kLosesGame;
    merge.slots = 2;
    all.push_back(merge);
    CheatRow censor =
        judging("censored-merge", "leaves a slot out of its merge", Trial::kMerge, CatchLaw::kAlways);
    censor.caught = Caught::kUnpaid;
    censor.behaviour.role.add(Misconduct::kCensoredMerge);
    censor.instead = Conduct();
    censor.place = 0;  // the first who opens, whom the fee would go to
    censor.slots = 2;
    all.push_back(censor);
    CheatRow replay = judging(
        "false-replay", "two verifiers say of served starts that they were not, and compute once for both",
        Trial::kReplay, CatchLaw::kUnlessAlone);
    replay.caught = Caught::kPlainFee;
    replay.rate_one = false;
    replay.work = 1;
    replay.keys = 2;
    replay.place = 1;
    replay.behaviour.shares_work = true;
    replay.instead = replay.behaviour;
    replay.behaviour.role.add(Misconduct::kFalseReplay);
    all.push_back(replay);
    CheatRow link =
        judging("link-withholding", "keeps its beacon link back", Trial::kLink, CatchLaw::kAlways);
    link.behaviour.role.add(Misconduct::kLinkWithholding);
    link.work = 1;
    link.slots = 2;
    all.push_back(link);
}

void add_buyers(std::vector<CheatRow>& all) {
    CheatRow starving{.name = "starving-buyer",
                      .text = "serves its data to miners and to no verifier",
                      .trial = Trial::kJob,
                      .caught = Caught::kNoWork,
                      .law = CatchLaw::kAlways,
                      .slots = 2,
                      .cheat = WorkRole::kBuyer};
    starving.behaviour.serves_miners_alone = true;
    all.push_back(starving);
    CheatRow trap{.name = "trap-job",
                  .text = "names a gain bound far above the pay, so that bonds outgrow it",
                  .trial = Trial::kJob,
                  .caught = Caught::kNoWork,
                  .law = CatchLaw::kAlways,
                  .slots = 2,
                  .cheat = WorkRole::kBuyer,
                  .gain_percent = 1'000'000};
    all.push_back(trap);
}

/// A verifier by registration that has stake, and plays games alone.
PartySetup bystander(std::string_view name, Quarrel quarrel, std::uint32_t challenges_each) {
    return {.name = std::string(name),
            .role = WorkRole::kVerifier,
            .behaviour = {.quarrel = quarrel, .challenges_each = challenges_each, .has_role = false}};
}

/// A lazy miner with two of three verifiers. It takes one honest party that computes settled slots again,
/// drawn or not, and challenges what is false: here the third verifier does, every slot.
CheatRow captured(std::string_view name, std::string_view text) {
    CheatRow panel = hashing(name, text, FalseUnits::kAll, CatchLaw::kAlways, 0.0);
    panel.rate_one = panel.behaviour.defends_lies = true;
    panel.colluding_verifiers = 2;
    panel.challenge = 1;
    return panel;
}

void add_panels(std::vector<CheatRow>& all) {
    all.push_back(captured("colluding-panel",
                           "a lazy miner with two of three verifiers: the third computes every slot again"));
    all.push_back(captured("sybil-panel", "the same, where the two are one person under two owners"));
    for (CheatRow& row : link_rows()) all.push_back(std::move(row));
    CheatRow sparing =
        hashing("left-out-for-accomplice",
                "a lazy miner with one of three verifiers, who leaves its slots out of the seal",
                FalseUnits::kAll, CatchLaw::kSegments, 0.0);
    sparing.colluding_verifiers = 1;
    sparing.friends = {.accomplice = std::string(kCheat)};
    sparing.friends.role.add(Misconduct::kLeftOutForAccomplice);
    all.push_back(std::move(sparing));
}

/// Where a right claim is attacked: a cheat that opens games.
CheatRow attacking(std::string_view name, std::string_view text) {
    CheatRow row{.name = name,
                 .text = text,
                 .trial = Trial::kGame,
                 .caught = Caught::kLosesGame,
                 .law = CatchLaw::kAlways,
                 .rate_one = true,
                 .slots = 4,
                 .cheat = WorkRole::kVerifier,
                 .place = kPanel.size()};
    return row;
}

void add_quarrels(std::vector<CheatRow>& all) {
    CheatRow accusing =
        attacking("false-accusation", "every verifier accuses honest miners, by one false root");
    accusing.keys = kPanel.size();
    accusing.place = 0;
    accusing.behaviour.verdicts = Verdicts::kMadeUp;
    all.push_back(std::move(accusing));
    CheatRow griefing =
        attacking("griefing-challenger", "challenges right claims, points at random, is silent or concedes");
    griefing.others = {bystander(kCheat, Quarrel::kGriefs, 1)};
    all.push_back(std::move(griefing));
    CheatRow delaying = attacking("dispute-delay", "challenges each right claim four times at once");
    delaying.rounds = 3;
    delaying.slots = 2;
    delaying.others = {bystander(kCheat, Quarrel::kGriefs, 4)};
    all.push_back(std::move(delaying));
    CheatRow thrown =
        captured("thrown-dispute", "a captured panel's miner is challenged first by a friend, who concedes");
    thrown.others = {bystander("friend-thrower", Quarrel::kThrows, 1)};
    all.push_back(std::move(thrown));
    CheatRow conceding{.name = "thrown-claim",
                       .text = "concedes right claims to a friend, who calls the verifiers that agreed",
                       .trial = Trial::kCall,
                       .caught = Caught::kLosesGame,
                       .law = CatchLaw::kAlways,
                       .rate_one = true,
                       .work = 1,
                       .slots = 4,
                       .others = {bystander("friend-thrower", Quarrel::kThrows, 1)}};
    conceding.behaviour.quarrel = Quarrel::kConcedes;
    conceding.behaviour.never_sends = {TxType::kDisputePost, TxType::kDisputeProve, TxType::kDisputeConcede};
    all.push_back(std::move(conceding));
    CheatRow crafting = hashing("crafted-witness", "posts hashes of nothing, and a long witness of nothing",
                                FalseUnits::kOne, CatchLaw::kAlways, 1.0);
    crafting.challenge = 1;
    crafting.slots = 8;
    crafting.behaviour.defends_lies = crafting.behaviour.crafts_witness = true;
    all.push_back(std::move(crafting));
    CheatRow exhausting = captured(
        "stake-exhaustion", "a captured panel's miner whose friend raises the bond above an honest stake");
    exhausting.slots = 2;
    exhausting.panel_stake = kPoorStake;
    exhausting.others = {
        bystander("friend-staller", Quarrel::kStalls, 3),
        {.name = "wanda", .role = WorkRole::kVerifier, .behaviour = {.challenge = 1, .enlists = false}}};
    all.push_back(std::move(exhausting));
    CheatRow dropping = captured(
        "dropped-move", "a captured panel's miner, and blocks leave out every other move against it");
    dropping.drops_moves_of = kPanel.back();
    all.push_back(std::move(dropping));
}

void add_flash(std::vector<CheatRow>& all) {
    CheatRow flash = hashing("flash-stake",
                             "a lazy miner with two of five verifiers, who deposit stake for each draw alone",
                             FalseUnits::kAll, CatchLaw::kUnlessCaptured, 0.0);
    flash.rate_one = true;
    flash.flash_stake = true;
    all.push_back(std::move(flash));
}

/// A panel has one, two or three verifiers, each number as likely.
constexpr double kPanelSizes = 3;

/// How likely all of a slot's verifiers are of the two friends of kFlashLock, and not of the three others.
double captured_by_flash() {
    const auto honest = static_cast<double>(kHonestLock.units());
    const auto friends = static_cast<double>(kFlashLock.units());
    const double all = 3 * honest + 2 * friends;
    const double one = 2 * friends / all;
    return (one + one * friends / (all - friends)) / kPanelSizes;
}

/// How likely the one friend of three equal verifiers is the whole panel.
constexpr double kFriendAlone = 1.0 / 3 / kPanelSizes;

/// For two liars among three equal verifiers: the share of their audits in slots for which nobody else was
/// drawn. A lone liar gets one more verifier drawn, which is the other liar every second time; a pair gets
/// the third verifier drawn. `emptied`: the share of these slots whose whole pay the first liar takes.
double share_of_lone_liars(double emptied) {
    const double lone = 2.0 / 3;
    const double alone = lone / 2 * 2;
    const double audits_of_one = alone + lone / 2;
    const double audits_of_two = 1.0 / 3 * 2 + 2.0 / 3;
    const double audits_of_three = 2;
    return alone * (1 - emptied / 2) / (audits_of_one + audits_of_two + audits_of_three);
}

/// The share of the slots with a run that does not begin at the base of which only `finalise` is drawn, so
/// that a replay is of all segments, which are the whole work of a slot.
double share_of_finalise_alone(double q, double finalise) {
    double from_base = 0;  // the first `drawn` segments and no other unit, or everything
    for (std::uint32_t drawn = 0; drawn <= kSegments; ++drawn) {
        const double rest = std::pow(1 - q, kSegments - drawn) * (1 - finalise);
        from_base += std::pow(q, drawn) * rest;
    }
    from_base += std::pow(q, kSegments) * finalise;
    return std::pow(1 - q, kSegments) * finalise / (1 - from_base);
}

/// For one of three equal verifiers: the share of its audits, in jobs of so many slots, that are its first in
/// a job.
double share_of_one_audit(std::uint32_t slots) {
    const double drawn = (1 + 2 + 3) / kPanelSizes / 3;
    return (1 - std::pow(1 - drawn, slots)) / (drawn * slots);
}

std::uint64_t segment_rate(const CheatRow& strategy) {
    return strategy.rate == 0 ? kSegmentRate : strategy.rate;
}
std::uint64_t finalise_rate(const CheatRow& strategy) {
    return strategy.rate == 0 ? kFinaliseRate : strategy.rate;
}

double share_of(std::uint64_t threshold) { return std::ldexp(static_cast<double>(threshold), -64); }

std::string name_of(std::size_t key) {
    return std::string(kCheat) + (key == 0 ? std::string() : "-" + std::to_string(key + 1));
}

void add_miners_of(const CheatRow& strategy, WorldSetup& setup) {
    if (strategy.cheat == WorkRole::kMiner) {
        for (std::size_t key = 0; key < strategy.keys; ++key)
            setup.parties.push_back({name_of(key), WorkRole::kMiner, strategy.behaviour});
    } else {
        setup.parties.push_back({"moe", WorkRole::kMiner, {}});
    }
    if (strategy.rival) setup.parties.push_back({"max", WorkRole::kMiner, {.bids_in_half = true}});
}

void add_panel_of(const CheatRow& strategy, bool third, WorldSetup& setup) {
    const bool cheats = strategy.cheat == WorkRole::kVerifier;
    int colluding = strategy.colluding_verifiers;
    if (third && colluding == 0 && !cheats) colluding = 1;
    // Where one of them has friends each locks the least, so that a third of the stake is a third.
    const bool least = colluding > 0;
    const Conduct honest{.lock = strategy.flash_stake ? kHonestLock : base::Amount(),
                         .locks_least = least,
                         .challenge = strategy.challenge,
                         .stake = strategy.panel_stake};
    for (std::size_t place = 0; place < kPanel.size(); ++place) {
        const std::string name = kPanel.at(place);
        if (cheats && place >= strategy.place && place < strategy.place + strategy.keys) {
            setup.parties.push_back(
                {name_of(place - strategy.place), WorkRole::kVerifier, strategy.behaviour});
        } else if (colluding > 0) {
            --colluding;
            setup.parties.push_back({"friend-" + name, WorkRole::kVerifier, strategy.friends});
            setup.parties.back().behaviour.locks_least = true;
        } else {
            setup.parties.push_back({name, WorkRole::kVerifier, honest});
        }
    }
    for (const char* name : {"friend-fay", "friend-fred"}) {
        if (!strategy.flash_stake) break;
        setup.parties.push_back({name,
                                 WorkRole::kVerifier,
                                 {.verdicts = Verdicts::kColludes, .lock = kFlashLock, .flash_stake = true}});
    }
}

}  // namespace

const std::vector<CheatRow>& strategies() {
    static const std::vector<CheatRow> all = [] {
        std::vector<CheatRow> made;
        made.push_back({.name = "honest",
                        .text = "everybody does what its role says",
                        .law = CatchLaw::kNever,
                        .work = 1});
        add_miners(made);
        add_names(made);
        add_verifiers(made);
        add_flash(made);
        add_buyers(made);
        add_panels(made);
        add_quarrels(made);
        return made;
    }();
    return all;
}

const CheatRow* find_strategy(std::string_view name) {
    const auto& all = strategies();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CheatRow& s) { return s.name == name; });
    return found == all.end() ? nullptr : &*found;
}

double predicted_rate(const CheatRow& strategy, bool third) {
    const double q = strategy.rate_one ? 1.0 : share_of(segment_rate(strategy));
    const double finalise = strategy.rate_one ? 1.0 : share_of(finalise_rate(strategy));
    // Whoever computes every settled slot again needs no seat.
    const double seen = 1 - (third && strategy.challenge < 1 ? kFriendAlone : strategy.captured);
    switch (strategy.law) {
        case CatchLaw::kNever: return 0;
        case CatchLaw::kAlways: return 1;
        case CatchLaw::kEveryUnit: return seen;
        case CatchLaw::kSegments: return seen * (1 - std::pow(1 - q, kSegments));
        case CatchLaw::kAnyUnit: return seen * (1 - std::pow(1 - q, kSegments) * (1 - finalise));
        case CatchLaw::kOneSegment: return seen * q;
        case CatchLaw::kTwoSegments: return seen * (1 - std::pow(1 - q, 2));
        case CatchLaw::kFinalise: return seen * finalise;
        case CatchLaw::kNotFinalise: return 1 - finalise;
        case CatchLaw::kHalf: return 0.5;
        case CatchLaw::kAllButOne: return 1 - share_of_one_audit(strategy.slots);
        case CatchLaw::kUnlessCaptured: return 1 - captured_by_flash();
        case CatchLaw::kUnlessAlone: return 1 - share_of_lone_liars(share_of_finalise_alone(q, finalise));
    }
    return 0;
}

WorldSetup setup_of(const CheatRow& strategy, std::uint64_t seed, bool third) {
    WorldSetup setup{.seed = seed,
                     .parties = {},
                     .slots = strategy.slots,
                     .rounds = strategy.rounds,
                     .gain_percent = strategy.gain_percent,
                     .probation = strategy.probation,
                     .launders = strategy.launders};
    setup.drops_moves_of = strategy.drops_moves_of;
    if (!strategy.rate_one) {
        setup.segment_rate = segment_rate(strategy);
        setup.finalise_rate = finalise_rate(strategy);
    }
    if (!strategy.alone) setup.parties.push_back({"mia", WorkRole::kMiner, {}});
    add_miners_of(strategy, setup);
    add_panel_of(strategy, third, setup);
    const bool buys = strategy.cheat == WorkRole::kBuyer;
    setup.parties.insert(setup.parties.end(), strategy.others.begin(), strategy.others.end());
    setup.parties.push_back(
        {buys ? name_of(0) : "bea", WorkRole::kBuyer, buys ? strategy.behaviour : Conduct()});
    if (strategy.launders) setup.parties.push_back({"shop", WorkRole::kBuyer, {}, name_of(0)});
    return setup;
}

bool is_cheat(const Player& party) { return party.name.starts_with(kCheat); }

bool is_honest(const Player& party) {
    return !is_cheat(party) && party.behaviour.verdicts != Verdicts::kColludes &&
           party.behaviour.quarrel == Quarrel::kNone && party.behaviour.accomplice.empty();
}

}  // namespace assay::node::sim
