// SPDX-License-Identifier: Apache-2.0
// A buyer that lies about the weights of its jobs, before a miner and before a verifier: real rules, real
// blob stores, a real worker. Whatever the lie, nobody bids into it, the log says why, and jobs that are what
// they say are bid for meanwhile.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "contracts/program/initial.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "node/blob/fetch.hpp"
#include "node/processes/store_files.hpp"
#include "node/roles/buyer.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/verifier.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/node/roles/kept_ports.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {
namespace {

namespace frames = worker;
using test::HandClock;
using test::KeptLog;
using test::key_of;
using test::MemoryDisk;
using test::NoTimers;

constexpr const char* kBuyersPlace = "127.0.0.1:1";

/// The real worker; its answers wait until the test takes them.
class WaitingWorker final : public WorkerPort {
public:
    WaitingWorker() {
        WorkerOptions options;
        const char* folder = std::getenv("ASSAY_BIN_DIR");
        REQUIRE(folder != nullptr);
        options.program = std::filesystem::path(folder) / "assay-worker";
        auto started = WorkerProcess::start(options);
        if (!started.ok()) FAIL(started.error().what);
        process_ = std::move(started).value();
    }
    void submit(RequestId request, frames::Message message, std::vector<SharedDescriptor> bulk) override {
        ++under_way_;
        process_->submit(std::move(message), std::move(bulk), [this, request](const WorkerEvent& event) {
            const std::lock_guard lock(mutex_);
            answers_.push_back({request, event.message, event.bulk, event.last});
            wake_.notify_all();
        });
    }
    void cancel(RequestId) override {}
    /// The next answer, waited for; nothing when nothing is under way.
    std::optional<WorkerAnswered> take() {
        if (under_way_ == 0) return std::nullopt;
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !answers_.empty(); });
        WorkerAnswered answer = answers_.front();
        answers_.erase(answers_.begin());
        if (answer.last) --under_way_;
        return answer;
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<WorkerAnswered> answers_;
    int under_way_ = 0;
    std::unique_ptr<WorkerProcess> process_;  // last: its thread uses the above
};

/// What the buyer serves: its store, save for what it keeps back and what it turns a bit of.
class Liar final : public BlobService {
public:
    Liar(BlobStore& store, const std::set<BlobId>& withheld, const std::set<BlobId>& flipped,
         std::set<BlobId>& taken)
        : store_(store), withheld_(withheld), flipped_(flipped), taken_(taken) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override {
        if (withheld_.contains(id)) return base::fail(base::ErrorKind::kNotFound, "no such blob here");
        return store_.describe(id);
    }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        taken_.insert(id);
        return store_.fetch(id, first, [&](std::uint64_t index, ByteView chunk) {
            Bytes copy = base::to_bytes(chunk);
            if (flipped_.contains(id)) copy[100] ^= 1;
            return handler(index, copy);
        });
    }

private:
    BlobStore& store_;
    const std::set<BlobId>& withheld_;
    const std::set<BlobId>& flipped_;
    std::set<BlobId>& taken_;
};

enum class VictimRole : std::uint8_t { kMiner, kVerifier, kBuyer };

struct LyingScene {
    explicit LyingScene(VictimRole which) : part(which) {
        REQUIRE(ledger::write_genesis(disk, ledger::Layout("home").genesis, genesis).ok());
        chain = ledger::Chain::open(disk, provider, ledger::rules_machine(), "home").value();
        become_party();
        start("127.0.0.1:2");
        // Carol buys; what she has is from Bob.
        send(key_of("bob"), contracts::Transfer{.to = carol.public_key(), .amount = test::tokens(900)});
        turn();
        send(carol, contracts::NodeRegister{
                        .node = carols_node.public_key(),
                        .proof = contracts::prove_node_key(carols_node, carol.public_key(), test::kChainId)});
        turn();
        (void)buyer_store->put(job.file);
    }
    /// Alice signs what the role's node key needs: its registration and stake, or a job bought.
    void become_party() {
        const WorkRole as = part == VictimRole::kMiner      ? WorkRole::kMiner
                            : part == VictimRole::kVerifier ? WorkRole::kVerifier
                                                            : WorkRole::kBuyer;
        const OnboardingWants wants{
            .role = as,
            .owner = owner.public_key(),
            .node = node.public_key(),
            .node_proof = contracts::prove_node_key(node, owner.public_key(), test::kChainId),
            .endpoint = "127.0.0.1:2",
            .stake = test::tokens(200)};
        const auto sign = [this](const std::string&, contracts::Payload payload) {
            send(owner, std::move(payload));
        };
        while (!onboard(chain->state(), wants, sign)) make_block();
        if (part == VictimRole::kBuyer) {
            send(owner, submission(spec_of("bought", std::nullopt), node, "127.0.0.1:2"));
            make_block();
        }
    }
    /// A fresh process of the role, whose blob service is at `endpoint`: it follows the ledger from the
    /// beginning.
    void start(const std::string& endpoint) {
        const RoleParts parts{.seams = {clock, random, timers, mempool, blobs, notes, worker, log},
                              .files = *files,
                              .genesis = genesis,
                              .node_key = node,
                              .endpoint = endpoint,
                              .start_height = chain->height(),
                              .finish = [this](const std::optional<base::Error>& error) {
                                  if (may_end) {
                                      ended = error;
                                      return;
                                  }
                                  FAIL("the role ended: " << (error ? error->what : "of itself"));
                              }};
        switch (part) {
            case VictimRole::kMiner:
                role =
                    std::make_unique<MinerRole>(parts, MinerOptions{.ask = base::units(500), .drills = {}});
                break;
            case VictimRole::kVerifier:
                role = std::make_unique<VerifierRole>(parts, VerifierOptions{});
                break;
            case VictimRole::kBuyer:
                role = std::make_unique<BuyerRole>(
                    parts, BuyerOptions{.job = serves.value_or(bought_job(chain->state(), node.public_key(),
                                                                          spec_of("bought", std::nullopt))
                                                                   .value())});
                break;
        }
        role->step(Started{});
        for (std::uint64_t height = 1; height <= chain->height(); ++height)
            role->step(BlockSeen{height, base::encode(chain->block(height).value())});
    }
    /// The job as it would be sold honestly: it starts from these weights, or from its seed.
    program::JobSpec spec_of(const std::string& name, const std::optional<std::vector<float>>& weights) {
        program::JobSpec spec = job.spec;
        spec.name = name;
        spec.market = {base::units(1'000), base::Amount::of(50 * base::kUnitsPerToken).value(), 100'000};
        spec.security.gain_bound = base::units(10'000);
        const auto tensors = program::parameter_tensors(spec.model);
        const auto start = weights ? *weights : program::initial_parameters(spec.model, spec.seed);
        spec.initial_root =
            program::base_state_root(tensors, start, std::vector<float>(start.size(), 0.0F), 0);
        if (weights) spec.initial_blob = serve(trainer::encode_base_state(trainer::first_state(*weights)));
        return spec;
    }
    BlobId serve(const Bytes& content) { return buyer_store->put(content).value(); }
    [[nodiscard]] std::vector<float> weights(std::uint64_t seed) const {
        return program::initial_parameters(job.spec.model, seed);
    }

    base::Hash256 post(const program::JobSpec& spec) {
        send(carol, contracts::JobSubmit{.spec = spec,
                                         .node = carols_node.public_key(),
                                         .endpoint = kBuyersPlace,
                                         .beacon_tip = contracts::chain_tip(base::Hash256{}, spec.rounds)});
        make_block();
        for (const contracts::Job& posted : contracts::list_jobs(chain->state())) {
            if (posted.spec == spec) return posted.id;
        }
        FAIL("the job is not on the ledger: " << spec.name);
        std::abort();
    }
    void send(const base::SecretKey& key, contracts::Payload payload) {
        const auto nonce = contracts::next_nonce(chain->state(), key.public_key());
        mempool.sent.emplace_back(0, test::signed_by(key, nonce, std::move(payload)));
    }

    /// Two seconds and a block go by, and everything that the role asked for is answered.
    void turn() {
        clock.now += 2'000'000'000;
        role->step(TimerFired{});
        settle();
        make_block();
        settle();
    }
    void make_block() {
        std::vector<Bytes> transactions;
        const auto sent = std::exchange(mempool.sent, {});
        for (const auto& [request, bytes] : sent) transactions.push_back(bytes);
        const auto made = chain->append(transactions, ledger::EmptyBlock::kMake, ++time, key_of("sequencer"));
        REQUIRE(made.ok());
        for (const auto& refused : made->refused) FAIL("refused: " << refused.reason);
        const std::uint64_t height = chain->height();
        for (const auto& [request, bytes] : sent) {
            if (request != 0)
                role->step(SubmitDone{request, SubmitReply{.accepted = true, .height = height}});
        }
        if (role) role->step(BlockSeen{height, base::encode(chain->block(height).value())});
    }
    void settle() {
        while (true) {
            if (!blobs.asked.empty()) {
                const auto asked = blobs.asked.front();
                blobs.asked.pop_front();
                const auto fetched =
                    fetch_blob(*own_store, asked.id, asked.holders, connect, {}, nullptr, asked.terms);
                role->step(BlobFetched{asked.request, asked.id, fetched});
            } else if (const auto answer = worker.take()) {
                role->step(*answer);
            } else {
                return;
            }
        }
    }

    [[nodiscard]] bool bid_for(const base::Hash256& id) const {
        if (part == VictimRole::kMiner)
            return contracts::read_ask(chain->state(), id, node.public_key()).has_value();
        return takes_part(*contracts::read_job(chain->state(), id), node.public_key());
    }
    [[nodiscard]] bool said(const std::string& about, const std::string& what) const {
        return log.said(about, what);
    }
    [[nodiscard]] std::ptrdiff_t lines_about(const BlobId& blob) const {
        return log.lines_with(blob.brief());
    }

    VictimRole part;
    std::optional<base::Hash256> serves;  ///< the buyer's job; nothing: the one that it bought
    bool may_end = false;
    std::optional<base::Error> ended;
    test::TemporaryFolder folder;
    tests::TinyJob job = tests::tiny_job();
    const ledger::Genesis genesis = test::small_genesis();
    ledger::testing::Faults faults;
    ledger::testing::FaultyDisk disk{faults};
    ledger::testing::MemoryProvider provider{faults};
    std::unique_ptr<ledger::Chain> chain;
    std::uint64_t time = 0;

    const base::SecretKey owner = key_of("alice");
    const base::SecretKey node = key_of("alice's node");
    const base::SecretKey carol = key_of("carol");
    const base::SecretKey carols_node = key_of("carol's node");
    std::unique_ptr<BlobStore> buyer_store =
        BlobStore::open({.folder = folder / "buyer", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobStore> own_store =
        BlobStore::open({.folder = folder / "own", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobFiles> files = make_blob_files(*own_store);
    std::set<BlobId> withheld, flipped, taken;
    const ConnectHolder connect = [this](const Endpoint& at) -> Outcome<std::unique_ptr<BlobService>> {
        if (at != kBuyersPlace) return base::fail(base::ErrorKind::kUnreachable, "nobody is at " + at);
        return std::unique_ptr<BlobService>(std::make_unique<Liar>(*buyer_store, withheld, flipped, taken));
    };

    HandClock clock;
    test_market::SlowlyCountedBytes random;
    NoTimers timers;
    test_market::SentTransactions mempool;
    test_market::AskedBlobs blobs;
    MemoryDisk notes;
    WaitingWorker worker;
    KeptLog log;
    std::unique_ptr<Role> role;
};

/// A job that is not what it says.
struct Lie {
    base::Hash256 job;
    BlobId blob;
    std::string about;  ///< what the line of the log names
    std::string said;
};

/// The fifth is only late.
std::vector<Lie> tell_lies(LyingScene& stage) {
    std::vector<Lie> lies;

    // A file of another size than the model's: not one chunk of it is taken.
    program::JobSpec spec = stage.spec_of("size", stage.weights(1));
    Bytes longer = trainer::encode_base_state(trainer::first_state(stage.weights(1)));
    longer.resize(longer.size() + 3'000'000);
    spec.initial_blob = stage.serve(longer);
    lies.push_back({stage.post(spec), spec.initial_blob, spec.initial_blob.brief(),
                    "is said to have " + std::to_string(longer.size()) + " bytes"});

    // Data of another size than the spec says.
    spec = stage.spec_of("data", stage.weights(2));
    Bytes cut = stage.job.file;
    cut.resize(cut.size() - 2);
    spec.data.train = stage.serve(cut);
    lies.push_back({stage.post(spec), spec.data.train, spec.data.train.brief(),
                    "is said to have " + std::to_string(cut.size()) + " bytes"});

    // Weights that are whole and finite, and not those whose root the job names.
    spec = stage.spec_of("other", stage.weights(3));
    spec.initial_root = stage.spec_of("other", stage.weights(33)).initial_root;
    lies.push_back({stage.post(spec), spec.initial_blob, "", "its initial state has the root"});
    lies.back().about = lies.back().job.brief();

    // Bytes that are not the named blob's.
    spec = stage.spec_of("flipped", stage.weights(4));
    stage.flipped.insert(spec.initial_blob);
    lies.push_back(
        {stage.post(spec), spec.initial_blob, spec.initial_blob.brief(), "is not the one its hash"});

    // A blob that never comes.
    spec = stage.spec_of("withheld", stage.weights(5));
    const BlobId withheld = spec.initial_blob;
    stage.withheld.insert(withheld);
    lies.push_back({stage.post(spec), withheld, withheld.brief(), "no such blob here"});

    // Not a number.
    std::vector<float> weights = stage.weights(6);
    weights[5] = std::numeric_limits<float>::quiet_NaN();
    spec = stage.spec_of("nan", weights);
    lies.push_back({stage.post(spec), spec.initial_blob, "", "not finite: parameters, element 5"});
    lies.back().about = lies.back().job.brief();
    return lies;
}

}  // namespace

TEST_CASE("a buyer that lies about its weights gets no bids, and honest jobs beside its own do") {
    const VictimRole part = GENERATE(VictimRole::kMiner, VictimRole::kVerifier);
    CAPTURE(part == VictimRole::kMiner);
    LyingScene stage(part);
    const std::vector<Lie> lies = tell_lies(stage);
    const BlobId withheld = lies[4].blob;
    const program::JobSpec honest_spec = stage.spec_of("honest", stage.weights(7));
    const base::Hash256 honest = stage.post(honest_spec);
    const base::Hash256 seeded = stage.post(stage.spec_of("seeded", std::nullopt));

    for (int i = 0; i < 6; ++i) stage.turn();
    INFO(stage.log.text());
    CHECK(stage.bid_for(honest));
    CHECK(stage.bid_for(seeded));
    for (const Lie& lie : lies) {
        CAPTURE(lie.said);
        CHECK_FALSE(stage.bid_for(lie.job));
        CHECK(stage.said(lie.about, lie.said));
        CHECK(stage.own_store->has(lie.blob) == false);  // refused: dropped; otherwise never here
    }
    CHECK_FALSE(stage.taken.contains(lies[0].blob));
    CHECK_FALSE(stage.taken.contains(lies[1].blob));
    // An enlisted verifier keeps what its audits need; a miner has only asked so far.
    CHECK(stage.own_store->is_evictable(honest_spec.initial_blob) == (part == VictimRole::kMiner));

    // What is only late is not refused for good. Nor is the log full of it.
    CHECK(stage.lines_about(withheld) == 1);
    stage.withheld.clear();
    stage.clock.now += 60'000'000'000;  // the longest pause
    for (int i = 0; i < 3; ++i) stage.turn();
    CHECK(stage.bid_for(lies[4].job));
    CHECK_FALSE(stage.bid_for(lies[5].job));
}

TEST_CASE("a buyer that keeps its data from verifiers finds none, until it serves them") {
    LyingScene stage(VictimRole::kVerifier);
    program::JobSpec spec = stage.spec_of("starved", std::nullopt);
    std::vector<std::uint32_t> tokens = stage.job.tokens;
    std::reverse(tokens.begin(), tokens.end());
    spec.data.train = stage.serve(trainer::token_file_bytes(tokens, spec.model.vocabulary));
    stage.withheld.insert(spec.data.train);
    const base::Hash256 starved = stage.post(spec);
    for (int i = 0; i < 6; ++i) stage.turn();
    INFO(stage.log.text());
    CHECK_FALSE(stage.bid_for(starved));
    CHECK(stage.said(spec.data.train.brief(), "no such blob here"));
    stage.withheld.clear();
    stage.clock.now += 60'000'000'000;  // the longest pause
    for (int i = 0; i < 3; ++i) stage.turn();
    CHECK(stage.bid_for(starved));
    // It is enlisted now: no other job's data takes the place of what its audits need.
    CHECK_FALSE(stage.own_store->is_evictable(spec.data.train));
}

TEST_CASE("a job that could lock more of a stake than its owner allows gets no bid, and the log says so") {
    const VictimRole part = GENERATE(VictimRole::kMiner, VictimRole::kVerifier);
    CAPTURE(part == VictimRole::kMiner);
    LyingScene stage(part);
    // A low audit rate makes large bonds: (1,000 + 10,000) units times ten thousand.
    program::JobSpec spec = stage.spec_of("trap", std::nullopt);
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    const base::Hash256 trap = stage.post(spec);
    const base::Hash256 fair = stage.post(stage.spec_of("fair", std::nullopt));
    for (int i = 0; i < 6; ++i) stage.turn();
    INFO(stage.log.text());
    CHECK_FALSE(stage.bid_for(trap));
    CHECK(stage.said(trap.brief(), part == VictimRole::kMiner ? "--lock-slot allows" : "--lock allows"));
    CHECK(stage.bid_for(fair));
    if (part == VictimRole::kMiner) CHECK(stage.said(fair.brief(), "can lock up to"));
}

TEST_CASE("a buyer that is started again on another port says so on the ledger") {
    LyingScene stage(VictimRole::kBuyer);
    const auto jobs = [&] { return contracts::list_jobs(stage.chain->state()); };
    REQUIRE(jobs().size() == 1);
    CHECK(jobs()[0].buyer_endpoint == "127.0.0.1:2");
    stage.start("127.0.0.1:3");
    for (int i = 0; i < 3; ++i) stage.turn();
    REQUIRE(jobs().size() == 1);
    CHECK(jobs()[0].buyer_endpoint == "127.0.0.1:3");
}

TEST_CASE("a buyer whose job is in none of the blocks up to its start ends by name, and waits for nothing") {
    LyingScene stage(VictimRole::kBuyer);
    stage.serves = base::hash("assay/test", base::as_bytes("a job that somebody made up"));
    stage.may_end = true;
    stage.start("127.0.0.1:2");
    REQUIRE(stage.ended);
    CHECK(stage.ended->kind == base::ErrorKind::kVerification);
    CHECK(stage.ended->what.find(stage.serves->hex() + " is not on the ledger") != std::string::npos);
    CHECK_FALSE(stage.ended->fix.empty());
}

}  // namespace assay::node
