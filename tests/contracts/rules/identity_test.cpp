// SPDX-License-Identifier: Apache-2.0
// Keys, nonces, signatures, stake, genesis: who may do what.
#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/seals.hpp"
#include "contracts/rules/state/limits.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("a transfer moves money and uses one nonce") {
    Env env;
    const std::uint64_t before = env.balance("buyer");
    env.send(env.person("buyer"), Transfer{env.person("other").owner_key(), amount(5)});
    CHECK(env.balance("buyer") == before - 5);
    CHECK(env.balance("other") == before + 5);
    CHECK(next_nonce(env.state(), env.person("buyer").owner_key()) == 1);
    env.send(env.person("buyer"), Transfer{env.person("buyer").owner_key(), amount(before - 5)});
    CHECK(env.balance("buyer") == before - 5);
    env.refuse(Reason::kInsufficientBalance, env.person("buyer"),
               Transfer{env.person("other").owner_key(), amount(before)});
    env.refuse(Reason::kZeroAmount, env.person("buyer"),
               Transfer{env.person("other").owner_key(), amount(0)});
}

TEST_CASE("nonces are strictly next") {
    Env env;
    Person& buyer = env.person("buyer");
    const auto with_nonce = [&](std::uint64_t nonce, std::uint64_t expiry = 1000) {
        const TxBody body{buyer.owner_key(), nonce, expiry,
                          Transfer{env.person("other").owner_key(), amount(1)}};
        return env.hand_in(sign_transaction(body, buyer.owner, env.chain())).reason;
    };
    CHECK(with_nonce(1) == Reason::kNonceGap);
    CHECK(with_nonce(0) == Reason::kNone);
    CHECK(with_nonce(0) == Reason::kNonceUsed);
    CHECK(with_nonce(2) == Reason::kNonceGap);
    env.advance_to(10);
    CHECK(with_nonce(1, 9) == Reason::kExpired);
    CHECK(with_nonce(1, 10) == Reason::kNone);
    CHECK(with_nonce(UINT64_MAX) == Reason::kNonceGap);
}

TEST_CASE("a transaction of one chain is nothing on another") {
    Env here;
    Env there(short_windows(), "other-chain");
    const Bytes bytes =
        here.sign(here.person("buyer"), Transfer{here.person("other").owner_key(), amount(5)});
    CHECK(there.hand_in(bytes).reason == Reason::kBadSignature);
    CHECK(here.hand_in(bytes).applied);
    CHECK(here.hand_in(bytes).reason == Reason::kNonceUsed);
}

TEST_CASE("bytes that are no transaction are refused before the state is looked at") {
    Env env;
    const Bytes good = env.sign(env.person("buyer"), Transfer{env.person("other").owner_key(), amount(5)});
    CHECK(env.hand_in({}).reason == Reason::kMalformed);
    CHECK(env.hand_in(Bytes(kMaxTransactionBytes + 1)).reason == Reason::kTooLarge);
    for (std::size_t i = 0; i < good.size(); ++i) {
        Bytes bad = good;
        bad[i] ^= 1;
        const Reason reason = env.hand_in(bad).reason;
        CHECK(reason != Reason::kNone);
        CHECK(static_cast<int>(reason) <= static_cast<int>(Reason::kBadSignature));
        CHECK(env.hand_in(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i))).reason ==
              Reason::kMalformed);
    }
    Bytes longer = good;
    longer.push_back(0);
    CHECK(env.hand_in(longer).reason == Reason::kMalformed);
    // A type that does not exist.
    auto tx = base::decode<SignedTransaction>(good).value();
    tx.body[0] = 200;
    CHECK(env.hand_in(base::encode(tx)).reason == Reason::kUnknownType);
}

TEST_CASE("the id of a transaction does not depend on its signature") {
    Env env;
    const Bytes bytes = env.sign(env.person("buyer"), Transfer{env.person("other").owner_key(), amount(5)});
    const auto tx = base::decode<SignedTransaction>(bytes).value();
    CHECK(env.hand_in(bytes).id == transaction_id(tx.body));
}

TEST_CASE("every transaction decodes to what was encoded") {
    const TxBody body{
        PublicKey{}, 3, 9,
        AuditOpen{bytes_of("job"), 1, Stage::kRedraw, {{1, true, {bytes_of("r")}}}, bytes_of("salt")}};
    const Bytes bytes = encode_body(body);
    const auto back = decode_body(bytes);
    REQUIRE(back.ok());
    CHECK(encode_body(*back) == bytes);
    CHECK(job_of(back->payload) == bytes_of("job"));
}

TEST_CASE("a node key is registered once, by its holder's consent, and never holds money") {
    Env env;
    Person& m1 = env.person("m1");
    Person& other = env.person("other");
    const auto proof_for = [&](const Person& owner) {
        return prove_node_key(m1.node, owner.owner_key(), env.chain());
    };
    env.refuse(Reason::kBadKeyProof, other, NodeRegister{m1.node_key(), proof_for(m1)});
    env.send(m1, NodeRegister{m1.node_key(), proof_for(m1)});
    env.refuse(Reason::kKeyTaken, other, NodeRegister{m1.node_key(), proof_for(other)});
    env.refuse(Reason::kKeyTaken, other, Transfer{m1.node_key(), amount(1)});
    env.refuse(Reason::kNotYours, other, MinerRegister{m1.node_key(), "h:1"});
    env.refuse(Reason::kBadEndpoint, m1, MinerRegister{m1.node_key(), "no port"});
    env.refuse(Reason::kNotMiner, m1, EndpointUpdate{"h:1"});
    env.send(m1, MinerRegister{m1.node_key(), "h:1"});
    env.refuse(Reason::kAlreadyRegistered, m1, MinerRegister{m1.node_key(), "h:1"});
    env.send(m1, EndpointUpdate{"[::1]:65535"});
    CHECK(read_miner(env.state(), m1.node_key())->endpoint == "[::1]:65535");
    env.send(m1, NodeRevoke{m1.node_key()});
    env.refuse(Reason::kKeyRevoked, m1, EndpointUpdate{"h:2"});
    env.refuse(Reason::kKeyRevoked, m1, StakeDeposit{m1.node_key(), amount(1)});
}

TEST_CASE("a buyer's node key says where a running job's data is served from now on, and nobody else's") {
    Env env;
    env.miner("m1");
    const Hash256 job = env.post(small_job());
    Person& buyer = env.person("buyer");
    // It is no miner and no verifier: without a job there is nothing to update.
    env.refuse(Reason::kNotMiner, buyer, EndpointUpdate{"h:1", {}});
    env.refuse(Reason::kUnknownJob, buyer, EndpointUpdate{"h:1", bytes_of("no job")});
    env.refuse(Reason::kNotYours, env.person("m1"), EndpointUpdate{"h:1", job});
    env.refuse(Reason::kBadEndpoint, buyer, EndpointUpdate{"no port", job});
    env.send(buyer, EndpointUpdate{"h:2", job});
    CHECK(env.job(job).buyer_endpoint == "h:2");
    env.send(buyer, JobCancel{job});
    env.refuse(Reason::kJobOver, buyer, EndpointUpdate{"h:3", job});
}

TEST_CASE("each type must be signed by its kind of key") {
    Env env;
    Person& m1 = env.miner("m1");
    const auto attempt = [&](const base::SecretKey& key, const Payload& payload) {
        const TxBody body{key.public_key(), next_nonce(env.state(), key.public_key()), 1000, payload};
        return env.hand_in(sign_transaction(body, key, env.chain())).reason;
    };
    CHECK(attempt(m1.node, Transfer{m1.owner_key(), amount(1)}) == Reason::kNeedsOwnerKey);
    CHECK(attempt(m1.owner, EndpointUpdate{"h:1"}) == Reason::kNeedsNodeKey);
    const auto stranger = base::SecretKey::from_seed(bytes_of("stranger").view());
    CHECK(attempt(stranger, Transfer{m1.owner_key(), amount(1)}) == Reason::kUnknownSender);
}

TEST_CASE("free stake comes back after the unbonding delay, even of a revoked key") {
    Env env;
    Person& m1 = env.miner("m1", 1000);
    const std::uint64_t before = env.balance("m1");
    env.refuse(Reason::kInsufficientStake, m1, StakeWithdraw{m1.node_key(), amount(1001)});
    env.refuse(Reason::kNotYours, env.person("other"), StakeWithdraw{m1.node_key(), amount(1)});
    env.send(m1, NodeRevoke{m1.node_key()});
    env.send(m1, StakeWithdraw{m1.node_key(), amount(1000)});
    env.refuse(Reason::kInsufficientStake, m1, StakeWithdraw{m1.node_key(), amount(1)});
    CHECK(next_deadline(env.state()) == env.height() + env.params().unbonding_delay);
    env.advance_to(env.height() + env.params().unbonding_delay - 1);
    CHECK(env.balance("m1") == before);
    env.next_block();
    CHECK(env.balance("m1") == before + 1000);
    CHECK(next_deadline(env.state()) == std::nullopt);
}

TEST_CASE("a validator set is ordered by key, weighed and bounded, and more than two thirds of it decide") {
    const auto key = [](std::uint8_t first) {
        PublicKey made;
        made.bytes[0] = first;
        return made;
    };
    CHECK_FALSE(check_validators(ValidatorSet::of_one(key(1))));
    CHECK(check_validators({}) == "there is no validator");
    CHECK_FALSE(check_validators({{{key(1), 1}, {key(2), kMaxTotalPower - 1}}}));
    CHECK(check_validators({{{key(1), 1}, {key(2), kMaxTotalPower}}}).value().find("too much") !=
          std::string::npos);
    CHECK(check_validators({{{key(1), 1}, {key(2), UINT64_MAX}}}).value().find("too much") !=
          std::string::npos);
    CHECK(check_validators({{{key(2), 1}, {key(1), 1}}}).value().find("ascend") != std::string::npos);
    CHECK(check_validators({{{key(1), 1}, {key(1), 1}}}).value().find("ascend") != std::string::npos);
    CHECK(check_validators({{{key(1), 0}}}).value().find("above zero") != std::string::npos);
    ValidatorSet many;
    for (std::size_t i = 0; i <= kMaxValidators; ++i)
        many.validators.push_back({key(static_cast<std::uint8_t>(i)), 1});
    CHECK(check_validators(many).value().find("at most 128") != std::string::npos);
    many.validators.pop_back();
    CHECK_FALSE(check_validators(many));

    CHECK(ValidatorSet::of_one(key(1)).decides(1));
    const ValidatorSet set{{{key(1), 1}, {key(2), 2}, {key(3), 3}}};
    CHECK(set.power_of(key(2)) == 2);
    CHECK(set.power_of(key(4)) == 0);
    CHECK_FALSE(set.decides(4));  // two thirds are not enough
    CHECK(set.decides(5));
}

TEST_CASE("genesis refuses what cannot be, and names it") {
    const auto sequencer = base::SecretKey::from_seed(bytes_of("s").view()).public_key();
    GenesisConfig good;
    good.chain_id = "c";
    good.validators = {GenesisValidator{PublicKey{}, sequencer, 1}};
    const auto error_of = [](const GenesisConfig& config) {
        MemoryState state;
        const auto result = genesis(state, config);
        if (!result) CHECK(state.all().empty());
        return result ? std::string() : result.error();
    };
    CHECK(error_of(good).empty());
    auto config = good;
    config.chain_id.clear();
    CHECK_FALSE(error_of(config).empty());
    config = good;
    config.balances = {{sequencer, amount(1)}};
    CHECK_FALSE(error_of(config).empty());
    config = good;
    config.validators.clear();
    CHECK(error_of(config) == "there is no validator");
    config.validators = {GenesisValidator{sequencer, sequencer, 1}};
    CHECK(error_of(config).find("must differ") != std::string::npos);
    config = good;
    PublicKey second;
    second.bytes[0] = 1;
    config.balances = {{PublicKey{}, amount(base::kAmountMax)}, {second, amount(1)}};
    CHECK(error_of(config).find("largest") != std::string::npos);
    config.balances = {{second, amount(1)}, {PublicKey{}, amount(1)}};
    CHECK(error_of(config).find("ascend") != std::string::npos);
    for (const ParamRange& range : param_ranges()) {
        if (range.name == "panel_owners_least") {
            CHECK(range.minimum == 2);
            CHECK(range.maximum == panel_most());
        }
        CAPTURE(std::string(range.name));
        CHECK(range.get(Params{}) >= range.minimum);
        CHECK(range.get(Params{}) <= range.maximum);
        config = good;
        if (range.maximum < 0xffffffffU) {
            range.set(config.params, range.maximum + 1);
            CHECK(error_of(config) == "parameter out of range: " + std::string(range.name));
        }
        if (range.minimum > 0) {
            config = good;
            range.set(config.params, range.minimum - 1);
            CHECK(error_of(config) == "parameter out of range: " + std::string(range.name));
        }
    }
}

}  // namespace assay::contracts::test
