// SPDX-License-Identifier: Apache-2.0
// How many verifiers are drawn for a slot, in which phases they work, and when a replay is paid, for rules,
// roles and audits. A panel of one to three is drawn. One more verifier may be drawn, before anybody opens a
// root, to confirm that opened starts are not served; and one more if nobody opened any root. A root that
// differs from the claim accuses it, and a game decides (docs/concepts/round.md).
#pragma once

#include <cstddef>
#include <string_view>

#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/records.hpp"

namespace assay::contracts {

/// How many verifiers the beacon of the round first draws for a slot, if there are as many owners. After a
/// missing link the panel is the largest. So a member that withholds a link to have panels drawn again gains
/// only if the whole largest panel colludes with it (link_bond).
inline std::size_t panel_drawn(const Round& round, std::uint32_t slot) {
    if (round.link_missing) return panel_most();
    return 1 + static_cast<std::size_t>(draw_below(round.beacon, "panel", slot, 0, panel_most()));
}

/// The stage of the verifier drawn at `place` of a slot. Places count from 0; first `panel` verifiers were
/// drawn, then `confirmers`.
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

/// The phases in which the verifiers of a stage seal and open. Panel and confirmer open together: the
/// confirmer has sealed by then, so that it has no roots to copy.
constexpr RoundPhase sealing_phase(Stage stage) {
    if (stage == Stage::kPanel) return RoundPhase::kAuditSeal;
    return stage == Stage::kConfirm ? RoundPhase::kConfirmSeal : RoundPhase::kRedrawSeal;
}
constexpr RoundPhase opening_phase(Stage stage) {
    return stage == Stage::kRedraw ? RoundPhase::kRedrawOpen : RoundPhase::kAuditOpen;
}

/// Whether one more verifier is drawn to confirm once the panel's time to seal is over: the miner opened its
/// starts, and all verifiers that sealed stated that they had to replay. A complete panel of the largest size
/// confirms itself.
constexpr bool needs_confirmation(bool starts_opened, std::size_t drawn, std::size_t sealed,
                                  std::size_t replayed) {
    return starts_opened && drawn < panel_most() && sealed > 0 && replayed == sealed;
}

/// Whether so many equal roots of a unit are paid when the miner never opened its trace. A single root then
/// has nothing to be compared with, and an invented one must not be paid.
constexpr bool confirm_each_other(std::size_t equal) { return equal >= 2; }

/// Whether the slot pays the cost of replays: all verifiers that opened had to replay. If the miner opened
/// its starts, its files may have been served after all, so every drawn verifier must report a replay; the
/// confirmer too, unless nobody was left to be drawn.
constexpr bool replays_are_paid(bool starts_opened, std::size_t drawn, std::size_t openers,
                                std::size_t replayed) {
    return replayed > 0 && replayed == openers && (!starts_opened || openers == drawn);
}

}  // namespace assay::contracts
