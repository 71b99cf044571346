// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/trade_flags.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "contracts/program/names.hpp"
#include "node/cli/commands/role_memory.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/machine_memory.hpp"
#include "node/worker/device_list.hpp"
#include "node/worker/machine_bench.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::node {

namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostNetwork = (std::uint64_t{1} << contracts::kMaxNetworkBits) - 1;

/// GiB that a step may take on each device, rounded down.
base::Outcome<std::uint64_t> memory_for_work(const RoleFlags& role) {
    ASSAY_ASSIGN(const std::vector<std::string> devices, device_list(role.device, {}));
    ASSAY_ASSIGN(std::uint64_t bytes, role_memory(role.memory, devices.size()));
    if (bytes == 0) bytes = memory_of_machine();
    if (std::any_of(devices.begin(), devices.end(), is_card)) {
        ASSAY_ASSIGN(const std::uint64_t given, role.device_memory.empty()
                                                    ? trainer::device_memory_from_environment()
                                                    : trainer::parse_memory_limit(role.device_memory));
        ASSAY_ASSIGN(const CardReport report, list_cards({}));
        bytes = least_step_memory(bytes, given, devices, report.cards);
    }
    return std::min(bytes / kGibibyte, (std::uint64_t{1} << contracts::kMaxMemoryBits) - 1);
}

}  // namespace

std::uint64_t least_step_memory(std::uint64_t host, std::uint64_t card,
                                const std::vector<std::string>& devices,
                                const std::vector<ListedCard>& cards) {
    constexpr std::uint64_t kLeftFree = 16;  // a sixteenth of the card, as the worker leaves it
    std::uint64_t least = host;
    for (const ListedCard& one : cards) {
        if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) continue;
        const std::uint64_t most = one.memory - one.memory / kLeftFree;
        least = std::min(least, card == 0 ? most : std::min(card, most));
    }
    return least;
}

void add_trade_flags(CLI::App& verb, TradeFlags& flags) {
    verb.add_flag(
        "--trade", flags.trade,
        "Offer the machine in the market between jobs, at --ask or more, instead of asking in jobs' "
        "own auctions");
    verb.add_option("--network", flags.network,
                    "With --trade: Mbit/s of the machine's connection, for jobs that ask for so many "
                    "(default: 0, nothing is promised)")
        ->check(CLI::Range(std::uint64_t{0}, kMostNetwork));
    verb.add_option("--lot-epochs", flags.epochs, "With --trade: epochs of the market that an ask stands for")
        ->check(CLI::Range(1U, kMostLotEpochs))
        ->capture_default_str();
    verb.add_option("--speed-bits", flags.speed_bits,
                    "With --trade: speed class until the ledger has measured one (bits of thousandths of a "
                    "work unit a block). A class that is missed by two bits costs the deposit (default: an "
                    "eighth of the pace of slots that this home trained, else of a short bench)")
        ->check(CLI::Range(0U, std::uint32_t{contracts::kMaxSpeedBits}));
    verb.add_option("--lot-profile", flags.profile, "With --trade: profile of the jobs that it works for")
        ->check(CLI::IsMember({"f32", "i16"}))
        ->capture_default_str();
}

base::Outcome<void> add_expected_speed(LotTerms& terms, const RoleProcess& process,
                                       const WorkerOptions& worker, const Home& home) {
    constexpr std::uint64_t kSecondNs = 1'000'000'000;
    const std::uint64_t block_ms = process.genesis().block_interval_ms;
    if (terms.speed || block_ms == 0) return {};
    ASSAY_ASSIGN(const auto notes, make_disk_port(home.jobs()));
    ASSAY_ASSIGN(MinerPace pace, read_pace(*notes));
    if (expected_speed(pace, terms.profile, block_ms)) return {};  // of slots, which say more
    ASSAY_ASSIGN(const double units, bench_machine(worker, terms.profile, home.jobs()));
    const auto thousandths = static_cast<std::uint64_t>(units * 1'000);
    pace.classes = {{.profile = terms.profile, .units = thousandths, .ns = 1'000 * kSecondNs}};
    terms.speed = expected_speed(pace, terms.profile, block_ms);
    return {};
}

base::Outcome<std::optional<LotTerms>> lot_terms(const TradeFlags& flags, const RoleFlags& role) {
    const TradeFlags none;
    if (!flags.trade) {
        const bool any = flags.network != none.network || flags.epochs != none.epochs || flags.speed_bits ||
                         flags.profile != none.profile;
        if (any)
            return base::fail(base::ErrorKind::kUsage,
                              "--network, --lot-epochs, --speed-bits and --lot-profile say something of a "
                              "machine that is on offer",
                              "give --trade with them, or leave them out");
        return std::optional<LotTerms>();
    }
    ASSAY_ASSIGN(const std::uint64_t memory, memory_for_work(role));
    LotTerms terms;
    terms.profile = *program::parse_profile(flags.profile);
    terms.epochs = flags.epochs;
    if (flags.speed_bits) terms.speed = static_cast<std::uint8_t>(*flags.speed_bits);
    terms.memory = class_bits(memory);
    terms.network = class_bits(flags.network);
    return std::optional(terms);
}

}  // namespace assay::node
