// SPDX-License-Identifier: Apache-2.0
#include "node/sim/link_rows.hpp"

#include <string>
#include <utility>

namespace assay::node::sim {

namespace {

/// Of nine verifiers of equal stake, three of whom are friends.
constexpr double kFirstDraw = (3.0 / 9 + 3.0 / 9 * 2 / 8 + 3.0 / 9 * 2 / 8 * 1 / 7) / 3;
constexpr double kLargestPanel = 3.0 / 9 * 2 / 8 * 1 / 7;

PartySetup verifier(std::string_view name, Conduct behaviour) {
    return {.name = std::string(name), .role = WorkRole::kVerifier, .behaviour = std::move(behaviour)};
}

/// A fourth verifier that opens no link.
CheatRow withholding() {
    CheatRow row{.name = "link-for-accomplice",
                 .text = "a lazy miner with one of three verifiers; a fourth keeps its link back",
                 .law = CatchLaw::kAlways,
                 .colluding_verifiers = 1};
    row.behaviour.false_units = FalseUnits::kAll;
    Conduct spare{.verdicts = Verdicts::kColludes, .locks_least = true};
    spare.role.add(Misconduct::kLinkWithholding);
    row.others.push_back(verifier("friend-spare", std::move(spare)));
    return row;
}

/// A third of nine verifiers are the miner's friends: after a missing link, the draw can still take three of
/// them. A tenth locks the least, so that the draw hardly misses it, and opens its link last. One slot, at
/// the job's cap, is all that its link bond has to outweigh.
CheatRow looking(std::string_view name, std::string_view text, LastLook looks) {
    CheatRow row{.name = name, .text = text, .slots = 1, .alone = true, .captured = kFirstDraw};
    for (const char* honest : {"vada", "vega", "vida"}) row.others.push_back(verifier(honest, {}));
    for (const char* one : {"friend-fay", "friend-fred", "friend-flo"})
        row.others.push_back(verifier(one, {.verdicts = Verdicts::kColludes}));
    Conduct last{.verdicts = Verdicts::kColludes, .locks_least = true, .last_look = looks};
    last.role.add(Misconduct::kLinkWithholding);
    row.others.push_back(verifier("friend-last", std::move(last)));
    return row;
}

CheatRow looking_for_gain(std::string_view name, std::string_view text, LastLook looks) {
    CheatRow row = looking(name, text, looks);
    row.law = CatchLaw::kOneSegment;
    row.behaviour.false_units = FalseUnits::kOne;
    row.behaviour.defends_lies = true;
    row.work = 1;
    row.rate = kGainRate;
    row.gain_percent = kGainPercent;
    row.wins_gain = row.others.back().behaviour.counts_gain = true;
    return row;
}

}  // namespace

std::vector<CheatRow> link_rows() {
    std::vector<CheatRow> rows{withholding()};
    rows.push_back(looking("last-look",
                           "a lazy miner with three of nine verifiers; a tenth opens its link last, and "
                           "keeps it back where another draw is worth more than its bond",
                           LastLook::kCountsBond));
    rows.back().behaviour.false_units = FalseUnits::kAll;
    rows.push_back(looking_for_gain("last-look-bought",
                                    "the same with one false segment, which wins the gain bound outside",
                                    LastLook::kCountsBond));
    rows.push_back(looking_for_gain("last-look-at-any-price",
                                    "the same, and keeps its link back wherever its accomplice is met",
                                    LastLook::kAtAnyPrice));
    rows.back().captured = 1 - (1 - kFirstDraw) * (1 - kLargestPanel);
    return rows;
}

}  // namespace assay::node::sim
