// SPDX-License-Identifier: Apache-2.0
// Thousands of random moves, sensible and not, against independent bookkeeping: what each owner should
// hold is recomputed from events and settlement lines alone, and every invariant is checked at every step.
#include <array>
#include <random>

#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kMiners = {"m1", "m2", "m3", "m4"};
const std::vector<std::string> kVerifiers = {"v1", "v2", "v3", "v4"};

/// Money of one owner that is not tied up in somebody else's hands.
std::uint64_t holdings(Env& env, const std::string& name) { return env.balance(name) + env.stake(name); }

template <class Manner>
Manner pick(std::mt19937_64& random, int honest_of_ten, int manners) {
    if (static_cast<int>(random() % 10) < honest_of_ten) return static_cast<Manner>(0);
    return static_cast<Manner>(random() % static_cast<unsigned>(manners));
}

Play random_play(std::mt19937_64& random) {
    Play play;
    for (const auto& name : kMiners) play.miners[name] = pick<MinerManner>(random, 7, 7);
    for (const auto& name : kVerifiers) {
        play.verifiers[name] = pick<VerifierManner>(random, 7, 7);
        play.mergers[name] = pick<MergeManner>(random, 8, 4);
        play.holders[name] = pick<HolderManner>(random, 8, 3);
        if (random() % 12 == 0) play.withhold_links.push_back(name);
    }
    if (random() % 12 == 0) play.withhold_links.push_back("buyer");
    if (random() % 8 == 0) play.lost_updates.push_back(static_cast<std::uint32_t>(random() % 4));
    return play;
}

/// What settlement lines and games say that a party gained, less what they say that it lost; without the fees
/// of those who accused dead claims.
std::int64_t gain_by_lines(const Env& env, const Hash256& job, const PublicKey& owner) {
    std::int64_t gain = 0;
    const auto record = read_job(env.whole(), job);
    for (std::uint32_t round = 0; round <= record->round; ++round) {
        for (const SettlementLine& line : list_settlement(env.whole(), job, round)) {
            if (line.owner == owner) {
                gain += static_cast<std::int64_t>(line.paid.units());
                gain -= static_cast<std::int64_t>(line.lost.units());
            }
        }
    }
    for (const Game& game : list_games(env.whole(), job)) {
        const bool claimant = game.claimant_owner == owner;
        if (game.claimant_lost ? claimant : game.challenger_owner == owner)
            gain -= static_cast<std::int64_t>(game.lost.units());
        if (game.claimant_lost ? game.challenger_owner == owner : claimant)
            gain += static_cast<std::int64_t>(game.to_winner.units());
        // The pay of a dead claim, which its line says was earned.
        if (claimant) gain -= static_cast<std::int64_t>(game.returned.units());
    }
    return gain;
}

/// All that one move is made of: what is done, by whom, to whom, with how much.
using MoveWords = std::array<std::uint64_t, 8>;

/// One ledger, and whatever anybody sends to it. The rules check their invariants behind every move.
class RandomMoves {
public:
    RandomMoves() {
        for (const auto& name : kMiners) env_.miner(name, 1'000'000'000);
        for (const auto& name : kVerifiers) env_.verifier(name, 1'000'000'000);
    }

    [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }

    /// True: it was a transaction, and the rules applied it.
    bool play(const MoveWords& words) {
        const auto& [kind, by, to, how_much, which, in_round, luck, budget] = words;
        const Hash256 job = jobs_[which % 3 == 0 ? which / 3 % jobs_.size() : jobs_.size() - 1];
        const auto round = static_cast<std::uint32_t>(in_round % 2);
        Person& who = someone(by);
        const Amount some = amount(how_much >> (3 + luck % 61));
        switch (kind % 14) {
            case 0: return sent(who, Transfer{someone(to).owner_key(), some});
            case 1: return sent(who, StakeDeposit{who.node_key(), some});
            case 2: return sent(who, StakeWithdraw{who.node_key(), some});
            case 3:
                return sent(
                    who, AskCommit{job, ask_seal(env_.chain(), job, who.node_key(), amount(5), who.secret)});
            case 4: return sent(who, AskReveal{job, amount(5), who.secret});
            case 5: return sent(who, VerifierEnlist{job, chain_tip(who.secret, 3), amount(20'000'000)});
            case 6:
                return sent(who,
                            RoundCommit{job, round, static_cast<std::uint32_t>(luck % 3), bytes_of("seal")});
            case 7: return sent(who, BeaconOpen{job, round, chain_link(who.secret, 3, round)});
            case 8: return sent(who, AuditSeal{job, round, Stage::kPanel, bytes_of("seal"), {}});
            case 9: return sent(who, MergeSeal{job, round, bytes_of("seal")});
            case 10: return luck % 8 == 0 && sent(who, JobCancel{job});
            case 11: return luck % 4 == 0 && submit(amount(100'000 + budget % 1'000'000));
            case 12: return luck % 3 == 0 && miss_deadlines(job);
            default: env_.next_block(); return false;
        }
    }

private:
    Person& someone(std::uint64_t word) {
        static const std::vector<std::string> kEveryone = {"m1", "m2", "m3",    "m4",    "v1",       "v2",
                                                           "v3", "v4", "buyer", "other", "sequencer"};
        return env_.person(kEveryone[word % kEveryone.size()]);
    }
    template <class Message>
    bool sent(Person& who, const Message& message) {
        return env_.attempt(who, message).applied;
    }
    bool submit(Amount budget) {
        JobSpec spec = small_job();
        spec.market.budget = budget;
        Person& buyer = env_.person("buyer");
        const ApplyOutcome outcome =
            env_.attempt(buyer, JobSubmit{spec, buyer.node_key(), "h:1", chain_tip(buyer.secret, 3)});
        if (outcome.applied) jobs_.push_back(job_id(outcome.id));
        if (!read_node_key(env_.state(), buyer.node_key())) jobs_.push_back(env_.post(small_job()));
        return outcome.applied;
    }
    /// A round in which nobody posts anything, or a part of one.
    bool miss_deadlines(const Hash256& job) {
        const auto record = read_job(env_.whole(), job);
        if (!record || record->phase != JobPhase::kRounds) return false;
        if (env_.round(job).phase != RoundPhase::kCommit) return false;
        for (int i = 0; i < 3 && env_.job(job).phase == JobPhase::kRounds; ++i) env_.let_deadline_pass();
        return false;
    }

    Env env_;
    std::vector<Hash256> jobs_ = {bytes_of("no job")};
};

}  // namespace

TEST_CASE("in random jobs every owner ends with what settlement lines and games say") {
    tests::check_property(12, [] {
        std::mt19937_64 random(*tests::any_word());
        Params params = short_windows();
        params.miner_fee = amount(0);  // its return after probation is no line
        if (random() % 2 == 0) params.probation_rounds = 0;
        Env env(params);
        for (const auto& name : kMiners) env.miner(name);
        for (const auto& name : kVerifiers) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = static_cast<std::uint32_t>(1 + random() % 4);
        spec.rounds = static_cast<std::uint32_t>(1 + random() % 5);
        if (random() % 2 == 0) spec.security.audit_threshold = UINT64_MAX / 3;
        const std::uint64_t buyer_before = env.balance("buyer");
        const Hash256 id = env.post(spec);
        std::map<std::string, std::uint64_t> asks;
        for (const auto& name : kMiners) asks[name] = random() % 900;
        std::map<std::string, std::uint64_t> before;
        for (const auto& names : {kMiners, kVerifiers}) {
            for (const auto& name : names) before[name] = holdings(env, name);
        }
        env.hold_auction(id, asks, kVerifiers);
        while (is_running(env, id)) {
            const Play play = random_play(random);
            const std::uint32_t round = env.job(id).round;
            play_round(env, id, play);
            play_accusations(env, id, round, play);
        }
        play_job(env, id);  // the windows
        const Job job = env.job(id);
        RC_ASSERT(consequence(job.end_reason) == Consequence::kJobEnded);
        std::int64_t fees = 0;  // of those who accused dead claims: no record says which of them had how much
        std::uint64_t to_buyer = 0;
        for (const Game& game : list_games(env.whole(), id)) {
            fees += static_cast<std::int64_t>(game.fees.units());
            to_buyer += game.to_buyer.units();
        }
        for (const auto& [name, held] : before) {
            const std::int64_t gained =
                static_cast<std::int64_t>(holdings(env, name)) - static_cast<std::int64_t>(held);
            const std::int64_t recorded = gain_by_lines(env, id, env.person(name).owner_key());
            if (name.starts_with('m')) RC_ASSERT(gained == recorded);
            fees -= gained - recorded;
        }
        RC_ASSERT(fees == 0);
        std::uint64_t penalties = 0;
        std::uint64_t links = 0;  // the buyer's link bond
        for (std::uint32_t round = 0; round < job.round; ++round) {
            for (const SettlementLine& line : list_settlement(env.whole(), id, round)) {
                to_buyer += line.lost_to_buyer.units();
                penalties += line.lost_to_escrow.units();
                if (line.owner == env.person("buyer").owner_key()) links += line.lost.units();
            }
        }
        const std::uint64_t fee = job_fee(params, spec)->units();
        RC_ASSERT(env.balance("buyer") ==
                  buyer_before + to_buyer + penalties - links - fee - job.spent.units());
    });
}

TEST_CASE(
    "no honest miner or verifier loses anything to hostile miners, one hostile verifier and bad networks") {
    tests::check_property(10, [] {
        std::mt19937_64 random(*tests::any_word());
        Params params = short_windows();
        params.probation_rounds = 0;
        Env env(params);
        for (const auto& name : kMiners) env.miner(name);
        for (const auto& name : kVerifiers) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = 4;
        spec.security.audit_threshold = UINT64_MAX / 3;
        const Hash256 id = env.post(spec);
        env.hold_auction(id, {{"m1", 1}, {"m2", 2}, {"m3", 3}, {"m4", 4}}, kVerifiers);
        while (is_running(env, id)) {
            Play play;
            for (const char* name : {"m2", "m3", "m4"}) play.miners[name] = pick<MinerManner>(random, 4, 7);
            play.verifiers["v1"] = pick<VerifierManner>(random, 2, 7);
            play.mergers["v1"] = pick<MergeManner>(random, 5, 4);
            play.holders["v1"] = pick<HolderManner>(random, 5, 3);
            // Some of the honest are not served, whoever the miner is.
            for (const char* name : {"v2", "v3", "v4"})
                if (random() % 3 == 0) play.verifiers[name] = VerifierManner::kUnserved;
            const std::uint32_t round = env.job(id).round;
            play_round(env, id, play);
            play_accusations(env, id, round, play);
        }
        play_job(env, id);  // the windows
        for (const char* name : {"m1", "v2", "v3", "v4"}) RC_ASSERT(env.stake(name) == kPlenty);
        for (std::uint32_t round = 0; round < env.job(id).round; ++round) {
            for (const SettlementLine& line : list_settlement(env.whole(), id, round)) {
                if (line.node != env.person("m1").node_key()) continue;
                RC_ASSERT((line.reason == Reason::kPaid || line.reason == Reason::kPaidAccused));
            }
        }
        for (const Game& game : list_games(env.whole(), id))
            RC_ASSERT((!game.claimant_lost || game.claimant != env.person("m1").node_key()));
    });
}

TEST_CASE("thousands of random moves keep every invariant, and refused ones change nothing") {
    int applied = 0;
    std::size_t jobs = 0;
    constexpr int kCases = 12, kMoves = 250;
    tests::check_property(kCases, [&] {
        RandomMoves game;
        const auto one = rc::gen::container<MoveWords>(tests::any_word());
        for (const MoveWords& words : *rc::gen::container<std::vector<MoveWords>>(kMoves, one))
            applied += game.play(words) ? 1 : 0;
        jobs += game.jobs();
    });
    CHECK(applied > kCases * kMoves / 20);
    CHECK(jobs > 2 * kCases);
}

}  // namespace assay::contracts::test
