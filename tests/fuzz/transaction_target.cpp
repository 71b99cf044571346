// SPDX-License-Identifier: Apache-2.0
// Signed transactions against the rules. The input is the body; it is signed here by the funded owner, so
// that mutations get past the signature. A refused transaction leaves no trace, an applied one conserves
// money.
#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/application/rules_machine.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

constexpr const char* kChain = "fuzz";

const base::SecretKey& owner() {
    static const base::SecretKey key = base::SecretKey::from_seed(base::Bytes(32, 1));
    return key;
}
const base::SecretKey& node() {
    static const base::SecretKey key = base::SecretKey::from_seed(base::Bytes(32, 2));
    return key;
}

const contracts::MemoryState& start() {
    static const contracts::MemoryState state = [] {
        contracts::GenesisConfig config;
        config.chain_id = kChain;
        config.balances = {{owner().public_key(), base::units(1'000'000'000'000)}};
        config.validators = {{owner().public_key(), node().public_key()}};
        contracts::MemoryState made;
        const ledger::Genesis genesis{.chain_id = kChain,
                                      .validators = contracts::validators_of(config),
                                      .rules = base::encode(config)};
        ASSAY_CHECK(ledger::rules_machine().genesis(made, genesis).ok());
        return made;
    }();
    return state;
}

base::Bytes body(contracts::Payload payload) {
    return contracts::encode_body({owner().public_key(), 0, 1000, std::move(payload)});
}

/// Two openings of one trace, with all that they take.
contracts::RoundServe served() {
    contracts::JobSpec spec;
    spec.train.inner_steps = 6;
    spec.security.segment_steps = 2;
    program::TraceRecord trace;
    for (std::uint8_t i = 0; i < 4; ++i) trace.boundaries.push_back(base::hash("fuzz", base::Bytes(1, i)));
    for (std::uint32_t i = 0; i < 6; ++i) trace.fingerprints.push_back({i, i});
    trace.update = base::hash("fuzz", {});
    contracts::RoundServe serve;
    serve.trace_root = program::trace_root(trace, spec, trace.update);
    serve.diverged_unit = 2;
    for (const std::uint32_t unit : {1U, 2U}) {
        const program::LeafName leaf = program::start_leaf(spec, unit);
        serve.starts.push_back(
            {program::open_leaf(trace, spec, trace.update, leaf.kind, leaf.place), trace.update});
    }
    return serve;
}

void apply(base::ByteView transaction) {
    contracts::MemoryState state = start();
    const auto result = ledger::rules_machine().apply(state, {kChain, 1}, transaction);
    if (result.code != 0) ASSAY_CHECK(state.all() == start().all());
    const auto held = ledger::rules_machine().check_invariants(state);
    ASSAY_CHECK(held.ok());
}

}  // namespace

std::vector<base::Bytes> seeds() {
    using namespace contracts;
    const base::PublicKey other = base::SecretKey::from_seed(base::Bytes(32, 3)).public_key();
    return {
        body(Transfer{other, base::units(5)}),
        body(NodeRegister{other, prove_node_key(base::SecretKey::from_seed(base::Bytes(32, 3)),
                                                owner().public_key(), kChain)}),
        body(MinerRegister{node().public_key(), "127.0.0.1:2"}),
        body(StakeDeposit{node().public_key(), base::units(7)}),
        body(StakeWithdraw{node().public_key(), base::units(7)}),
        body(JobSubmit{{}, node().public_key(), "127.0.0.1:3", {}}),
        body(RoundReveal{}),
        body(AuditOpen{}),
        body(RoundServe{.starts = {ServedStart{}}}),
        body(served()),
        body(StorageBitmap{}),
        body(StorageBitmap{.round = 3, .bits = base::Bytes(32, 0x5a)}),
        body(DisputeOpen{.round = 1, .number = 2, .unit = dispute::UnitKind::kClip, .part = 3}),
        body(DisputePost{.game = 1, .hashes = std::vector<base::Hash256>(3)}),
        body(DisputePick{.game = 1, .pick = {.index = 7, .end = dispute::StepEnd::kNorm}}),
        body(DisputeProve{.game = 1, .witness = base::Bytes(300, 0x5a)}),
        body(DisputeConcede{.game = 5}),
        body(DisputeCall{.game = 5, .unit = dispute::UnitKind::kClip, .part = 3}),
        body(JobTopUp{.job = {}, .amount = base::units(5)}),
        body(JobExtend{.job = {}, .blocks = 5}),
        body(TeamGrant{.member = other, .caps = {.per_job = base::units(5), .day = 9}}),
        body(TeamRevoke{.member = other}),
        body(TeamSubmit{{{}, node().public_key(), "127.0.0.1:3", {}}, other}),
        body(LotSeal{}),
        body(LotOpen{.kind = {program::Profile::kI16, 12, 5, 8}, .price = base::units(9), .salt = {}}),
        body(LotWithdraw{}),
        body(BidSeal{}),
        body(BidOpen{.lots = 3, .price = base::units(9)}),
        body(LeaseTake{.lots = 2, .wait = true}),
    };
}

void run(base::ByteView input) {
    apply(input);  // as it stands: usually not even a transaction
    contracts::SignedTransaction transaction;
    transaction.body = base::to_bytes(input);
    transaction.signature = owner().sign(contracts::kTxDomain, kChain, input);
    apply(base::encode(transaction));
    const auto decoded = contracts::decode_body(input);
    if (decoded) ASSAY_CHECK(contracts::encode_body(*decoded) == transaction.body);
}

}  // namespace assay::fuzz
