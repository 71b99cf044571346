// SPDX-License-Identifier: Apache-2.0
// The smallest state machine with every property that an engine cares about: nonces, refusals, work caused by
// the height, an invariant that can break. Also what tests need to make chains of its transactions.
#pragma once

#include <string>

#include "contracts/base/codec.hpp"
#include "ledger/application/machine.hpp"
#include "ledger/engine/chain.hpp"

namespace assay::ledger::testing {

inline constexpr std::uint64_t kRefusedValue = 13;      // refused with code 7
inline constexpr std::uint64_t kBreakingValue = 666;    // breaks the invariant: total = sum of all values
inline constexpr std::uint8_t kStranger = 0xEE;         // first byte of keys that the state does not know
inline constexpr std::uint64_t kTimerValue = 1000;      // asks for a deadline three heights later
inline constexpr std::uint64_t kCostly = 1'000'000;     // from here on a transaction costs its value; else 1
inline constexpr std::uint64_t kToyLimit = 10'000'000;  // of a block

struct ToyTransaction {
    PublicKey sender;
    std::uint64_t nonce = 0;
    std::uint64_t value = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.nonce, self.value, self.sender);
    }
};

class ToyMachine : public StateMachine {
public:
    explicit ToyMachine(std::uint64_t limit = kToyLimit) : limit_(limit) {}

    Outcome<void> genesis(contracts::State& state, const Genesis& genesis) const override {
        put(state, "total", 0);
        state.put(base::as_bytes("configuration"), genesis.rules);
        return {};
    }
    std::uint64_t cost(ByteView bytes) const override {
        const auto tx = base::decode<ToyTransaction>(bytes);
        return tx && tx->value >= kCostly ? tx->value : 1;
    }
    std::uint64_t block_limit() const override { return limit_; }
    base::Result<TransactionInfo, contracts::Reason> inspect(const std::string&,
                                                             ByteView bytes) const override {
        const auto tx = base::decode<ToyTransaction>(bytes);
        if (!tx) return base::failed(contracts::Reason::kMalformed);
        return TransactionInfo{base::hash("toy/tx", bytes), tx->sender, tx->nonce};
    }
    base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                              const PublicKey& sender) const override {
        if (sender.bytes[0] == kStranger) return base::failed(contracts::Reason::kUnknownSender);
        return number(state, "n" + sender.hex());
    }
    std::vector<Bytes> begin_block(contracts::State& state, const Position& position) const override {
        const std::uint64_t deadline = number(state, "deadline");
        if (deadline == 0 || position.height < deadline) return {};
        state.erase(base::as_bytes("deadline"));
        return {base::to_bytes(base::as_bytes("deadline " + std::to_string(position.height)))};
    }
    TransactionResult apply(contracts::State& state, const Position& position,
                            ByteView bytes) const override {
        TransactionResult result{base::hash("toy/tx", bytes), 0, {}, {}};
        const auto tx = base::decode<ToyTransaction>(bytes);
        const auto nonce =
            tx ? next_nonce(state, tx->sender) : base::Result<std::uint64_t, contracts::Reason>(0);
        if (!tx || tx->value == kRefusedValue || !nonce || tx->nonce != *nonce) {
            result.code = 7;
            result.reason = "toy_refused";
            return result;
        }
        put(state, "n" + tx->sender.hex(), tx->nonce + 1);
        put(state, "v" + tx->sender.hex() + std::to_string(tx->nonce), tx->value);
        put(state, "total", number(state, "total") + tx->value + (tx->value == kBreakingValue ? 1 : 0));
        if (tx->value == kTimerValue) put(state, "deadline", position.height + 3);
        result.events.push_back(base::encode(tx->value));
        return result;
    }
    Outcome<void> check_schema(const contracts::StateView&) const override { return {}; }
    Outcome<void> check_invariants(const contracts::StateView& state) const override {
        std::uint64_t sum = 0;
        for (const auto& [key, value] : state.scan(base::as_bytes("v")))
            sum += base::decode<std::uint64_t>(value).value();
        if (sum == number(state, "total")) return {};
        return base::fail(base::ErrorKind::kVerification, "the total is not the sum of the values");
    }
    Outcome<void> check_changes(const contracts::Overlay& changes) const override {
        std::uint64_t added = 0;
        for (const auto& [key, value] : changes.changes())
            if (key.front() == 'v') added += base::decode<std::uint64_t>(value.value()).value();
        if (number(changes, "total") == number(changes.under(), "total") + added) return {};
        return base::fail(base::ErrorKind::kVerification, "the total is not the sum of the values");
    }
    std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const override {
        const std::uint64_t deadline = number(state, "deadline");
        if (deadline == 0) return std::nullopt;
        return deadline;
    }

    static std::uint64_t number(const contracts::StateView& state, const std::string& key) {
        const auto bytes = state.get(base::as_bytes(key));
        return bytes ? base::decode<std::uint64_t>(*bytes).value() : 0;
    }

private:
    static void put(contracts::State& state, const std::string& key, std::uint64_t value) {
        state.put(base::as_bytes(key), base::encode(value));
    }
    std::uint64_t limit_;
};

/// It has no state of its own.
inline const ToyMachine kMachine;

inline base::SecretKey test_key(std::uint8_t seed = 1) { return base::SecretKey::from_seed(Bytes(32, seed)); }

inline Genesis toy_genesis(const std::string& chain_id = "toy-1") {
    return Genesis{kGenesisVersion, chain_id, contracts::ValidatorSet::of_one(test_key().public_key()),
                   Bytes{1, 2, 3}};
}

inline Bytes toy_transaction(std::uint8_t sender, std::uint64_t nonce, std::uint64_t value) {
    ToyTransaction tx{{}, nonce, value};
    tx.sender.bytes.fill(sender);
    return base::encode(tx);
}

}  // namespace assay::ledger::testing
