// SPDX-License-Identifier: Apache-2.0
// Gives rules, roles and audits how a slot's verifiers take turns, and how they settle a unit and a fee: a
// pair, and a third where those two leave something open. With job/panel.hpp this is the rule that disputes
// replace.
#pragma once

#include <cstddef>
#include <string_view>

#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/seals.hpp"

namespace assay::contracts {

/// The stage in which the verifier drawn at `place` of a slot seals and opens; places count from 0.
constexpr Stage stage_of(std::size_t place) { return place < panel_size() ? Stage::kPair : Stage::kThird; }

/// The label under which the beacon draws the verifiers of a stage.
constexpr std::string_view draw_label(Stage stage) { return stage == Stage::kPair ? "pair" : "third"; }

/// Whether so many equal roots of a unit decide it. Of at most panel_most() roots only one can be that often.
constexpr bool decides(std::size_t equal) { return equal >= 2; }

/// Whether the slot pays what replays cost: all who opened had to replay. Where the miner opened its starts
/// its files may have been served all the same, so that everybody who was drawn must say so: the third too,
/// unless nobody was left to be drawn.
constexpr bool replays_are_paid(bool starts_opened, std::size_t drawn, std::size_t openers,
                                std::size_t replayed) {
    return replayed > 0 && replayed == openers && (!starts_opened || openers == drawn);
}

}  // namespace assay::contracts
