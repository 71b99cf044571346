// SPDX-License-Identifier: Apache-2.0
// Gives miners and verifiers of a devnet Quarreller, which plays their games in place of an honest player
// when a drill tells them to (misconduct.hpp, quarrels.hpp).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/transactions.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/quarrels.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// The plan that a role's misconducts ask for; Quarrel::kNone: it plays honestly.
QuarrelPlan quarrel_plan(const Misconducts& conducts);

class Quarreller {
public:
    using Offer = std::function<void(const std::string& name, contracts::Payload payload)>;

    /// `accomplice`: node key of the miner that it helps (needs_accomplice()). `log` must outlive it.
    Quarreller(const Misconducts& conducts, const base::PublicKey& me,
               std::optional<base::PublicKey> accomplice, Log& log, Offer offer);

    /// Whether it plays its role's games in place of the honest player.
    [[nodiscard]] bool plays() const { return plan_.quarrel != Quarrel::kNone; }

    /// After every event: offers the next move of each job that is due.
    void follow(const contracts::StateView& state, std::uint64_t height);

private:
    /// The miners whose claims it challenges. A griefer challenges all but its accomplice, or with
    /// kDisputeDelay only the first of them; one that throws or stalls challenges only its accomplice.
    [[nodiscard]] std::set<base::PublicKey> targets(const contracts::Job& job) const;

    const QuarrelPlan plan_;
    const bool has_one_victim_;
    const base::PublicKey me_;
    const std::optional<base::PublicKey> accomplice_;
    Log& log_;
    const Offer offer_;
    std::set<std::string> said_;
};

}  // namespace assay::node
