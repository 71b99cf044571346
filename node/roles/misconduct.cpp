// SPDX-License-Identifier: Apache-2.0
#include "node/roles/misconduct.hpp"

#include <algorithm>
#include <array>

namespace assay::node {

namespace {

constexpr std::array kRows{
    MisconductRow{Misconduct::kWithheldStart, "withheld-start", WorkRole::kMiner,
                  "serve no start of a drawn run"},
    MisconductRow{Misconduct::kWithheldUpdate, "withheld-update", WorkRole::kMiner, "give nobody the update"},
    MisconductRow{Misconduct::kSilentAfterDraw, "silent-after-draw", WorkRole::kMiner,
                  "say nothing more once sealed"},
    MisconductRow{Misconduct::kSquatter, "squatter", WorkRole::kMiner, "hold slots and never commit"},
    MisconductRow{Misconduct::kSnipingBidder, "sniping-bidder", WorkRole::kMiner,
                  "seal half of --ask, and open it only if those of the others make it pay --ask"},
    MisconductRow{Misconduct::kThrownClaim, "thrown-claim", WorkRole::kMiner,
                  "concede every dispute, right or wrong"},
    MisconductRow{Misconduct::kCraftedWitness, "crafted-witness", WorkRole::kMiner,
                  "post in disputes what nobody computed, and open a long witness of nothing"},
    MisconductRow{Misconduct::kRubberStamp, "rubber-stamp", WorkRole::kVerifier,
                  "seal roots without computing them"},
    MisconductRow{Misconduct::kCoinFlip, "coin-flip", WorkRole::kVerifier, "make up every second slot"},
    MisconductRow{Misconduct::kCopy, "copy", WorkRole::kVerifier,
                  "compute nothing, say what others have posted"},
    MisconductRow{Misconduct::kLeftOut, "left-out", WorkRole::kVerifier,
                  "seal one of the drawn slots, and leave the others out"},
    MisconductRow{Misconduct::kLeftOutForAccomplice, "left-out-for-accomplice", WorkRole::kVerifier,
                  "leave the slots of the miner of --accomplice out of the seal"},
    MisconductRow{Misconduct::kBadMerge, "bad-merge", WorkRole::kVerifier,
                  "claim a merge that is none of its updates"},
    MisconductRow{Misconduct::kCensoredMerge, "censored-merge", WorkRole::kVerifier,
                  "leave the last update out of the merge"},
    MisconductRow{Misconduct::kColludingPanel, "colluding-panel", WorkRole::kVerifier,
                  "say what the miner of the home --accomplice claims"},
    MisconductRow{Misconduct::kLinkWithholding, "link-withholding", WorkRole::kVerifier,
                  "open no beacon link"},
    MisconductRow{Misconduct::kFalseReplay, "false-replay", WorkRole::kVerifier,
                  "replay slots whose starts are served, and say that they are not"},
    MisconductRow{Misconduct::kGriefingChallenger, "griefing-challenger", WorkRole::kVerifier,
                  "challenge every slot but those of the miner of --accomplice, and point at random"},
    MisconductRow{Misconduct::kDisputeDelay, "dispute-delay", WorkRole::kVerifier,
                  "challenge each slot of one miner, not that of --accomplice, four times at once"},
    MisconductRow{Misconduct::kThrownDispute, "thrown-dispute", WorkRole::kVerifier,
                  "challenge the miner of --accomplice first, concede, and call who vouched for it"},
    MisconductRow{Misconduct::kStakeExhaustion, "stake-exhaustion", WorkRole::kVerifier,
                  "challenge the miner of --accomplice three times, and be silent: bonds double"},
    MisconductRow{Misconduct::kStarvingBuyer, "starving-buyer", WorkRole::kBuyer,
                  "give nobody the data: miners that it likes have it already"},
};

}  // namespace

std::span<const MisconductRow> misconduct_rows() { return kRows; }

std::string_view to_text(Misconduct conduct) { return kRows[static_cast<std::size_t>(conduct)].name; }

std::optional<Misconduct> find_misconduct(WorkRole role, std::string_view name) {
    const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const MisconductRow& row) {
        return row.role == role && row.name == name;
    });
    if (found == kRows.end()) return std::nullopt;
    return found->conduct;
}

std::vector<std::string> misconduct_names(WorkRole role) {
    std::vector<std::string> names;
    for (const MisconductRow& row : kRows) {
        if (row.role == role) names.emplace_back(row.name);
    }
    return names;
}

std::string misconduct_help(WorkRole role) {
    std::string help;
    for (const MisconductRow& row : kRows) {
        if (row.role != role) continue;
        if (!help.empty()) help += "; ";
        help += std::string(row.name) + ": " + std::string(row.text);
    }
    return help;
}

bool needs_accomplice(Misconduct conduct) {
    switch (conduct) {
        case Misconduct::kLeftOutForAccomplice:
        case Misconduct::kColludingPanel:
        case Misconduct::kGriefingChallenger:
        case Misconduct::kDisputeDelay:
        case Misconduct::kThrownDispute:
        case Misconduct::kStakeExhaustion: return true;
        default: return false;
    }
}

base::Outcome<void> check_may_drill(std::string_view chain_id) {
    if (chain_id.starts_with("devnet")) return {};
    return base::fail(base::ErrorKind::kUsage, "--drill plants faults and works on a devnet only",
                      "this home belongs to " + std::string(chain_id));
}

}  // namespace assay::node
