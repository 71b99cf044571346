// SPDX-License-Identifier: Apache-2.0
// Gives commands that sign as the owner OwnerSession: the home's two keys, a ledger node, and time limits.
// Such a process listens on no port, and ends within minutes whether or not the node answers.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "contracts/rules/tables.hpp"
#include "contracts/rules/transactions.hpp"
#include "ledger/store/genesis.hpp"
#include "node/cli/context.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

/// Time limits of an owner's session. Each limit holds for the total of what it covers.
struct OwnerLimits {
    /// One submission, including repetitions while it is temporarily refused or has no answer, and the last
    /// answer. Longer than the longest interval of blocks.
    static constexpr std::chrono::seconds kSubmission{70};
    /// The most that a command signs: a node key, a role and a stake, or a node key and a job.
    static constexpr int kSubmissions = 3;
    /// All reads and submissions after connect(). The time for opening the keys does not count, because a
    /// person may have to type the passphrase.
    static constexpr std::chrono::seconds kSession{240};
    /// The longest wait for the answer to a read; a read that began in time may end this much later.
    static constexpr std::chrono::seconds kRead{10};
};
static_assert(OwnerLimits::kSession > OwnerLimits::kSubmissions * OwnerLimits::kSubmission);
static_assert(OwnerLimits::kSubmission > std::chrono::milliseconds(ledger::kMaxBlockIntervalMs));

struct OwnerSessionOptions {
    PassphraseFlags passphrase;
    std::optional<std::filesystem::path> genesis;
    std::optional<std::filesystem::path> owner_key = {};  ///< nothing: the home's
    std::chrono::seconds limit = OwnerLimits::kSession;
};

/// After connect() the ledger can be read; after open_keys() it can be written to.
class OwnerSession {
public:
    /// Errors: kNotFound (no genesis), kUnreachable (the node does not answer), kVerification (another
    /// chain), kKey (no node key).
    static base::Outcome<std::unique_ptr<OwnerSession>> connect(const Context& context,
                                                                OwnerSessionOptions options);

    /// Throws StateReadError (kUnreachable) when the session's time is over, or the node does not answer.
    [[nodiscard]] const contracts::StateView& state() const { return *state_; }
    [[nodiscard]] const std::string& chain_id() const { return genesis_.chain_id; }
    /// The home's node key, as its file says; open_keys() checks it.
    [[nodiscard]] const base::PublicKey& node() const { return node_; }

    /// Asks for the passphrase and opens both keys. Without an owner key file, the error says `why` it is
    /// needed, and to run `command` on the machine that has it.
    base::Outcome<void> open_keys(const std::string& why, const std::string& command);
    /// REQUIRES open_keys().
    [[nodiscard]] const base::SecretKey& node_key() const { return *node_key_; }
    [[nodiscard]] base::PublicKey owner() const { return owner_key_->public_key(); }
    [[nodiscard]] contracts::Signature node_proof() const;

    /// Signs with the owner's next nonce, submits, and returns the block's height. When it is temporarily
    /// refused, it is signed again while `still_missing` is true, because another transaction with the same
    /// nonce may have done the same. Ends within kSubmission. Errors: kRejected with the ledger's reason
    /// (context.refused is set), kUnreachable when it is not known in time what became of it
    /// (submit_until_known). `what` names the act ("'deposit stake'"). REQUIRES open_keys().
    base::Outcome<std::uint64_t> submit(contracts::Payload payload, const std::string& what,
                                        const std::string& fix, const std::function<bool()>& still_missing);

private:
    using Time = std::chrono::steady_clock::time_point;
    OwnerSession(const Context& context, OwnerSessionOptions options);
    [[nodiscard]] std::filesystem::path owner_key_file() const;
    void keep_receipt(base::ByteView receipt) const;

    const Context& context_;
    OwnerSessionOptions options_;
    Time until_;  ///< of the session
    ledger::Genesis genesis_;
    ClientOptions client_;
    std::unique_ptr<LedgerService> ledger_;
    std::unique_ptr<contracts::StateView> state_;
    base::PublicKey node_;
    std::optional<base::SecretKey> node_key_;
    std::optional<base::SecretKey> owner_key_;
};

}  // namespace assay::node
