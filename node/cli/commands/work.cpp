// SPDX-License-Identifier: Apache-2.0
// assay miner run, assay verifier run
#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/commands.hpp"
#include "node/cli/commands/device_miners.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/commands/role_memory.hpp"
#include "node/cli/commands/trade_flags.hpp"
#include "node/cli/owner_step.hpp"
#include "node/key/key_file.hpp"
#include "node/roles/drill_spec.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/verifier.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/views/json.hpp"
#include "node/worker/device_list.hpp"
#include "node/worker/self_check.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

// Registers and stakes where that is still to do, by a process of its own, wipes the passphrase, and opens
// the blob port.
base::Outcome<void> register_and_serve(const Context& context, const RoleFlags& flags,
                                       const std::string& role, base::Amount stake, RoleProcess& process,
                                       std::shared_ptr<const Passphrase> passphrase,
                                       const std::stop_token& stop) {
    OwnerStep step{.words = {role, "register", "--endpoint", process.endpoint(), "--stake",
                             std::to_string(stake.units()) + "u"}};
    const auto ledger = genesis_words(flags);
    step.words.insert(step.words.end(), ledger.begin(), ledger.end());
    if (!flags.owner_key.empty()) step.words.insert(step.words.end(), {"--owner-key", flags.owner_key});
    const auto done = run_owner_step(context, step, *passphrase, stop);
    passphrase.reset();
    if (!done.ok() && !stop.stop_requested()) return base::failed(done.error());
    return stop.stop_requested() ? base::Outcome<void>() : process.serve();
}

base::Outcome<void> check_drills(const std::vector<std::string>& drills, const RoleProcess& process) {
    return drills.empty() ? base::Outcome<void>() : check_may_drill(process.genesis().chain_id);
}

struct MinerFlags {
    RoleFlags role;
    std::string ask = "1000u";
    std::string stake = "100";
    std::string lock_slot = "20";
    std::string lock_job = "60";
    std::vector<std::string> drills;
    bool outward = false;
    unsigned duty = 0;
    std::string hours;
    std::uint32_t watts = 0;
    std::string power_price;
    TradeFlags trade;
    bool node_per_device = false;
    const CLI::App* command = nullptr;  ///< as it was parsed
    unsigned self_check = kSelfCheckInterval.count();
};

base::Outcome<void> add_owners_limits(const MinerFlags& flags, MinerOptions& options) {
    if (!flags.hours.empty()) {
        ASSAY_ASSIGN(options.hours, WorkingHours::parse(flags.hours));
    }
    if ((flags.watts == 0) != flags.power_price.empty()) {
        return fail(ErrorKind::kUsage, "--power-watts and --power-price go together",
                    "give both, or none: then what this home was told before holds");
    }
    if (flags.watts == 0) return {};
    ASSAY_ASSIGN(const base::Amount price, amount_flag("--power-price", flags.power_price));
    options.power = PowerTerms{.watts = flags.watts, .price = price};
    return {};
}

base::Outcome<void> check_outward(const MinerFlags& flags) {
    // Not CLI11's excludes(): it lists several in the order of their addresses, another one in each run.
    for (const auto& [flag, given] : {std::pair("--listen", flags.role.listen != RoleFlags().listen),
                                      std::pair("--announce", !flags.role.announce.empty())}) {
        if (flags.outward && given)
            return base::fail(base::ErrorKind::kUsage, std::string("--outward leaves no room for ") + flag,
                              "give one of them: with --outward nobody connects to this miner");
    }
    return {};
}

/// All that the flags say of the role but its ask, which devices with nodes of their own may have each.
base::Outcome<MinerOptions> miner_options_of(const MinerFlags& flags) {
    MinerOptions options;
    ASSAY_TRY(add_owners_limits(flags, options));
    ASSAY_ASSIGN(options.trade, lot_terms(flags.trade, flags.role));
    ASSAY_ASSIGN(options.lock_slot, amount_flag("--lock-slot", flags.lock_slot));
    ASSAY_ASSIGN(options.lock_job, amount_flag("--lock-job", flags.lock_job));
    for (const std::string& text : flags.drills) {
        if (const auto conduct = find_misconduct(WorkRole::kMiner, text)) {
            options.conducts.add(*conduct);
            continue;
        }
        ASSAY_ASSIGN(const DrillSpec drill, parse_drill(text));
        options.drills.push_back(drill.planned);
    }
    return options;
}

base::Outcome<void> run_miner(const Context& context, const MinerFlags& flags) {
    ASSAY_TRY(check_outward(flags));
    ASSAY_ASSIGN(MinerOptions miner_options, miner_options_of(flags));
    ASSAY_ASSIGN(const base::Amount stake, amount_flag("--stake", flags.stake));
    const std::stop_token stop = stop_on_signals();
    if (flags.node_per_device)
        return run_device_miners(context, *flags.command, {.role = flags.role, .ask = flags.ask}, stop);
    ASSAY_ASSIGN(miner_options.ask, amount_flag("--ask", flags.ask));
    const std::string& device = flags.role.device;
    ASSAY_ASSIGN(RoleProcessOptions options,
                 role_options(context, flags.role, device.empty() ? "miner run" : "miner run on " + device));
    options.outward = flags.outward;
    options.worker.duty = flags.duty;
    if (flags.self_check > 0) options.self_check = std::chrono::minutes(flags.self_check);
    ASSAY_ASSIGN(options.devices, device_list(device, {}));
    ASSAY_TRY(limit_memory(options.worker, flags.role.memory, options.devices.size()));
    std::shared_ptr<const Passphrase> passphrase = options.passphrase.read;
    WorkerOptions worker = options.worker;
    worker.device = options.devices.front();
    ASSAY_ASSIGN(const auto process, RoleProcess::open(std::move(options), stop));
    ASSAY_TRY(check_drills(flags.drills, *process));
    if (miner_options.trade)
        ASSAY_TRY(add_expected_speed(*miner_options.trade, *process, worker, context.home()));
    ASSAY_TRY(register_and_serve(context, flags.role, "miner", stake, *process, std::move(passphrase), stop));
    if (stop.stop_requested()) return {};
    MinerRole miner(process->parts(), std::move(miner_options));
    return process->run(miner);
}

struct VerifierFlags {
    RoleFlags role;
    std::string stake = "100";
    std::string lock = "20";
    double challenge = 0;
    bool watch = false;
    std::vector<std::string> drills;
    std::string accomplice;
    unsigned self_check = kSelfCheckInterval.count();
};

std::string accomplice_names() {
    std::string names;
    for (const MisconductRow& row : misconduct_rows()) {
        if (needs_accomplice(row.conduct)) names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    return names;
}

// The conducts of a verifier, and what its accomplice tells it: notes and key of the miner of another home.
base::Outcome<void> add_misconducts(const VerifierFlags& flags, VerifierOptions& options) {
    bool with_accomplice = false;
    for (const std::string& text : flags.drills) {
        const auto conduct = find_misconduct(WorkRole::kVerifier, text);
        if (!conduct) continue;
        options.conducts.add(*conduct);
        with_accomplice = with_accomplice || needs_accomplice(*conduct);
    }
    if (with_accomplice == flags.accomplice.empty()) {
        return fail(ErrorKind::kUsage, "--accomplice HOME and a --drill that stands with a miner go together",
                    "these do: " + accomplice_names());
    }
    if (flags.accomplice.empty()) return {};
    ASSAY_ASSIGN(const KeyFileInfo key, inspect_key_file(Home{flags.accomplice}.node_key()));
    options.accomplice = key.public_key;
    ASSAY_ASSIGN(auto disk, make_disk_port(Home{flags.accomplice}.jobs()));
    options.accomplice_note = [notes = std::shared_ptr<DiskPort>(std::move(disk))](const std::string& note) {
        auto bytes = notes->read(note);
        return bytes.ok() ? std::move(bytes).value() : std::nullopt;
    };
    return {};
}

base::Outcome<void> run_verifier(const Context& context, const VerifierFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    ASSAY_ASSIGN(RoleProcessOptions options, role_options(context, flags.role, "verifier run"));
    if (flags.self_check > 0) options.self_check = std::chrono::minutes(flags.self_check);
    ASSAY_TRY(limit_memory(options.worker, flags.role.memory, 1));
    std::shared_ptr<const Passphrase> passphrase = options.passphrase.read;
    VerifierOptions verifier_options;
    ASSAY_ASSIGN(const base::Amount stake, amount_flag("--stake", flags.stake));
    ASSAY_ASSIGN(verifier_options.lock, amount_flag("--lock", flags.lock));
    verifier_options.challenge = flags.challenge;
    verifier_options.enlists = !flags.watch;
    ASSAY_TRY(add_misconducts(flags, verifier_options));
    ASSAY_ASSIGN(const auto process, RoleProcess::open(std::move(options), stop));
    ASSAY_TRY(check_drills(flags.drills, *process));
    ASSAY_TRY(
        register_and_serve(context, flags.role, "verifier", stake, *process, std::move(passphrase), stop));
    if (stop.stop_requested()) return {};
    verifier_options.finding_text = [](const Finding& finding) {
        return json_text("assay.finding/v1", json_of(finding), JsonLayout::kOneLine) + "\n";
    };
    VerifierRole verifier(process->parts(), std::move(verifier_options));
    return process->run(verifier);
}

void add_self_check_flag(CLI::App& verb, unsigned& minutes) {
    verb.add_option("--self-check", minutes,
                    "Minutes between checks of all kernel targets (0: only the one in use, at the start)")
        ->check(CLI::Range(0U, 60U * 24U * 7U))
        ->capture_default_str();
}

void add_miner_run(CLI::App& app, Context& context) {
    const auto miner = std::make_shared<MinerFlags>();
    CLI::App& mine = verb(noun(app, "miner", "Train for pay"), "run",
                          "Register, stake, ask for jobs, train, commit and serve until stopped", context,
                          [&context, miner] { return run_miner(context, *miner); });
    miner->command = &mine;
    add_service_flags(mine, miner->role);
    add_compute_flags(mine, miner->role, MemoryDefault::kShareOfMachine);
    mine.get_option("--device")
        ->description(
            "What computes: cpu (default), cuda:N, or several of them with commas (cuda:0,cuda:1), each with "
            "a "
            "slot of its own; cuda or all: every NVIDIA card that passes its self-test");
    mine.add_flag(
        "--node-per-device", miner->node_per_device,
        "A miner for each device, each with a node key, stake, ask and, with --trade, lot of its own, in "
        "HOME/devices/cuda-0 and so on: --home of commands about one of them");
    add_peer_flags(mine, miner->role);
    add_owner_key_flag(mine, miner->role);
    mine.add_flag("--outward", miner->outward,
                  "Accept no connection: verifiers ask over calls that this miner opens to them");
    mine.add_option(
            "--duty", miner->duty,
            "Percent of the time in which the worker computes; it rests between steps, except in disputes "
            "(default: ASSAY_DUTY, else 100)")
        ->check(CLI::Range(1U, 100U));
    mine.add_option(
        "--hours", miner->hours,
        "Local hours in which it asks for work, like 22:00-06:00,12:00-13:00; what it has begun it "
        "finishes outside of them, too (default: all day)");
    mine.add_option("--power-watts", miner->watts,
                    "Power that the machine draws while it trains; it limits nothing (--duty does), and is "
                    "kept in the home, as --power-price")
        ->check(CLI::Range(1U, 1'000'000U));
    mine.add_option(
        "--power-price", miner->power_price,
        "Price of a kilowatt-hour in ASY: work that brings less than its power costs is warned of");
    mine.add_option("--ask", miner->ask,
                    "Least price per work unit, in ASY or base units (1000u); with --node-per-device also of "
                    "each (cuda:0=900u,cuda:1=700u)")
        ->capture_default_str();
    mine.add_option("--stake", miner->stake, "Stake deposited at the first start")->capture_default_str();
    mine.add_option("--lock-slot", miner->lock_slot, "Most stake that a job may lock for one slot")
        ->capture_default_str();
    mine.add_option("--lock-job", miner->lock_job, "Most stake that a job may lock in all")
        ->capture_default_str();
    add_trade_flags(mine, miner->trade);
    add_self_check_flag(mine, miner->self_check);
    mine.add_option("--drill", miner->drills,
                    "Plant a fault (devnet only), e.g. round=1,segment=0,kind=lazy (kinds: " + drill_kinds() +
                        "), or behave so. " + misconduct_help(WorkRole::kMiner));
}

void add_verifier_run(CLI::App& app, Context& context) {
    const auto verifier = std::make_shared<VerifierFlags>();
    CLI::App& verify = verb(noun(app, "verifier", "Recompute for pay"), "run",
                            "Register, stake, enlist for jobs and recompute what is drawn until stopped",
                            context, [&context, verifier] { return run_verifier(context, *verifier); });
    add_service_flags(verify, verifier->role);
    add_compute_flags(verify, verifier->role, MemoryDefault::kShareOfMachine);
    add_peer_flags(verify, verifier->role);
    add_owner_key_flag(verify, verifier->role);
    verify.add_option("--stake", verifier->stake, "Stake deposited at the first start")
        ->capture_default_str();
    verify
        .add_option("--lock", verifier->lock,
                    "Stake locked for each job, link bond apart; a job that asks more is left alone")
        ->capture_default_str();
    verify
        .add_option("--challenge", verifier->challenge,
                    "Share of others' settled slots to compute again, and to challenge where they are false "
                    "(takes free stake: leave some of --stake over --lock)")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    verify.add_flag("--watch", verifier->watch, "Enlist for no job: only --challenge and play disputes");
    verify
        .add_option("--drill", verifier->drills,
                    "Behave so (devnet only). " + misconduct_help(WorkRole::kVerifier))
        ->check(CLI::IsMember(misconduct_names(WorkRole::kVerifier)));
    verify.add_option("--accomplice", verifier->accomplice, "Home of the miner that a --drill stands with");
    add_self_check_flag(verify, verifier->self_check);
}

}  // namespace

void add_work_commands(CLI::App& app, Context& context) {
    add_miner_run(app, context);
    add_verifier_run(app, context);
}

}  // namespace assay::node
