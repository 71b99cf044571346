// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/small_network.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "node/audit/run_record.hpp"
#include "node/devnet/demo_audit.hpp"
#include "node/key/key_file.hpp"
#include "node/processes/watcher.hpp"
#include "node/views/supply.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/scenarios/small_text.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/pack.hpp"

namespace assay::tests {

using contracts::LineKind;

namespace {

constexpr std::uint64_t kSeed = 7;

contracts::Params quick_params() {
    contracts::Params params;
    params.panel_owners_least = 2;
    // Verifiers have more time than this where their measured speed asks for it; a job waits for the windows
    // of its last round: six seconds.
    params.audit_seal_window = 40 * kPatience;
    params.claim_window = 3 * params.audit_seal_window;
    // Nobody can know that all asks are in, so these two windows run to their end: three and four seconds. A
    // busy machine may hold every miner back for two, and a job for which nobody has opened an ask is over.
    params.ask_commit_window = 60 * kPatience;
    params.ask_reveal_window = 80 * kPatience;
    return params;
}

node::JobFile pack_job(const std::filesystem::path& home, program::JobSpec spec,
                       const std::filesystem::path& from) {
    const std::filesystem::path data = home / "data";
    std::filesystem::create_directories(data);
    std::ofstream(home / "text.txt") << small_text(kSeed);
    trainer::PackOptions packing;
    packing.texts = {home / "text.txt"};
    packing.out = data;
    packing.form = trainer::TextForm::kPlain;
    packing.vocabulary = spec.model.vocabulary;
    if (!from.empty()) packing.tokenizer = from / "tokenizer.json";
    (void)must(trainer::pack(packing));
    node::JobFile job;
    job.spec = std::move(spec);
    job.from = from;
    job.manifest = "data/manifest.json";
    std::ofstream(home / "job.toml") << node::job_file_text(job);
    return must(node::read_job_file(home / "job.toml"));
}

void give_data(const node::JobFile& job, const node::Participant& who) {
    node::BlobStoreOptions options;
    options.folder = who.home.blobs();
    const auto blobs = must(node::BlobStore::open(options));
    for (const auto& file : {job.manifest, job.train, job.held_out, job.tokenizer})
        (void)must(blobs->put_file(file));
}

std::unique_ptr<node::WorkerProcess> start_worker(const std::string& targets, unsigned threads) {
    node::WorkerOptions options;
    options.program = built_program("assay-worker");
    options.targets = targets;
    options.threads = threads;
    return must(node::WorkerProcess::start(options));
}

}  // namespace

void fail_scenario(const base::Error& error) {
    INFO(error.what);
    INFO(error.fix);
    REQUIRE(false);
    std::abort();
}

void must(const base::Outcome<void>& outcome) {
    if (!outcome.ok()) fail_scenario(outcome.error());
}

void wait_until(const std::string& what, std::chrono::seconds patience,
                const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + patience * kPatience;
    while (!happened()) {
        INFO("waited too long for: " << what);
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

std::filesystem::path built_program(const std::string& name) {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    INFO("ASSAY_BIN_DIR names the folder of the built programs; CTest sets it");
    REQUIRE(folder != nullptr);
    return std::filesystem::path(folder) / name;
}

node::MinerPlan honest_miner(std::uint64_t ask) {
    return {
        .behaviour = node::Behaviour::kHonest, .ask = *base::Amount::of(ask), .drills = {}, .conducts = {}};
}

ScenarioPlan small_plan() {
    ScenarioPlan plan;
    plan.miners = {honest_miner(1'000), honest_miner(1'100), honest_miner(1'200)};
    plan.params = quick_params();
    program::JobSpec& job = plan.job;
    job.name = "small";
    job.rounds = 2;
    job.seed = kSeed;
    job.model = {.family = program::Family::kGpt2,
                 .layers = 2,
                 .width = 32,
                 .heads = 2,
                 .context = 32,
                 .vocabulary = 400};
    job.train.inner_steps = 4;
    job.train.batch = 2;
    job.train.warmup_steps = 2;
    job.train.learning_rate = 3e-3F;
    job.security.segment_steps = 2;
    job.security.gain_bound = base::units(10'000);
    job.market.max_price = base::units(2'000);
    job.market.budget = base::units(50 * base::kUnitsPerToken);
    job.market.deadline_blocks = 100'000;
    return plan;
}

ScenarioPlan slow_plan() {
    ScenarioPlan plan = small_plan();
    plan.job.model.width = 64;
    plan.job.model.context = 64;
    plan.job.train.inner_steps = 32;
    plan.job.train.batch = 4;
    plan.job.security.segment_steps = 4;
    // In the first round nobody's speed is known, and the parameter alone is a verifier's time: five seconds
    // for what takes half a second where nothing else runs.
    plan.params.audit_seal_window = 100 * kPatience;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    return plan;
}

ScenarioPlan impatient_plan() {
    ScenarioPlan plan = slow_plan();
    plan.params.commit_window = 160 * kPatience;
    plan.params.beacon_window = 40 * kPatience;
    plan.params.serve_window = 40 * kPatience;
    plan.params.reveal_window = 40 * kPatience;
    plan.params.storage_window = 160 * kPatience;
    plan.params.audit_open_window = 40 * kPatience;
    plan.params.merge_seal_window = 160 * kPatience;
    plan.params.merge_open_window = 40 * kPatience;
    plan.params.max_missed = 1;
    return plan;
}

contracts::Params with_patience(contracts::Params params) {
    for (std::uint64_t* window :
         {&params.ask_commit_window, &params.ask_reveal_window, &params.commit_window, &params.beacon_window,
          &params.serve_window, &params.audit_seal_window, &params.audit_open_window, &params.reveal_window,
          &params.storage_window, &params.merge_seal_window, &params.merge_open_window,
          &params.claim_window}) {
        *window *= kPatience;
    }
    return params;
}

bool is_phase(const contracts::Event& event, std::uint32_t round, contracts::RoundPhase phase) {
    return event.kind == contracts::EventKind::kRoundPhase && event.round == round &&
           event.number == static_cast<std::uint64_t>(phase);
}

SmallNetwork::SmallNetwork(ScenarioPlan plan) {
    node::DevnetPlan devnet;
    devnet.home = folder_.path() / "net";
    devnet.seed = kSeed;
    devnet.miners = plan.miners;
    devnet.verifiers = plan.verifiers;
    devnet.verifier_misconducts = plan.verifier_misconducts;
    devnet.verifier_flags = plan.verifier_flags;
    devnet.buyer_conducts = plan.buyer_conducts;
    devnet.drops_moves_of = plan.drops_moves_of;
    devnet.params = plan.params;
    devnet.market = plan.market;
    devnet.more_buyers = plan.more_buyers;
    devnet.block_interval_ms = kBlockMs;
    devnet.program = built_program("assay");
    net_ = must(node::create_devnet(devnet));
    plan.job.slots = plan.slots > 0 ? plan.slots : static_cast<std::uint32_t>(plan.miners.size());
    job_file_ = pack_job(devnet.home, std::move(plan.job), plan.from);
    if (plan.miners_have_data) {
        for (const node::Participant& miner : net_.miners) give_data(job_file_, miner);
    }
    std::cout << "seed " << kSeed << ", home " << devnet.home.string() << std::endl;
    network_.emplace(must(node::Network::start(net_)));
}

std::unique_ptr<node::LedgerService> SmallNetwork::ledger() const {
    return must(node::connect_ledger({.address = network_->node_address(), .tls = {}}));
}

node::SubmitReply SmallNetwork::submit_as_owner(const node::Participant& who,
                                                const contracts::StateView& state,
                                                contracts::Payload payload) const {
    std::string text;
    std::getline(std::ifstream(net_.passphrase), text);
    const base::SecretKey key =
        must(node::open_key_file(who.home.owner_key(), node::Passphrase{text}, node::KeyRole::kOwner));
    const contracts::TxBody body{.sender = who.owner,
                                 .nonce = contracts::next_nonce(state, who.owner),
                                 .expiry = 1'000'000,
                                 .payload = std::move(payload)};
    const base::Bytes signed_bytes = contracts::sign_transaction(body, key, net_.genesis.chain_id);
    const auto reply = insist([&] { return ledger()->submit(signed_bytes); });
    INFO(reply.reason_text);
    REQUIRE(reply.accepted);
    return reply;
}

const node::Participant& SmallNetwork::participant(const base::PublicKey& node) const {
    for (const auto* group : {&net_.miners, &net_.verifiers}) {
        for (const node::Participant& who : *group) {
            if (who.node == node) return who;
        }
    }
    FAIL("no miner or verifier has the key " << node.brief());
    std::abort();
}

void SmallNetwork::print_logs() const {
    for (const auto& [name, pid] : network_->processes()) {
        const node::Home home = name == "node" ? net_.sequencer.home : node::Home{net_.plan.home / name};
        std::cout << name << " (process " << pid << "):\n" << node::log_tail(home, name, 25);
    }
    std::cout.flush();
}

void SmallNetwork::run() {
    node::JobRun run(net_, *network_, std::cout);
    run.on_event(hook_);
    for (const std::string& name : mortals_) run.allow_death_of(name);
    const auto outcome = run.run(net_.plan.home / "job.toml", {});
    if (!outcome.ok()) print_logs();
    network_->stop();
    must(outcome);
    job_ = run.job();
    state_.emplace(must(node::final_state(net_)));
}

void SmallNetwork::submit_job(const node::Participant& buyer, const std::filesystem::path& file,
                              const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"job", "submit", file.string()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto common = network_->common_flags(buyer);
    arguments.insert(arguments.end(), common.begin(), common.end());
    allow_death_of(buyer.name);
    must(network_->spawn(buyer.name, buyer.home, std::move(arguments)));
}

void SmallNetwork::follow_until(const std::string& what, std::chrono::seconds patience,
                                const std::function<bool(const contracts::StateView& state)>& done) {
    const auto give_up = std::chrono::steady_clock::now() + patience * kPatience;
    std::stop_source watching;
    const std::jthread clock([&](const std::stop_token& over) {
        while (!over.stop_requested() && std::chrono::steady_clock::now() < give_up)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        watching.request_stop();
    });
    bool happened = false;
    std::string lost;
    const auto on_block = [&](const node::Follower& ledger, const contracts::Events& events) {
        if (ledger.height() <= followed_) return true;
        followed_ = ledger.height();
        for (const contracts::Event& event : events)
            if (hook_) hook_(ledger, event);
        for (const auto& [name, status] : network_->casualties())
            if (!mortals_.contains(name)) lost = name + " ended: " + to_text(status);
        happened = done(ledger.state());
        return !happened && lost.empty();
    };
    base::Outcome<void> watched;
    // All processes of the network are one caller to its node, which may have no room for one more.
    while (!happened && lost.empty() && !watching.stop_requested()) {
        watched = node::watch_ledger(
            {.node_address = network_->node_address(), .tls = {}, .genesis = net_.genesis, .patience = {}},
            watching.get_token(), on_block);
        if (!watched.ok() && watched.error().kind != base::ErrorKind::kUnreachable) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    INFO("waited for: " << what << "; " << lost);
    if (!happened) print_logs();
    if (!happened) must(watched);
    REQUIRE(happened);
}

void SmallNetwork::stop() {
    network_->stop();
    state_.emplace(must(node::final_state(net_)));
}

contracts::Job SmallNetwork::job() const {
    const auto job = contracts::read_job(*state_, job_);
    REQUIRE(job.has_value());
    return *job;
}

std::vector<contracts::SettlementLine> SmallNetwork::lines(LineKind kind) const {
    std::vector<contracts::SettlementLine> found;
    for (std::uint32_t round = 0; round < job_file_.spec.rounds; ++round) {
        for (const auto& line : contracts::list_settlement(*state_, job_, round)) {
            if (line.kind == kind) found.push_back(line);
        }
    }
    return found;
}

std::uint64_t SmallNetwork::paid_to(const node::Participant& who) const {
    std::uint64_t sum = 0;
    for (const LineKind kind : {LineKind::kSlot, LineKind::kAudit, LineKind::kMerge}) {
        for (const auto& line : lines(kind)) {
            if (line.node == who.node) sum += line.paid.units();
        }
    }
    for (const contracts::Game& game : games())
        if (game.claimant == who.node) sum -= game.returned.units();
    return sum;
}

std::uint64_t SmallNetwork::lost_by(const node::Participant& who) const {
    std::uint64_t sum = 0;
    for (const LineKind kind : {LineKind::kSlot, LineKind::kAudit, LineKind::kMerge, LineKind::kLink}) {
        for (const auto& line : lines(kind)) {
            if (line.node == who.node) sum += line.lost.units();
        }
    }
    for (const contracts::Game& game : games())
        if ((game.claimant_lost ? game.claimant : game.challenger) == who.node) sum += game.lost.units();
    return sum;
}

std::vector<contracts::Game> SmallNetwork::games() const { return contracts::list_games(state(), job().id); }

std::vector<contracts::Reason> SmallNetwork::verdicts(std::uint32_t round,
                                                      const node::Participant& who) const {
    std::vector<contracts::Reason> found;
    for (const auto& line : lines(LineKind::kSlot)) {
        if (line.round == round && line.node == who.node) found.push_back(line.reason);
    }
    return found;
}

void SmallNetwork::check_books() const {
    auto report = must(ledger::audit_ledger(ledger::rules_machine(), net_.plan.home.string()));
    REQUIRE(report.ok());
    must(ledger::recover_records(report.state));
    must(ledger::recover_evidence(report.state, net_.plan.home.string()));
    const auto payouts = ledger::audit_payouts(report.state);
    for (const auto& failure : payouts.failures) UNSCOPED_INFO(failure.where + ": " + failure.what);
    CHECK(payouts.ok());
    CHECK(node::supply_delta(contracts::read_supply(report.state)) == 0);
    REQUIRE(payouts.jobs.size() == 1);
    const ledger::JobPayouts& sums = payouts.jobs.front();
    CHECK(sums.delta == 0);
    CHECK(sums.escrow == 0);
    const contracts::Job ended = job();
    CHECK(ended.escrow.is_zero());
    CHECK(sums.budget + sums.returned == ended.spent.units() + ended.refunded.units());
}

std::vector<node::SlotReplay> SmallNetwork::replay_everything() const {
    const contracts::Job ended = job();
    must(node::gather_files(net_, *state_, ended));
    node::BlobStoreOptions options;
    options.folder = net_.sequencer.home.blobs();
    const auto blobs = must(node::BlobStore::open(options));
    const auto worker = start_worker({}, 1);
    std::vector<node::SlotReplay> all;
    for (std::uint32_t round = 0; round < ended.round; ++round) {
        auto replays = must(node::replay_round(*worker, *state_, *blobs, {.job = job_, .round = round}));
        all.insert(all.end(), replays.begin(), replays.end());
    }
    return all;
}

base::Hash256 SmallNetwork::train_alone(const std::optional<node::RunRecord>& record,
                                        const std::string& targets, unsigned threads) const {
    const auto worker = start_worker(targets, threads);
    const contracts::Job ended = job();
    must(node::open_job(*worker, ended.spec,
                        {.train = job_file_.train.string(), .held_out = job_file_.held_out.string()}));
    node::LocalTrainingOptions options;
    options.record = record;
    options.held_out_sequences = 1;
    node::JobFile again = job_file_;
    options.initial = must(node::initial_file(again));
    return must(node::train_alone(*worker, ended.spec, options)).model_root;
}

}  // namespace assay::tests
