// SPDX-License-Identifier: Apache-2.0
// Gives `assay miner run` what its owner says of a machine that is on offer in the market between jobs.
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

/// Bytes of the machine's memory; 0 where nobody says.
std::uint64_t memory_of_machine();

/// The bytes that a step has on each of these devices: the host's, and of a card that is among them no more
/// than `card` (0: as much as it has), nor than it has less a sixteenth.
std::uint64_t least_step_memory(std::uint64_t host, std::uint64_t card,
                                const std::vector<std::string>& devices,
                                const std::vector<ListedCard>& cards);

/// Adds --trade, --network, --lot-epochs, --speed-bits and --lot-profile; `flags` must live as long as the
/// app.
void add_trade_flags(CLI::App& verb, TradeFlags& flags);

/// The terms of its lot, but for the ask, which is the miner's. Memory is what a step may take: --memory
/// or ASSAY_MEMORY, else all that the machine has; where cards compute, what the least of them has for it.
/// Nothing without --trade. kUsage when another of the flags is given without it, or memory is no amount.
base::Outcome<std::optional<LotTerms>> lot_terms(const TradeFlags& flags, const RoleFlags& role);

/// Fills in the speed that this machine is expected to show, where nothing says it: the pace of slots that
/// the home noted is left to the role, and a machine without one is benched for a second or two. `worker`: as
/// the miner's own. Errors: those of bench_machine; kFailure where the note of the pace is damaged.
base::Outcome<void> add_expected_speed(LotTerms& terms, const RoleProcess& process,
                                       const WorkerOptions& worker, const Home& home);

}  // namespace assay::node
