// SPDX-License-Identifier: Apache-2.0
// Attacks on what the rules promise, each played as the attacker would: stake that comes and goes, jobs that
// are traps, words sealed and not opened, good names from work that nobody needed, ties that are ground.
#include <algorithm>
#include <set>

#include "contracts/program/program.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/job/auction.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kPanel = {"v1", "v2", "v3"};

/// One miner in one slot, three verifiers, played up to the opened traces.
struct SoundnessWorld {
    Env env;
    Hash256 job;
    JobSpec terms;
    Params rules;

    explicit SoundnessWorld(const JobSpec& spec = one_slot(), const Params& params = short_windows())
        : env(params), terms(spec), rules(params) {
        begin(1);
    }
    void begin(std::uint64_t seed) {
        env = Env(rules);
        JobSpec spec = terms;
        spec.seed = seed;
        env.miner("m1", 50 * kPlenty);
        for (const std::string& name : kPanel) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}}, kPanel);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    static JobSpec one_slot() {
        JobSpec spec = small_job();
        spec.slots = 1;
        return spec;
    }
    /// To the audits of the first job whose beacon draws two for slot 0: these.
    std::vector<std::string> play_to_audit(const Play& play = {}) {
        std::vector<PublicKey> drawn;
        for (std::uint64_t seed = 1; drawn.size() != 2; ++seed) {
            REQUIRE(seed < 100);
            begin(seed);
            play_commits(env, job, play);
            play_links(env, job, play);
            drawn = read_slot(env.whole(), job, 0, 0)->verifiers;
        }
        play_serves(env, job, play);
        std::vector<std::string> pair;
        for (const PublicKey& node : drawn) pair.push_back(env.by_node(node).name);
        return pair;
    }
    void finish(const Play& play) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
        REQUIRE(read_round(env.whole(), job, 0)->phase == RoundPhase::kSettled);
    }
};

/// Everyone drawn in the whole job, in order.
std::vector<PublicKey> drawn_in(const Env& env, const Hash256& job) {
    std::vector<PublicKey> drawn;
    for (std::uint32_t round = 0; round < env.job(job).round; ++round) {
        for (const SlotRound& slot : list_slots(env.whole(), job, round))
            drawn.insert(drawn.end(), slot.verifiers.begin(), slot.verifiers.end());
        const Round record = *read_round(env.whole(), job, round);
        for (const MergePosting& posting : record.merges) drawn.push_back(posting.verifier);
    }
    return drawn;
}

/// A miner holds every slot of a job that its own owner or another posts.
void work_off(Env& env, const JobSpec& spec, const std::string& buyer) {
    const Hash256 job = env.post(spec, buyer);
    env.hold_auction(job, {{"m1", 1}}, kPanel);
    REQUIRE(env.job(job).phase == JobPhase::kRounds);
    play_job(env, job);
    REQUIRE(env.job(job).end_reason == Reason::kJobComplete);
}

/// As little work as a slot can be: one unit.
JobSpec one_unit_job(std::uint32_t slots) {
    JobSpec spec = small_job();
    spec.name = "tiny";
    spec.slots = slots;
    spec.rounds = 1;
    spec.train.inner_steps = 1;
    spec.train.batch = 1;
    spec.security.segment_steps = 1;
    return spec;
}

bool is_newcomer_in(Env& env, const JobSpec& spec) {
    const Hash256 job = env.post(spec, "buyer");
    env.hold_auction(job, {{"m1", 1}}, kPanel);
    const bool newcomer = read_slot(env.whole(), job, 0, 0)->newcomer;
    play_job(env, job);
    return newcomer;
}

}  // namespace

TEST_CASE("stake deposited just before the beacon opens weighs nothing in the draw") {
    std::vector<PublicKey> drawn[2];
    for (const bool attacked : {false, true}) {
        JobSpec spec = small_job();
        spec.slots = 4;
        SoundnessWorld w(spec);
        while (w.env.job(w.job).phase == JobPhase::kRounds) {
            w.env.next_block();
            play_commits(w.env, w.job, {});
            Person& v1 = w.env.person("v1");
            // Thirty times the stake of the others, for as long as the draw takes.
            if (attacked) w.env.send(v1, StakeDeposit{v1.node_key(), amount(30 * kPlenty)});
            play_links(w.env, w.job, {});
            if (attacked) w.env.send(v1, StakeWithdraw{v1.node_key(), amount(30 * kPlenty)});
            play_verdicts(w.env, w.job, {});
            play_merges(w.env, w.job, {});
        }
        drawn[attacked ? 1 : 0] = drawn_in(w.env, w.job);
    }
    REQUIRE(drawn[0].size() >= 6);
    CHECK(drawn[0] == drawn[1]);
}

TEST_CASE("a verifier weighs what it locked, and less after a penalty, and locks at least one penalty") {
    Params params = short_windows();
    params.probation_rounds = 0;
    JobSpec spec = SoundnessWorld::one_slot();
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    Env env(params);
    env.miner("m1", 50 * kPlenty);
    for (const std::string& name : kPanel) env.verifier(name);
    const Hash256 job = env.post(spec);
    const auto least = env.enlistment(env.person("v1"), job).stake;
    env.enlist("v1", job, least.units());
    env.enlist("v2", job, 10 * least.units());
    env.enlist("v3", job, 10 * least.units());
    env.hold_auction(job, {{"m1", 500}}, {});
    const auto weight = [&](const std::string& name) {
        for (const Judge& judge : env.round(job).judges)
            if (judge.node == env.person(name).node_key()) return judge.weight.units();
        return std::uint64_t{0};
    };
    CHECK(weight("v1") == least.units());
    CHECK(weight("v2") == 10 * least.units());
    const std::uint64_t bond = read_slot(env.whole(), job, 0, 0)->bond.units();
    CHECK(least.units() >= bond / 2);
    const Play play = {.verifiers = {{"v2", VerifierManner::kSealsOnly}}};
    while (env.job(job).phase == JobPhase::kRounds && weight("v2") == 10 * least.units())
        play_round(env, job, play);
    REQUIRE(env.job(job).phase == JobPhase::kRounds);
    const Job record = env.job(job);
    const auto lost = accusation_stake(params, record.auction.clearing_price, record.slot_work);
    REQUIRE(lost.has_value());
    CHECK(weight("v2") == 10 * least.units() - lost->units());
    CHECK(weight("v3") == 10 * least.units());
}

TEST_CASE("a job whose gain bound dwarfs its pay is refused") {
    Env env;
    env.post(small_job());
    Person& buyer = env.person("buyer");
    JobSpec trap = small_job();
    trap.name = "trap";
    trap.security.gain_bound = amount(60 * kPlenty / 100);
    const auto outcome =
        env.attempt(buyer, JobSubmit{trap, buyer.node_key(), "h:1", chain_tip(buyer.secret, trap.rounds)});
    CHECK(outcome.reason == Reason::kGainBoundTooHigh);
    const Params params = read_current_params(env.state());
    const auto highest = gain_bound_max(params, trap.market.max_price, program::work_units(trap));
    REQUIRE(highest.has_value());
    trap.security.gain_bound = amount(highest->units() + 1);
    CHECK(quote_job(params, trap).error() == Reason::kGainBoundTooHigh);
    trap.security.gain_bound = *highest;
    CHECK(quote_job(params, trap).ok());
}

TEST_CASE("a cap far above what is paid makes no bond a trap") {
    Params params = short_windows();
    params.probation_rounds = 0;
    Env env(params);
    env.miner("m1", 50 * kPlenty);
    for (const std::string& name : kPanel) env.verifier(name);
    JobSpec spec = SoundnessWorld::one_slot();
    const std::uint64_t work = program::work_units(spec);
    spec.security.audit_threshold = UINT64_MAX;
    spec.market.max_price = amount(100'000);
    spec.market.budget = amount(100 * round_cost(params, spec, spec.market.max_price, work)->units());
    spec.security.gain_bound = *gain_bound_max(params, spec.market.max_price, work);
    // Cheap asks that the buyer could make itself: the second sets the price of the first.
    env.miner("m2", kPlenty);
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 9}, {"m2", 10}}, kPanel);
    REQUIRE(env.job(job).auction.clearing_price == amount(10));
    const std::uint64_t pay = 10 * work;
    // Of 81 panels 68 do not collude, and of a bond six tenths are burned.
    CHECK(read_slot(env.whole(), job, 0, 0)->bond.units() * 68 / 81 * 6 / 10 == 21 * pay);
}

// To seal something and open it only where it agrees with others is a bet: it loses as much as a lie that is
// found, and so does whoever waits with its seal.
TEST_CASE("an audit that is not sealed, or kept closed, costs exactly what a lost accusation costs, burned") {
    const bool newcomer = GENERATE(true, false);
    CAPTURE(newcomer);
    Params params = short_windows();
    if (!newcomer) params.probation_rounds = 0;
    params.verifier_penalty = amount(1);  // so that what is at stake counts, and not the least
    const JobSpec spec = SoundnessWorld::one_slot();
    SoundnessWorld liar(spec, params);
    const std::string accuser = liar.play_to_audit()[0];
    liar.finish({.verifiers = {{accuser, VerifierManner::kLies}}});
    liar.env.advance_to(read_claim(liar.env.state(), {liar.job, 0, ClaimKind::kSlot, 0})->accuse_by);
    const auto games = list_games(liar.env.state(), liar.job);
    REQUIRE(games.size() == 1);
    REQUIRE_FALSE(games[0].claimant_lost);
    for (const VerifierManner manner : {VerifierManner::kSealsOnly, VerifierManner::kAbsent}) {
        CAPTURE(static_cast<int>(manner));
        SoundnessWorld w(spec, params);
        const auto pair = w.play_to_audit();
        const std::uint64_t stake = w.env.stake(pair[0]);
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, 0);
        REQUIRE(slot.newcomer == newcomer);
        w.finish({.verifiers = {{pair[0], manner}}});
        CHECK(read_slot(w.env.whole(), w.job, 0, 0)->verdict == Reason::kPaid);
        const auto line = line_of(w.env, w.job, 0, LineKind::kAudit, pair[0]);
        CHECK(line.reason ==
              (manner == VerifierManner::kAbsent ? Reason::kAuditSilent : Reason::kAuditUnopened));
        CHECK(line.paid.is_zero());
        CHECK(line.lost == games[0].lost);
        const Job job = w.env.job(w.job);
        CHECK(line.lost.units() == 2 * slot_pay(job.auction.clearing_price, job.slot_work)->units());
        // Whoever orders blocks can bring silence about: it pays nobody.
        CHECK(line.lost == line.lost_burned);
        CHECK(stake - w.env.stake(pair[0]) == line.lost.units());
    }
}

TEST_CASE("a verifier that is silent about many slots loses what it locked for the job and no more") {
    JobSpec spec = small_job();
    spec.slots = 16;
    Env env;
    env.miner("m1", 50 * kPlenty);
    for (const std::string& name : kPanel) env.verifier(name);
    const Hash256 job = env.post(spec);
    const auto least = env.enlistment(env.person("v1"), job).stake;
    env.enlist("v1", job, least.units());
    env.hold_auction(job, {{"m1", 500}}, {"v2", "v3"});
    play_round(env, job, {.verifiers = {{"v1", VerifierManner::kAbsent}}});
    const Job record = env.job(job);
    const Amount each =
        accusation_stake(env.params(), record.auction.clearing_price, record.slot_work).value();
    std::uint64_t lost = 0;
    std::uint64_t lines = 0;
    for (const SettlementLine& line : list_settlement(env.whole(), job, 0)) {
        if (line.kind != LineKind::kAudit) continue;
        const bool silent = line.node == env.person("v1").node_key();
        CHECK(line.lost.units() == (silent ? std::min(each.units(), least.units() - lost) : 0));
        lost += line.lost.units();
        lines += silent ? 1 : 0;
    }
    REQUIRE(lines * each.units() > least.units());
    CHECK(lost == least.units());
    const auto gone = std::find_if(record.verifiers.begin(), record.verifiers.end(),
                                   [&](const auto& one) { return one.node == env.person("v1").node_key(); });
    REQUIRE(gone != record.verifiers.end());
    CHECK(gone->bond.is_zero());
    CHECK(gone->dropped);
}

TEST_CASE("a merge that is sealed and not opened costs a part of the dearest slot's bond, burned") {
    SoundnessWorld w;
    w.play_to_audit();
    const Amount bond = read_slot(w.env.whole(), w.job, 0, 0)->bond;
    w.finish({.mergers = {{"v1", MergeManner::kSealsOnly}}});
    CHECK(read_round(w.env.whole(), w.job, 0)->merged);
    const auto line = line_of(w.env, w.job, 0, LineKind::kMerge, "v1");
    CHECK(line.reason == Reason::kMergeUnopened);
    CHECK(line.lost == word_penalty(w.rules, bond));
    CHECK(line.lost == line.lost_burned);
}

TEST_CASE("a penalty grows with the dearest bond of the round whose merge was not opened") {
    Params params = short_windows();
    params.probation_rounds = 0;
    JobSpec spec = SoundnessWorld::one_slot();
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    SoundnessWorld w(spec, params);
    w.play_to_audit();
    const std::uint64_t bond = read_slot(w.env.whole(), w.job, 0, 0)->bond.units();
    REQUIRE(bond > 10 * params.verifier_penalty.units());
    w.finish({.mergers = {{"v1", MergeManner::kSealsOnly}}});
    const auto line = line_of(w.env, w.job, 0, LineKind::kMerge, "v1");
    CHECK(line.reason == Reason::kMergeUnopened);
    CHECK(line.lost.units() >= bond / 4);
}

TEST_CASE("256 one-unit slots of one's own job end no probation and bring no fee back") {
    Params params = short_windows();
    params.probation_rounds = 20;
    params.miner_fee = amount(10'000'000);
    Env env(params);
    env.miner("m1", 50 * kPlenty);
    for (const std::string& name : kPanel) env.verifier(name);
    work_off(env, one_unit_job(256), "m1");
    const Miner miner = *read_miner(env.state(), env.person("m1").node_key());
    std::uint64_t used = 0;
    for (const Job& job : list_jobs(env.whole())) {
        for (const SettlementLine& line : list_settlement(env.whole(), job.id, 0))
            used += line.from_prepaid.units();
    }
    CHECK(miner.prepaid.units() == params.miner_fee.units() - used);
    CHECK(used < params.miner_fee.units());
    // Neither in a job of that size nor in a larger one.
    CHECK(is_newcomer_in(env, one_unit_job(1)));
    CHECK(is_newcomer_in(env, SoundnessWorld::one_slot()));
}

TEST_CASE("a good name among small slots is none among large ones") {
    Params params = short_windows();
    params.probation_rounds = 20;
    Env env(params);
    env.miner("m1", 50 * kPlenty);
    for (const std::string& name : kPanel) env.verifier(name);
    work_off(env, one_unit_job(20), "other");
    CHECK_FALSE(is_newcomer_in(env, one_unit_job(1)));
    CHECK(is_newcomer_in(env, SoundnessWorld::one_slot()));
}

TEST_CASE("a newcomer's last audits are paid from its fee before what is left comes back") {
    Params params = short_windows();
    params.probation_rounds = 1;
    SoundnessWorld w(SoundnessWorld::one_slot(), params);
    play_round(w.env, w.job);
    std::uint64_t used = 0;
    for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0)) {
        if (line.kind != LineKind::kAudit) continue;
        CHECK(line.reason == Reason::kPaidAudit);
        CHECK(line.from_escrow.is_zero());
        used += line.from_prepaid.units();
    }
    REQUIRE(used > 0);
    // The rest came back in the same round.
    CHECK(read_miner(w.env.state(), w.env.person("m1").node_key())->prepaid.is_zero());
    CHECK_FALSE(read_slot(w.env.whole(), w.job, 1, 0)->newcomer);
}

TEST_CASE("a key that is ground once the job is known wins no tie") {
    // A hundred keys for each job, by the formula of the rules; what no one knows while asks are sealed are
    // the others' salts.
    int won = 0;
    constexpr int kJobs = 24;
    for (int i = 0; i < kJobs; ++i) {
        Env env;
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const std::string& name : kPanel) env.verifier(name);
        JobSpec spec = SoundnessWorld::one_slot();
        spec.name = "job " + std::to_string(i);
        const Hash256 job = env.post(spec);
        std::string best;
        Hash256 lowest;
        for (int g = 0; g < 100; ++g) {
            const std::string name = "ground " + std::to_string(g);
            const PublicKey node = env.person(name).node_key();
            Ask own;
            own.miner = node;
            own.salt = env.person(name).secret;
            own.revealed = true;
            const Hash256 tie =
                base::Hasher("assay/ask-tie/v2").add(tie_seed(job, {own})).add(node.view()).finish();
            if (best.empty() || tie < lowest) {
                best = name;
                lowest = tie;
            }
        }
        env.send(env.person("other"), Transfer{env.person(best).owner_key(), amount(2 * kPlenty)});
        env.miner(best);
        env.hold_auction(job, {{"m1", 500}, {"m2", 500}, {"m3", 500}, {best, 500}}, kPanel);
        REQUIRE(env.job(job).roster.size() == 1);
        if (env.job(job).roster[0].node == env.person(best).node_key()) ++won;
    }
    // One of four who ask alike wins a quarter, not all.
    CHECK(won < kJobs / 2);
}

TEST_CASE("who wins a tie is not known before the last ask is opened") {
    // The same keys, prices and salts; only the last revealed salt differs.
    std::set<PublicKey> winners;
    for (int i = 0; i < 16; ++i) {
        Env env;
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const std::string& name : kPanel) env.verifier(name);
        const Hash256 job = env.post(SoundnessWorld::one_slot());
        for (const std::string& name : kPanel) env.person(name).secret = bytes_of("secret " + name);
        env.person("m2").secret = bytes_of("salt " + std::to_string(i));
        env.hold_auction(job, {{"m1", 500}, {"m2", 500}}, kPanel);
        winners.insert(env.job(job).roster.at(0).node);
    }
    CHECK(winners.size() == 2);
}

TEST_CASE("a job that its buyer cannot pay is refused before its program is built") {
    Env env;
    env.post(small_job());
    Person& buyer = env.person("buyer");
    JobSpec spec = small_job();
    spec.name = "beyond";
    spec.market.budget = amount(1'000 * kPlenty);
    spec.security.audit_threshold = 1;  // with the program: a bond of 2^64 times the pay
    env.refuse(Reason::kInsufficientBalance, buyer,
               JobSubmit{spec, buyer.node_key(), "h:1", chain_tip(buyer.secret, spec.rounds)});
}

}  // namespace assay::contracts::test
