// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/rules_machine.hpp"

#include <atomic>

#include "contracts/dispute/machine_check.hpp"
#include "contracts/rules/apply.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/transaction_cost.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/store/block_log.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

// A block that the rules allow fits a frame of the log, whatever its transactions are.
static_assert(contracts::kBlockCostLimit / contracts::kCostPerByte + (512U << 10U) < kMaxBlockBytes);

namespace {

std::vector<Bytes> encode_all(const contracts::Events& events) {
    std::vector<Bytes> out;
    out.reserve(events.size());
    for (const contracts::Event& event : events) out.push_back(base::encode(event));
    return out;
}

// A transaction whose bytes are none has no id of its own: its hash stands in, so that it can be answered.
Hash256 id_of(const contracts::ApplyOutcome& outcome, ByteView transaction) {
    return outcome.id.is_zero() ? base::hash("assay/malformed", transaction) : outcome.id;
}

Outcome<void> outcome_of(const base::Result<void, contracts::Violation>& held) {
    if (held) return {};
    return fail(ErrorKind::kVerification, "a rule of the state does not hold: " + held.error().what);
}

class RulesMachine final : public StateMachine {
public:
    // Of what the whole check asks, the thread's mode alone may change: build and processor stay. Thousands
    // of ledgers are opened in a process that simulates them.
    [[nodiscard]] Outcome<void> check_machine() const override {
        static std::atomic<bool> known = false;
        if (known) return check_thread();
        ASSAY_TRY(dispute::check_machine());
        known = true;
        return {};
    }
    [[nodiscard]] Outcome<void> check_thread() const override { return dispute::check_thread(); }

    Outcome<void> genesis(contracts::State& state, const Genesis& genesis) const override {
        const auto config = base::decode<contracts::GenesisConfig>(genesis.rules);
        if (!config) {
            return fail(ErrorKind::kVerification, "genesis: the rules' configuration is not canonical: " +
                                                      std::string(base::to_text(config.error())));
        }
        if (config->chain_id != genesis.chain_id)
            return fail(ErrorKind::kVerification, "genesis: the rules' configuration names another chain");
        if (contracts::validators_of(*config) != genesis.validators)
            return fail(ErrorKind::kVerification, "genesis: the rules' configuration names other validators");
        const auto made = contracts::genesis(state, *config);
        if (!made) return fail(ErrorKind::kUsage, "genesis: " + made.error());
        return {};
    }

    base::Result<TransactionInfo, contracts::Reason> inspect(const std::string& chain_id,
                                                             ByteView transaction) const override {
        const auto decoded = contracts::check_static(chain_id, transaction);
        if (!decoded) return base::failed(decoded.error());
        return TransactionInfo{decoded->id, decoded->body.sender, decoded->body.nonce};
    }

    std::uint64_t cost(ByteView transaction) const override { return contracts::cost_of(transaction); }
    std::uint64_t block_limit() const override { return contracts::kBlockCostLimit; }

    base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                              const PublicKey& sender) const override {
        if (!contracts::read_node_key(state, sender) && !state.get(contracts::account_key(sender))) {
            return base::failed(contracts::Reason::kUnknownSender);
        }
        return contracts::next_nonce(state, sender);
    }

    std::vector<Bytes> begin_block(contracts::State& state, const Position& position) const override {
        return encode_all(contracts::begin_block(state, {position.chain_id, position.height}));
    }

    TransactionResult apply(contracts::State& state, const Position& position,
                            ByteView transaction) const override {
        const auto outcome =
            contracts::apply_transaction(state, {position.chain_id, position.height}, transaction);
        TransactionResult result{id_of(outcome, transaction), 0, {}, encode_all(outcome.events)};
        if (!outcome.applied) {
            result.code = static_cast<std::uint16_t>(outcome.reason);
            result.reason = contracts::to_text(outcome.reason);
        }
        return result;
    }

    Outcome<void> check_schema(const contracts::StateView& state) const override {
        const auto known = contracts::check_schema(state);
        if (known) return {};
        return fail(ErrorKind::kVerification, "the ledger's index: " + known.error(),
                    "start the version of assay that wrote this ledger, or a newer one");
    }

    Outcome<void> check_invariants(const contracts::StateView& state) const override {
        return outcome_of(contracts::check_invariants(state));
    }

    Outcome<void> check_changes(const contracts::Overlay& changes) const override {
        return outcome_of(contracts::check_invariants(changes.under(), changes));
    }

    std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const override {
        return contracts::next_deadline(state);
    }
};

}  // namespace

const StateMachine& rules_machine() {
    static const RulesMachine machine;
    return machine;
}

}  // namespace assay::ledger
