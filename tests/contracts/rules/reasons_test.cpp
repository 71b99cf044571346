// SPDX-License-Identifier: Apache-2.0
// Reasons: frozen numbers, names and sentences, and a proof that each can be reached.
#include <algorithm>
#include <set>

#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/refusals.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("every reason has a name of its own, a sentence and a consequence") {
    std::set<std::string> names;
    for (const Reason reason : all_reasons()) {
        CHECK(names.insert(std::string(to_text(reason))).second);
        const std::string sentence(explain(reason));
        CHECK(sentence.back() == '.');
        CHECK((consequence(reason) == Consequence::kNothing) == (reason == Reason::kNone));
    }
}

TEST_CASE("numbers of reasons and transactions never move") {
    CHECK(static_cast<int>(Reason::kBadSignature) == 4);
    CHECK(static_cast<int>(Reason::kNonceUsed) == 13);
    CHECK(static_cast<int>(Reason::kNoSeal) == 42);
    CHECK(static_cast<int>(Reason::kPaid) == 43);
    CHECK(static_cast<int>(Reason::kSilentAfterDraw) == 62);
    CHECK(static_cast<int>(Reason::kMergeUnresolved) == 70);
    CHECK(static_cast<int>(Reason::kMergeDiverged) == 71);
    CHECK(static_cast<int>(Reason::kSenderBusy) == 74);
    CHECK(static_cast<int>(TxType::kTransfer) == 1);
    CHECK(static_cast<int>(TxType::kMergeOpen) == 21);
}

TEST_CASE("the number of a reason that went decodes to none") {
    for (const std::uint16_t number : {std::uint16_t{59}, std::uint16_t{60}, std::uint16_t{61}}) {
        CHECK(base::decode<Reason>(base::encode(number)).error() == base::DecodeError::kBadEnum);
        CHECK_FALSE(refusal_of(number).has_value());
    }
    CHECK(base::decode<Reason>(base::encode(std::uint16_t{58})).value() == Reason::kLinkWithheld);
    CHECK(base::decode<Reason>(base::encode(std::uint16_t{62})).value() == Reason::kSilentAfterDraw);
}

TEST_CASE("every refusal is permanent or temporary, and nothing else is either") {
    for (const Reason reason : all_reasons()) {
        CAPTURE(std::string(to_text(reason)));
        CHECK(retry(reason).has_value() == (consequence(reason) == Consequence::kRefused));
        CHECK(refusal_of(static_cast<std::uint32_t>(reason)) ==
              (retry(reason) ? std::optional(reason) : std::nullopt));
    }
    // A newer node's numbers are none of ours.
    CHECK_FALSE(refusal_of(static_cast<std::uint32_t>(all_reasons().back()) + 1).has_value());
    CHECK_FALSE(refusal_of(UINT32_MAX).has_value());
    CHECK_FALSE(refusal_of((1U << 16U) + static_cast<std::uint32_t>(Reason::kBadSpec)).has_value());
}

TEST_CASE("what waiting can mend is temporary, what it cannot is permanent") {
    for (const Reason reason : {Reason::kBadSpec, Reason::kBudgetTooSmall, Reason::kJobOver,
                                Reason::kAlreadyDone, Reason::kKeyTaken, Reason::kBadSignature}) {
        CHECK(retry(reason) == Retry::kNever);
    }
    for (const Reason reason : {Reason::kInsufficientBalance, Reason::kInsufficientStake,
                                Reason::kTooManyJobs, Reason::kWrongPhase, Reason::kUnknownSender}) {
        CHECK(retry(reason) == Retry::kWhenChanged);
    }
    for (const Reason reason : {Reason::kNonceUsed, Reason::kNonceGap, Reason::kNonceWaiting,
                                Reason::kExpired, Reason::kNodeBusy, Reason::kSenderBusy}) {
        CHECK(retry(reason) == Retry::kSoon);
    }
}

TEST_CASE("what was refused for lack of something is accepted once it is there, by the very same wish") {
    Env env;
    Person& poor = env.person("buyer");
    const Transfer all{env.person("other").owner_key(), amount(env.balance("buyer") + 5)};
    env.refuse(Reason::kInsufficientBalance, poor, all);
    env.send(env.person("other"), Transfer{poor.owner_key(), amount(5)});
    env.send(poor, all);
}

TEST_CASE("lists and rosters are bounded") {
    Env env;
    env.miner("m1");
    AuditOpen open;
    open.claims.resize(program::kMaxSlots + 1);
    env.refuse(Reason::kListTooLong, env.person("m1"), open);
    open.claims.resize(2);
    open.claims[0].roots.resize(kMaxClaims);
    open.claims[1].roots.resize(1);
    env.refuse(Reason::kListTooLong, env.person("m1"), open);
    RoundReveal reveal;
    reveal.trace.boundaries.resize(kMaxSegments + 2);
    env.refuse(Reason::kListTooLong, env.person("m1"), reveal);
    RoundServe serve;
    serve.starts.resize(kMaxSegments + 1);
    env.refuse(Reason::kListTooLong, env.person("m1"), serve);
    // The 65th verifier of one job.
    const Hash256 id = env.post(small_job());
    for (std::size_t i = 0; i <= kMaxVerifiers; ++i) {
        Person& who = env.person("crowd " + std::to_string(i));
        env.send(env.person("other"), Transfer{who.owner_key(), amount(50'000'000)});
        env.verifier(who.name, 20'000'000);
        const VerifierEnlist enlist = env.enlistment(who, id);
        if (i < kMaxVerifiers) {
            env.send(who, enlist);
        } else {
            env.refuse(Reason::kRosterFull, who, enlist);
        }
    }
}

TEST_CASE("as many jobs may run as the limit says, and no more") {
    // Reaching it by submissions takes minutes: the count of running jobs is set by hand.
    MemoryState state;
    Env env;
    env.post(small_job());
    for (const auto& [key, value] : env.state().scan({})) state.put(key, value);
    Meta meta = read_meta(state);
    REQUIRE(meta.active_jobs == 1);
    meta.active_jobs = kMaxActiveJobs;
    state.put(meta_key(), base::encode(meta));
    const Bytes bytes =
        env.sign(env.person("buyer"), JobSubmit{small_job(), env.person("buyer").node_key(), "h:1", {}});
    CHECK(apply_transaction(state, env.block(), bytes).reason == Reason::kTooManyJobs);
    reasons_met().insert(Reason::kTooManyJobs);
    --meta.active_jobs;
    state.put(meta_key(), base::encode(meta));
    CHECK(apply_transaction(state, env.block(), bytes).applied);
}

TEST_CASE("the tests before this one have met every reason") {
    // Stands last in the last file. A run of a few tests alone says nothing.
    if (reasons_met().size() < 50) {
        WARN("only a part of the tests ran");
        return;
    }
    // What a node says at its door: tests/ledger/engine_test.cpp meets those.
    const std::set<Reason> door{Reason::kNonceWaiting, Reason::kNodeBusy, Reason::kSenderBusy,
                                Reason::kTooCostly};
    for (const Reason reason : all_reasons()) {
        if (door.contains(reason)) continue;
        CAPTURE(std::string(to_text(reason)));
        CHECK(reasons_met().count(reason) == 1);
    }
}

}  // namespace assay::contracts::test
