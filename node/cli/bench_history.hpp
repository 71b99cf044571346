// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench state` states with a made-up past: accounts, and ended jobs with what the ledger keeps
// of them.
#pragma once

#include "ledger/application/machine.hpp"

namespace assay::node {

struct HistorySize {
    std::uint32_t accounts = 0;
    std::uint32_t ended_jobs = 0;
};

/// The n-th account's owner key; only the first kBenchSenders accounts have a secret key.
inline constexpr std::uint32_t kBenchSenders = 1000;
base::SecretKey bench_sender(std::uint32_t n);
base::PublicKey bench_account(std::uint32_t n);

/// The market's rules with a genesis that already has this past. Everything else is unchanged.
class HistoryMachine final : public ledger::StateMachine {
public:
    explicit HistoryMachine(HistorySize size) : size_(size) {}

    base::Outcome<void> genesis(contracts::State& state, const ledger::Genesis& genesis) const override;
    base::Result<ledger::TransactionInfo, contracts::Reason> inspect(
        const std::string& chain_id, base::ByteView transaction) const override;
    std::uint64_t cost(base::ByteView transaction) const override;
    std::uint64_t block_limit() const override;
    base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                              const base::PublicKey& sender) const override;
    std::vector<base::Bytes> begin_block(contracts::State& state,
                                         const ledger::Position& position) const override;
    ledger::TransactionResult apply(contracts::State& state, const ledger::Position& position,
                                    base::ByteView transaction) const override;
    base::Outcome<void> check_schema(const contracts::StateView& state) const override;
    base::Outcome<void> check_invariants(const contracts::StateView& state) const override;
    base::Outcome<void> check_changes(const contracts::Overlay& changes) const override;
    std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const override;

private:
    HistorySize size_;
};

}  // namespace assay::node
