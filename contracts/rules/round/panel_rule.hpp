// SPDX-License-Identifier: Apache-2.0
// Gives rules, roles and audits how many verifiers are drawn for a slot, how they take turns, and when a
// replay is paid. A panel of one to three is drawn; one more to confirm that open starts are not served,
// before anybody opens a root; and one more where nobody opened any. A root that differs from the claim
// accuses it, and a game decides (protocol.md §5, §6).
#pragma once

#include <cstddef>
#include <string_view>

#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/records.hpp"

namespace assay::contracts {

/// How many verifiers the beacon of the round draws for a slot at first, if there are as many owners. After a
/// missing link the panel is the largest: whoever withholds a link to have panels drawn again wins only where
/// all of the largest one are its friends (link_bond).
inline std::size_t panel_drawn(const Round& round, std::uint32_t slot) {
    if (round.link_missing) return panel_most();
    return 1 + static_cast<std::size_t>(draw_below(round.beacon, "panel", slot, 0, panel_most()));
}

/// What the verifier drawn at `place` of a slot was drawn for; places count from 0, `panel` of them were
/// drawn at first, then `confirmers`.
constexpr Stage stage_of(std::size_t place, std::size_t panel, std::size_t confirmers) {
    if (place < panel) return Stage::kPanel;
    return place < panel + confirmers ? Stage::kConfirm : Stage::kRedraw;
}
inline Stage stage_of(std::size_t place, const SlotRound& slot) {
    return stage_of(place, slot.panel, slot.confirmers);
}

/// The label under which the beacon draws the verifiers of a stage.
constexpr std::string_view draw_label(Stage stage) {
    if (stage == Stage::kPanel) return "verifiers";
    return stage == Stage::kConfirm ? "confirm" : "redraw";
}

/// The phases in which the verifiers of a stage seal and open. Panel and confirmer open together: whoever
/// confirms has sealed by then, so that nobody's roots are there to be copied.
constexpr RoundPhase sealing_phase(Stage stage) {
    if (stage == Stage::kPanel) return RoundPhase::kAuditSeal;
    return stage == Stage::kConfirm ? RoundPhase::kConfirmSeal : RoundPhase::kRedrawSeal;
}
constexpr RoundPhase opening_phase(Stage stage) {
    return stage == Stage::kRedraw ? RoundPhase::kRedrawOpen : RoundPhase::kAuditOpen;
}

/// Whether one more is drawn to confirm, once the panel's time to seal is over: the miner opened its starts,
/// and all who sealed said that they had to replay. A whole panel of the largest size confirms itself.
constexpr bool needs_confirmation(bool starts_opened, std::size_t drawn, std::size_t sealed,
                                  std::size_t replayed) {
    return starts_opened && drawn < panel_most() && sealed > 0 && replayed == sealed;
}

/// Whether so many equal roots of a unit are paid where the miner never opened its trace: nothing is there to
/// weigh one word against, and a made-up one must not be paid.
constexpr bool confirm_each_other(std::size_t equal) { return equal >= 2; }

/// Whether the slot pays what replays cost: all who opened had to replay. Where the miner opened its starts
/// its files may have been served all the same, so that everybody who was drawn must say so: who confirms
/// too, unless nobody was left to be drawn.
constexpr bool replays_are_paid(bool starts_opened, std::size_t drawn, std::size_t openers,
                                std::size_t replayed) {
    return replayed > 0 && replayed == openers && (!starts_opened || openers == drawn);
}

}  // namespace assay::contracts
