// SPDX-License-Identifier: Apache-2.0
// What `audit dispute`, `job show` and `payout explain` say of disputes, from the files of a home whose chain
// holds a lost game, a call of a verifier that vouched, and an open game.
#include <bit>

#include "contracts/dispute/cells.hpp"
#include "contracts/dispute/tree.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "node/cli/state_source.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/node/cli/env_home.hpp"

namespace assay::test {

using namespace contracts;
using namespace contracts::test;
using nlohmann::json;

namespace {

/// The gradient norm that the claimant's outputs show; the trace's fingerprint says another.
constexpr float kNorm = 5.0F;

class DisputedHome {
public:
    DisputedHome() : env_(params()) {
        for (const char* name : {"m1", "m2"}) env_.miner(name);
        for (const char* name : {"v1", "v2", "v3", "v4"}) env_.verifier(name);
        JobSpec spec = small_job();
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job_ = env_.post(spec);
        env_.hold_auction(job_, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_round(env_, job_);
        play_norm_game();
        const Game killer = game(0);
        const auto vouchers = vouchers_of(env_.state(), killer.claim_id(job_), killer.unit, killer.part);
        REQUIRE_FALSE(vouchers.empty());
        env_.send(env_.person("v4"), DisputeCall{job_, 0, killer.unit, killer.part, vouchers[0]});
        env_.send(env_.by_node(vouchers[0]), DisputeConcede{job_, 1});
        env_.send(env_.person("v4"),
                  DisputeOpen{job_, 0, ClaimKind::kSlot, 1, dispute::UnitKind::kUpdate, 0});
        env_.next_block();
        write_ledger(env_, cli_.home());
    }
    CliRun run(const std::vector<std::string>& words) const { return cli_(words); }
    [[nodiscard]] Game game(std::uint32_t number) const { return *read_game(env_.state(), job_, number); }
    [[nodiscard]] const Hash256& job() const { return job_; }
    [[nodiscard]] const Env& env() const { return env_; }
    /// Of step 2: what its trace says of the norm.
    [[nodiscard]] std::uint32_t claimed() const {
        return read_reveal(env_.with_evidence(), job_, 0, 0)->trace.fingerprints[step_].norm;
    }
    [[nodiscard]] std::uint32_t step() const { return step_; }
    [[nodiscard]] std::size_t witness_bytes() const { return witness_.size(); }

private:
    static Params params() {
        Params params = short_windows();
        params.claim_window = 40;
        params.dispute_move_window = 6;
        return params;
    }
    /// The miner of slot 0 lies about the norm of a step of segment 1.
    void play_norm_game() {
        env_.send(env_.person("v4"),
                  DisputeOpen{job_, 0, ClaimKind::kSlot, 0, dispute::UnitKind::kSegment, 1});
        Person& miner = env_.by_node(game(0).claimant);
        while (game(0).way.stage == dispute::WayStage::kStates) {
            std::vector<Hash256> states(dispute::wanted_hashes(game(0).way), bytes_of("state"));
            states.back() = game(0).way.end;
            env_.send(miner, DisputePost{job_, 0, states});
            env_.send(env_.person("v4"), DisputePick{job_, 0, {.index = 0, .end = std::nullopt}});
        }
        step_ = game(0).way.first;
        std::vector<Hash256> outputs(dispute::wanted_hashes(game(0).way), bytes_of("output"));
        const std::size_t at = norm_output();
        dispute::Cells norm = dispute::Cells::of({dispute::CellKind::kReal, 1});
        norm.real[0] = kNorm;
        outputs[at] = dispute::tile_hash(norm, 1);
        env_.send(miner, DisputePost{job_, 0, outputs});
        env_.send(env_.person("v4"), DisputePick{job_, 0, {.index = 0, .end = dispute::StepEnd::kNorm}});
        const auto put = [&](const auto& bytes) {
            witness_.insert(witness_.end(), bytes.begin(), bytes.end());
        };
        put(outputs[at].bytes);
        for (const Hash256& one : dispute::StoredTree(outputs).siblings(at)) put(one.bytes);
        put(dispute::encode_cells(norm));
        env_.send(miner, DisputeProve{job_, 0, witness_});
        REQUIRE(game(0).finding.reason == dispute::GameReason::kDiffers);
    }
    /// The number of the norm in the list of a step's outputs.
    [[nodiscard]] std::size_t norm_output() const {
        const JobSpec spec = env_.job(job_).spec;
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        std::size_t number = 0;
        for (const program::Operator& one : program.operators) {
            for (const program::TensorId id : one.outputs) {
                if (id == program.norm) return number;
                ++number;
            }
        }
        return number;
    }

    Cli cli_;
    Env env_;
    Hash256 job_;
    std::uint32_t step_ = 0;
    base::Bytes witness_;
};

const DisputedHome& home() {
    static const DisputedHome made;
    return made;
}

json must_run(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    const CliRun run = home().run(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return run.json();
}

std::string hex_bits(std::uint32_t bits) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", bits);
    return text;
}

std::string lost_words() {
    return "slot 0, round 0, segment 1, step " + std::to_string(home().step()) +
           ": the gradient norm of its fingerprint";
}

}  // namespace

TEST_CASE("audit dispute plays a finished game again from the files of a home") {
    const json audit = must_run({"audit", "dispute", home().job().hex() + "/0"});
    CHECK(audit.at("ok") == true);
    CHECK(audit.at("path").back() == lost_words());
    CHECK(audit.at("end") == "judged");
    CHECK(audit.at("referee") == "differs");
    CHECK(audit.at("claimed") == hex_bits(home().claimed()));
    CHECK(audit.at("computed") == hex_bits(std::bit_cast<std::uint32_t>(kNorm)));
    CHECK(home().run({"audit", "dispute", home().job().hex() + "/2"}).code == 3);
    CHECK(home().run({"audit", "dispute", home().job().hex()}).code == 2);
}

TEST_CASE(
    "wallet report bills what a disputed job spent, by the days of the blocks, and a lost game at zero") {
    const Job job = home().env().job(home().job());
    const json bill =
        must_run({"wallet", "report", "--key", job.buyer.hex(), "--by", "job,day,team", "--offline"});
    std::uint64_t spent = 0;
    bool lost = false;
    for (const json& line : bill.at("lines")) {
        CHECK(line.at("job") == home().job().hex());
        CHECK(line.at("day") == "1970-01-01");
        CHECK(line.at("member") == job.buyer.hex());
        const std::uint64_t amount = std::stoull(line.at("amount").get<std::string>());
        if (line.at("item") != "fee") spent += amount;
        if (line.at("item") == "slots" && line.at("reason") == "dispute_lost") {
            lost = true;
            CHECK(amount == 0);
            CHECK(line.at("segments") == 0);
        }
    }
    CHECK(lost);
    CHECK(spent == job.spent.units());
    CHECK(bill.at("totals").at("spent") == std::to_string(job.spent.units()));
}

TEST_CASE("comma-separated values are a form of the bill alone") {
    const std::string key = home().env().job(home().job()).buyer.hex();
    const CliRun csv = home().run({"wallet", "report", "--key", key, "--offline", "-o", "csv"});
    CHECK(csv.code == 0);
    CHECK(csv.out.starts_with("job,name,day,member,item,reason,count,segments,work_units,amount\r\n"));
    CHECK(csv.out.find(home().job().hex() + ",") != std::string::npos);
    const CliRun refused = home().run({"wallet", "show", "--key", key, "--offline", "-o", "csv"});
    CHECK(refused.code == 2);
    CHECK(refused.err.find("comma-separated") != std::string::npos);
}

TEST_CASE("job show lists a job's disputes, whose turn it is, and the longest that its terms allow") {
    const json job = must_run({"job", "show", home().job().hex(), "--offline"});
    const json longest = job.at("longest_dispute");
    CHECK(keys_of(longest) == std::set<std::string>{"moves", "bytes", "heights", "bond", "hours"});
    CHECK(longest.at("moves").get<int>() >= 5);
    // Blocks of 36 seconds.
    CHECK(longest.at("hours").get<double>() * 100 == Approx(longest.at("heights").get<double>()));
    const json disputes = job.at("disputes");
    REQUIRE(disputes.size() == 3);
    const json lost = disputes[0];
    CHECK(keys_of(lost) ==
          std::set<std::string>{"id",         "round",       "slot",         "segment", "step",
                                "operator",   "tile",        "term",         "moves",   "witness_bytes",
                                "referee_us", "challenger",  "loser",        "claimed", "computed",
                                "unit",       "words",       "claimant",     "called",  "opened_at",
                                "phase",      "turn",        "heights_left", "end",     "referee",
                                "ended_at",   "transaction", "bond",         "lost",    "to_winner",
                                "to_buyer",   "burned",      "returned"});
    const Game game = home().game(0);
    CHECK(lost.at("id") == home().job().hex() + "/0");
    CHECK(lost.at("slot") == 0);
    CHECK(lost.at("segment") == 1);
    CHECK(lost.at("step") == home().step());
    CHECK(lost.at("operator") == "the gradient norm of its fingerprint");
    CHECK(lost.at("tile").is_null());
    CHECK(lost.at("moves") == game.moves);
    CHECK(lost.at("witness_bytes") == home().witness_bytes());
    CHECK(lost.at("referee_us").get<double>() > 0);
    CHECK(lost.at("loser") == game.claimant.hex());
    CHECK(lost.at("challenger") == game.challenger.hex());
    CHECK(lost.at("claimed") == hex_bits(home().claimed()));
    CHECK(lost.at("computed") == hex_bits(std::bit_cast<std::uint32_t>(kNorm)));
    const auto units = [&](const char* name) { return std::stoull(lost.at(name).get<std::string>()); };
    CHECK(units("lost") == units("to_winner") + units("to_buyer") + units("burned"));
    CHECK(units("lost") == game.lost.units());
    CHECK(lost.at("transaction").get<std::string>().size() == 64);
    CHECK(disputes[1].at("called") == true);
    CHECK(disputes[1].at("end") == "conceded");
    CHECK(disputes[1].at("loser") == home().game(1).claimant.hex());
    CHECK(disputes[1].at("transaction") != lost.at("transaction"));
    CHECK(disputes[1].at("referee_us").is_null());
    CHECK(disputes[2].at("phase") == "running");
    CHECK(disputes[2].at("turn") == home().game(2).claimant.hex());
    CHECK(disputes[2].at("heights_left") == home().game(2).due - home().env().height());
    CHECK(disputes[2].at("loser").is_null());
    const std::string text = home().run({"job", "show", home().job().hex(), "--offline"}).out;
    CHECK(text.find("longest dispute") != std::string::npos);
    CHECK(text.find("judged, claimant lost") != std::string::npos);
    CHECK(text.find("claimant to move, ") != std::string::npos);
    CHECK(text.find(lost_words() + ": claimed " + hex_bits(home().claimed()) +
                    ", the operands give 0x40a00000") != std::string::npos);
}

TEST_CASE("payout explain tells a slot's disputes, and the calls of those who vouched, in sentences") {
    const auto explain = [&](const base::PublicKey& node) {
        const CliRun run =
            home().run({"payout", "explain", "--miner", node.hex(), "--round", "0", "--offline"});
        INFO(run.err);
        REQUIRE(run.code == 0);
        return run.out;
    };
    const Game lost = home().game(0);
    const Game called = home().game(1);
    const std::string brief = home().job().hex().substr(0, 8);
    const std::string miner = explain(lost.claimant);
    CHECK(miner.find("dispute " + brief + "/0:") != std::string::npos);
    CHECK(miner.find(lost.challenger.brief() + " challenged " + lost.claimant.brief() +
                     " over segment 1 of slot 0, round 0") != std::string::npos);
    CHECK(miner.find(lost_words() + ": claimed " + hex_bits(home().claimed()) +
                     ", the operands give 0x40a00000.") != std::string::npos);
    CHECK(miner.find("Judged by the ledger's own computation (differs), at height " +
                     std::to_string(lost.ended_at) + " in transaction ") != std::string::npos);
    CHECK(miner.find("The claimant " + lost.claimant.brief() + " lost " + base::to_text(lost.lost) + ": " +
                     base::to_text(lost.to_winner) + " to " + lost.challenger_owner.brief()) !=
          std::string::npos);
    CHECK(miner.find(base::to_text(lost.returned) + " of held pay went back to the job's escrow") !=
          std::string::npos);
    // The call of a voucher is about the same claim.
    const std::string call = called.challenger.brief() + " called " + called.claimant.brief();
    CHECK(miner.find(call) != std::string::npos);
    CHECK(miner.find(called.claimant.brief() + " conceded, at height") != std::string::npos);
    CHECK(miner.find("dispute " + brief + "/2:") == std::string::npos);
    // The challenger sees them all.
    const std::string challenger = explain(lost.challenger);
    for (const char* number : {"/0:", "/1:", "/2:"})
        CHECK(challenger.find("dispute " + brief + number) != std::string::npos);
    CHECK(challenger.find("Open: the claimant " + home().game(2).claimant.brief() + " is to move, ") !=
          std::string::npos);
    const json lines =
        must_run({"payout", "explain", "--miner", called.claimant.hex(), "--round", "0", "--offline"});
    CHECK(keys_of(lines) == std::set<std::string>{"schema", "lines", "disputes"});
    REQUIRE(lines.at("disputes").size() == 1);
    CHECK(lines.at("disputes")[0].at("called") == true);
}

TEST_CASE("of a node whose state has no traces any more the last block says what ended a game, and no time") {
    const auto chain_of = [](bool has_traces) {
        node::ChainSource chain;
        auto state = std::make_unique<MemoryState>();
        for (const auto& [key, value] : home().env().state().scan({})) state->put(key, value);
        if (!has_traces) state->erase(reveal_key(home().job(), 0, 0));
        chain.state = std::move(state);
        chain.height = home().env().height();
        chain.blocks = []() -> base::Outcome<ledger::BlockReader> {
            return ledger::BlockReader([](std::uint64_t height) -> base::Outcome<ledger::Block> {
                ledger::Block block;
                block.transactions = home().env().applied_at(height);
                block.header.time_ms = 250 * height;
                return block;
            });
        };
        return chain;
    };
    const node::ChainSource with = chain_of(true);
    const node::ChainSource without = chain_of(false);
    const Game game = home().game(0);
    const node::DisputeSources replayed = node::dispute_sources(with, home().job(), game, true);
    const node::DisputeSources read = node::dispute_sources(without, home().job(), game, true);
    CHECK(replayed.referee_us.has_value());
    CHECK_FALSE(read.referee_us.has_value());
    CHECK_FALSE(node::dispute_sources(with, home().job(), game, false).referee_us.has_value());
    REQUIRE(replayed.transaction.has_value());
    CHECK(read.transaction == replayed.transaction);
    CHECK_FALSE(node::dispute_sources(with, home().job(), home().game(2), true).transaction.has_value());
    CHECK(node::block_pace_ms(with) == 250.0);
    node::ChainSource silent = chain_of(true);
    silent.blocks = []() -> base::Outcome<ledger::BlockReader> {
        return base::fail(base::ErrorKind::kUnreachable, "nobody answers");
    };
    CHECK_FALSE(node::dispute_sources(silent, home().job(), game, true).transaction.has_value());
    CHECK_FALSE(node::block_pace_ms(silent).has_value());
}

}  // namespace assay::test
