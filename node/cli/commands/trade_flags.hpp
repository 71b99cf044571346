// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run` the owner's flags for a machine that is on offer in the market between jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/cli/commands/role_flags.hpp"
#include "node/roles/lot_trader.hpp"
#include "node/worker/worker_report.hpp"

namespace assay::node {

struct TradeFlags {
    bool trade = false;
    std::uint64_t network = 0;  ///< Mbit/s
    std::uint32_t epochs = LotTerms().epochs;
    std::optional<std::uint32_t> speed_bits = std::nullopt;
    std::string profile = "f32";
};

/// The fewest bytes that a step has on these devices: `host` at most and, for each card among them, `card` at
/// most (0: no such limit) and the card's memory less a sixteenth at most.
std::uint64_t least_step_memory(std::uint64_t host, std::uint64_t card,
                                const std::vector<std::string>& devices,
                                const std::vector<ListedCard>& cards);

/// Adds --trade, --network, --lot-epochs, --speed-bits and --lot-profile; `flags` must live as long as the
/// app.
void add_trade_flags(CLI::App& verb, TradeFlags& flags);

/// The terms of its lot, except for the ask, which is the miner's. Memory is what a step may take on each
/// device: role_memory(), or all that the machine has where that is no limit; if cards compute, what the
/// smallest of them has for a step. Nothing without --trade. kUsage when one of the other flags is given
/// without --trade, or memory is no amount.
base::Outcome<std::optional<LotTerms>> lot_terms(const TradeFlags& flags, const RoleFlags& role);

/// Fills in the expected speed of this machine if no flag gives it. If the home has noted a pace of slots,
/// the role uses that; otherwise the machine is benched for a second or two. `worker`: options of the miner's
/// own worker. Errors: those of bench_machine; kFailure when the note of the pace is damaged.
base::Outcome<void> add_expected_speed(LotTerms& terms, const RoleProcess& process,
                                       const WorkerOptions& worker, const Home& home);

}  // namespace assay::node
