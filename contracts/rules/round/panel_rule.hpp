// SPDX-License-Identifier: Apache-2.0
// Gives rules, roles and audits how many verifiers are drawn for a slot, how they take turns, and when a
// replay is paid. A panel of one to three is drawn, and one more where nobody of it spoke of a unit; a root
// that differs from the claim accuses it, and a game decides (protocol.md §5, §6).
#pragma once

#include <cstddef>
#include <string_view>

#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/round/seals.hpp"

namespace assay::contracts {

/// How many verifiers the beacon of the round draws for a slot at first, if there are as many owners. After a
/// missing link the panel is the largest: whoever withholds a link to have panels drawn again wins only where
/// all of the largest one are its friends (link_bond).
inline std::size_t panel_drawn(const Round& round, std::uint32_t slot) {
    if (round.link_missing) return panel_most();
    return 1 + static_cast<std::size_t>(draw_below(round.beacon, "panel", slot, 0, panel_most()));
}

/// The stage in which the verifier drawn at `place` of a slot seals and opens; places count from 0, `panel`
/// of them were drawn at first.
constexpr Stage stage_of(std::size_t place, std::size_t panel) {
    return place < panel ? Stage::kPanel : Stage::kRedraw;
}

/// The label under which the beacon draws the verifiers of a stage.
constexpr std::string_view draw_label(Stage stage) { return stage == Stage::kPanel ? "verifiers" : "redraw"; }

/// Whether so many equal roots of a unit are paid where the miner never opened its trace: nothing is there to
/// weigh one word against, and a made-up one must not be paid.
constexpr bool confirm_each_other(std::size_t equal) { return equal >= 2; }

/// Whether the slot pays what replays cost: all who opened had to replay. Where the miner opened its starts
/// its files may have been served all the same, so that everybody who was drawn must say so: one more too,
/// unless nobody was left to be drawn.
constexpr bool replays_are_paid(bool starts_opened, std::size_t drawn, std::size_t openers,
                                std::size_t replayed) {
    return replayed > 0 && replayed == openers && (!starts_opened || openers == drawn);
}

}  // namespace assay::contracts
