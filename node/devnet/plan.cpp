// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/plan.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "contracts/program/program.hpp"
#include "contracts/rules/apply.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/blob/folder.hpp"
#include "node/key/key_file.hpp"
#include "node/runtime/loop.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using worker::Drill;
using worker::DrillKind;

namespace {

constexpr base::Amount kPurse = base::units(1'000 * base::kUnitsPerToken);

base::Outcome<Participant> make_participant(const std::string& name, const Home& home,
                                            const Passphrase& passphrase) {
    ASSAY_TRY(create_home(home));
    ASSAY_ASSIGN(const base::SecretKey owner,
                 create_key_file(home.owner_key(), passphrase,
                                 {.role = KeyRole::kOwner, .protection = KeyProtection::kInteractive}));
    ASSAY_ASSIGN(const base::SecretKey node,
                 create_key_file(home.node_key(), passphrase,
                                 {.role = KeyRole::kNode, .protection = KeyProtection::kInteractive}));
    return Participant{.name = name, .home = home, .owner = owner.public_key(), .node = node.public_key()};
}

struct PlannedHome {
    std::string name;
    Home home;
};

/// All of them, in their order. Opening a key file is slow on purpose, and so is making one.
base::Outcome<std::vector<Participant>> make_participants(const std::vector<PlannedHome>& names,
                                                          const Passphrase& passphrase) {
    std::vector<std::optional<base::Outcome<Participant>>> made(names.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < names.size(); i = next++)
            made[i] = make_participant(names[i].name, names[i].home, passphrase);
    };
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < std::thread::hardware_concurrency() && i < names.size(); ++i)
            others.emplace_back(work);
        work();
    }
    std::vector<Participant> all;
    for (auto& one : made) {
        ASSAY_ASSIGN(Participant participant, *std::move(one));
        all.push_back(std::move(participant));
    }
    return all;
}

base::Outcome<void> prepare_folder(const std::filesystem::path& home) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::exists(home, error) && !fs::is_empty(home, error)) {
        if (!fs::exists(home / kDevnetMarker, error)) {
            return fail(ErrorKind::kUsage, home.string() + " holds something that no devnet made",
                        "choose another folder with --home DIR, or empty this one yourself");
        }
        {
            // Held by the network's node for as long as it runs.
            ASSAY_ASSIGN(const HomeLock lock, HomeLock::take({home}, "assay devnet"));
        }
        fs::remove_all(home, error);
        if (error) return fail(ErrorKind::kFailure, "cannot empty " + home.string() + ": " + error.message());
    }
    const auto made = make_private_folders(home);
    std::ofstream(home / kDevnetMarker) << "a local network with play money; `assay devnet` may empty it\n";
    if (!made || !fs::exists(home / kDevnetMarker, error)) {
        return fail(ErrorKind::kFailure, "cannot write to " + home.string(),
                    "choose a folder you may write with --home DIR");
    }
    return {};
}

base::Outcome<std::string> write_passphrase(const std::filesystem::path& file) {
    std::array<std::uint8_t, 16> bytes{};
    system_random().fill(bytes);
    const std::string text = base::to_hex(bytes);
    std::ofstream(file) << text << "\n";
    std::error_code error;
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
    if (error) return fail(ErrorKind::kFailure, "cannot write " + file.string() + ": " + error.message());
    return text;
}

ledger::Genesis make_genesis(const Devnet& net) {
    contracts::GenesisConfig config;
    config.chain_id = "devnet-" + std::to_string(net.plan.seed);
    config.params = net.plan.params;
    config.market = net.plan.market;
    config.params.panel_owners_least = std::clamp(net.plan.verifiers, 2U, config.params.panel_owners_least);
    std::vector<std::pair<base::PublicKey, base::Amount>> balances{{net.sequencer.owner, kPurse},
                                                                   {net.buyer.owner, kPurse}};
    for (const Participant& miner : net.miners) balances.emplace_back(miner.owner, kPurse);
    for (const Participant& verifier : net.verifiers) balances.emplace_back(verifier.owner, kPurse);
    for (const Participant& buyer : net.more_buyers) balances.emplace_back(buyer.owner, kPurse);
    std::sort(balances.begin(), balances.end());
    config.balances = std::move(balances);
    config.validators = {{net.sequencer.owner, net.sequencer.node}};
    return {.chain_id = config.chain_id,
            .validators = contracts::validators_of(config),
            .rules = base::encode(config),
            .block_interval_ms = net.plan.block_interval_ms};
}

}  // namespace

std::string_view to_text(Behaviour behaviour) {
    switch (behaviour) {
        case Behaviour::kHonest: return "honest";
        case Behaviour::kLazy: return "lazy";
        case Behaviour::kOneUlp: return "one-ulp";
    }
    return "unknown";
}

contracts::Params devnet_params() {
    contracts::Params params;
    params.ask_commit_window = 40;
    params.ask_reveal_window = 40;
    params.commit_window = 8'000;  // ten minutes at 80 ms a block
    // Verifiers get more time than this where their measured speed asks for it. A job ends when the window of
    // its last claim is over: after 24 s.
    params.audit_seal_window = 100;
    params.merge_seal_window = 8'000;
    params.beacon_window = 400;
    params.serve_window = 400;
    params.reveal_window = 400;
    params.storage_window = 4'000;
    params.audit_open_window = 400;
    params.merge_open_window = 400;
    params.claim_window = 3 * params.audit_seal_window;
    return params;
}

namespace {

/// The operator that writes a parameter's new values. REQUIRES a parameter of the job.
std::uint32_t updating_operator(const program::JobSpec& spec, const std::string& parameter) {
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    for (std::uint32_t i = 0; i < program.operators.size(); ++i) {
        if (program.operators[i].name == parameter + ".adamw") return i;
    }
    ASSAY_CHECK(false);
}

}  // namespace

DevnetPlan demo_plan(const std::filesystem::path& home, std::uint64_t seed, const program::JobSpec& spec) {
    DevnetPlan plan;
    plan.home = home;
    plan.seed = seed;
    // Probation counts slots found right; in the demo nobody leaves it, so that every cheat is found for
    // certain.
    plan.params.probation_rounds = 20 * 5;
    // Nobody starts while asks are sealed: the buyer comes when all have staked.
    plan.params.ask_commit_window = plan.params.ask_reveal_window = 25;
    // Games decide. Verifiers get more time than this where their measured speed asks for it, and so do
    // accusers: what nobody accuses can be challenged for two and a half seconds.
    plan.params.audit_seal_window = 10;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    const auto ask = [](std::uint64_t units) { return *base::Amount::of(units); };
    plan.miners = {{.behaviour = Behaviour::kHonest, .ask = ask(1'100), .drills = {}},
                   {.behaviour = Behaviour::kHonest, .ask = ask(1'400), .drills = {}},
                   {.behaviour = Behaviour::kLazy, .ask = ask(1'000), .drills = {}},
                   {.behaviour = Behaviour::kHonest, .ask = ask(1'250), .drills = {}},
                   {.behaviour = Behaviour::kOneUlp, .ask = ask(1'050), .drills = {}},
                   // The dearest: it has no place at first, and its ask is the price of all who have one.
                   {.behaviour = Behaviour::kHonest, .ask = ask(1'600), .drills = {}}};
    plan.miners[2].drills.push_back(
        {.round = 1, .drill = {.kind = DrillKind::kLazy, .segment = 1, .tensor = {}}});
    Drill ulp{.kind = DrillKind::kOperator, .segment = 0, .tensor = {}};
    ulp.step = 1;
    ulp.operator_index = updating_operator(spec, spec.model.family == program::Family::kLlama
                                                     ? "layers.1.mlp.gate_up_proj.weight"
                                                     : "h.1.mlp.c_fc.weight");
    ulp.index = 4242;
    plan.miners[4].drills.push_back({.round = 2, .drill = ulp});
    return plan;
}

base::Outcome<Devnet> create_devnet(const DevnetPlan& plan) {
    ASSAY_TRY(prepare_folder(plan.home));
    Devnet net;
    net.plan = plan;
    net.passphrase = plan.home / "passphrase";
    ASSAY_ASSIGN(const std::string text, write_passphrase(net.passphrase));
    const Passphrase passphrase{text};
    std::vector<PlannedHome> names{{"node", {plan.home}}, {"buyer", {plan.home / "buyer"}}};
    for (std::size_t i = 1; i <= plan.miners.size() + plan.verifiers; ++i) {
        const bool is_miner = i <= plan.miners.size();
        const std::string name =
            is_miner ? "miner-" + std::to_string(i) : "verifier-" + std::to_string(i - plan.miners.size());
        names.push_back({name, {plan.home / name}});
    }
    for (std::uint32_t i = 0; i < plan.more_buyers; ++i) {
        const std::string name = "buyer-" + std::to_string(i + 2);
        names.push_back({name, {plan.home / name}});
    }
    ASSAY_ASSIGN(std::vector<Participant> made, make_participants(names, passphrase));
    net.sequencer = std::move(made[0]);
    net.buyer = std::move(made[1]);
    const auto first_verifier = made.begin() + static_cast<std::ptrdiff_t>(2 + plan.miners.size());
    net.miners.assign(std::move_iterator(made.begin() + 2), std::move_iterator(first_verifier));
    const auto first_buyer = first_verifier + static_cast<std::ptrdiff_t>(plan.verifiers);
    net.verifiers.assign(std::move_iterator(first_verifier), std::move_iterator(first_buyer));
    net.more_buyers.assign(std::move_iterator(first_buyer), std::move_iterator(made.end()));
    net.genesis = make_genesis(net);
    ledger::PosixDisk disk;
    // The buyer's home is a person's: commands sign there for the chain that it knows.
    std::vector<const Participant*> people{&net.sequencer, &net.buyer};
    for (const Participant& buyer : net.more_buyers) people.push_back(&buyer);
    for (const Participant* one : people) {
        ASSAY_TRY(disk.make_directories(one->home.ledger().string()));
        ASSAY_TRY(ledger::write_genesis(disk, (one->home.ledger() / "genesis.bin").string(), net.genesis));
    }
    return net;
}

}  // namespace assay::node
