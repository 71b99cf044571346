// SPDX-License-Identifier: Apache-2.0
// Gives commands, pages and metrics the views of participants: miners, verifiers and owners.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"
#include "node/views/stake_view.hpp"

namespace assay::node {

/// "gpt2 f32 32-63": family, profile, work units of a slot.
std::string class_name(const contracts::WorkClass& kind);

/// Verified work of one class since the miner last lost its standing.
struct StandingView {
    std::string work_class;
    std::uint64_t verified_work = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("class", work_class);
        visit("verified_work", verified_work);
    }
};

struct MinerView {
    base::PublicKey miner;
    base::PublicKey owner;
    std::string endpoint;
    std::vector<StandingView> standing;
    std::uint64_t verified_work = 0;  ///< of all classes
    base::Amount stake, bonded, earned, forfeited;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miner", miner);
        visit("owner", owner);
        visit("endpoint", endpoint);
        visit("standing", standing);
        visit("verified_work", verified_work);
        visit("stake", stake);
        visit("bonded", bonded);
        visit("earned", earned);
        visit("forfeited", forfeited);
    }
};

struct MinerList {
    std::vector<MinerView> miners;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miners", miners);
    }
};

/// The stake of a miner that a job which takes asks can lock.
struct OpenJobView {
    base::Hash256 job;
    base::Amount lock_slot, lock_job;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("lock_slot", lock_slot);
        visit("lock_job", lock_job);
    }
};

/// What an hour of work of one class brings a miner at its ask, and what its power costs, both by the pace
/// that it measured.
struct ExpectedHour {
    std::string work_class;
    std::uint64_t work_units = 0;
    base::Amount earned;                     ///< at its ask, the least price for which it works
    std::optional<base::Amount> power_cost;  ///< nothing when its owner has not stated the cost of power

    template <class Visit>
    void fields(Visit& visit) const {
        visit("class", work_class);
        visit("work_units", work_units);
        visit("earned", earned);
        visit("power_cost", power_cost);
    }
};

/// A miner, and what it could work for.
struct MinerStatus {
    MinerView miner;
    std::vector<OpenJobView> open_jobs;
    // Only when its home is at hand.
    std::optional<std::string> order = {};         ///< of its owner: work, pause, drain
    std::vector<ExpectedHour> expected_hour = {};  ///< of each class that it has worked for

    template <class Visit>
    void fields(Visit& visit) const {
        miner.fields(visit);
        visit("open_jobs", open_jobs);
        visit("order", order);
        visit("expected_hour", expected_hour);
    }
};

struct VerifierView {
    base::PublicKey verifier;
    base::PublicKey owner;
    std::string endpoint;
    std::uint64_t audited_units = 0;
    base::Amount stake, bonded;  ///< free stake, and what jobs and challenges lock of the rest
    base::Amount earned, penalised;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifier", verifier);
        visit("owner", owner);
        visit("endpoint", endpoint);
        visit("audited_units", audited_units);
        visit("stake", stake);
        visit("bonded", bonded);
        visit("earned", earned);
        visit("penalised", penalised);
    }
};

/// A verifier in one line.
struct ListedVerifier {
    VerifierView verifier;
    std::uint64_t enlisted = 0;  ///< jobs that have not ended and for which it is enlisted

    template <class Visit>
    void fields(Visit& visit) const {
        verifier.fields(visit);
        visit("enlisted", enlisted);
    }
};

struct VerifierList {
    std::vector<ListedVerifier> verifiers;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifiers", verifiers);
    }
};

/// A verifier's part in a job that has not ended.
struct EnlistedJobView {
    base::Hash256 job;
    std::string name;
    contracts::JobPhase phase = contracts::JobPhase::kAskCommit;
    std::uint32_t round = 0, rounds = 0;
    base::Amount locked;     ///< when it enlisted
    base::Amount link_bond;  ///< what is left of it; zero once a link was withheld
    base::Amount lost;       ///< of `locked`, to penalties and games
    /// Contracts' kAbsenceWeight for each round in which something of it was missing, minus 1 for each other
    /// round; it is dropped at `missed_most`.
    std::uint32_t missed = 0, missed_most = 0;
    bool dropped = false;           ///< it is drawn no more
    bool links_dropped = false;     ///< it withheld a link, and opens none any more
    std::uint64_t open_merges = 0;  ///< merges of it in their windows

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("name", name);
        visit("phase", phase);
        visit("round", round);
        visit("rounds", rounds);
        visit("locked", locked);
        visit("link_bond", link_bond);
        visit("lost", lost);
        visit("missed", missed);
        visit("missed_most", missed_most);
        visit("dropped", dropped);
        visit("links_dropped", links_dropped);
        visit("open_merges", open_merges);
    }
};

/// A verifier, and the jobs that hold its stake.
struct VerifierStatus {
    VerifierView verifier;
    std::vector<EnlistedJobView> jobs;
    std::optional<std::string> order =
        {};  ///< of its owner: work, pause, drain. Only when its home is at hand

    template <class Visit>
    void fields(Visit& visit) const {
        verifier.fields(visit);
        visit("jobs", jobs);
        visit("order", order);
    }
};

/// A node key of an owner.
struct WalletNode {
    base::PublicKey node;
    bool revoked = false;
    base::Amount stake, bonded;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("revoked", revoked);
        visit("stake", stake);
        visit("bonded", bonded);
    }
};

/// Money of one owner, and where it is.
struct WalletView {
    base::PublicKey owner;
    base::Amount balance;
    Units stake, bonded, escrow;  ///< of all its nodes, of all its jobs
    Units unbonding;              ///< of `withdrawals`
    std::uint64_t nonce = 0;
    std::vector<WithdrawalView> withdrawals;  ///< of all its nodes, in the order in which they are paid
    std::vector<WalletNode> nodes;            ///< ascending by key

    template <class Visit>
    void fields(Visit& visit) const {
        visit("owner", owner);
        visit("balance", balance);
        visit("stake", stake);
        visit("bonded", bonded);
        visit("escrow", escrow);
        visit("unbonding", unbonding);
        visit("nonce", nonce);
        visit("withdrawals", withdrawals);
        visit("nodes", nodes);
    }
};

MinerView miner_view(const contracts::StateView& state, const base::PublicKey& key,
                     const contracts::Miner& miner);
MinerList miners_of(const contracts::StateView& state);
MinerStatus miner_status(const contracts::StateView& state, const base::PublicKey& key,
                         const contracts::Miner& miner);
VerifierView verifier_view(const contracts::StateView& state, const base::PublicKey& key,
                           const contracts::Verifier& verifier);
VerifierList verifiers_of(const contracts::StateView& state);
VerifierStatus verifier_status(const contracts::StateView& state, const base::PublicKey& key,
                               const contracts::Verifier& verifier);
WalletView wallet_view(const contracts::StateView& state, const base::PublicKey& owner);

}  // namespace assay::node
