// SPDX-License-Identifier: Apache-2.0
// Gives commands, pages and metrics what there is to see of those who take part: miners, verifiers, and the
// owners whose money it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"

namespace assay::node {

/// "gpt2 f32 32-63": family, profile, work units of a slot.
std::string class_name(const contracts::WorkClass& kind);

/// Work of one class that was found right since the miner last lost its standing.
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

/// What a job that takes asks can lock of a miner's stake.
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

/// A miner, and what it could work for.
struct MinerStatus {
    MinerView miner;
    std::vector<OpenJobView> open_jobs;

    template <class Visit>
    void fields(Visit& visit) const {
        miner.fields(visit);
        visit("open_jobs", open_jobs);
    }
};

struct VerifierView {
    base::PublicKey verifier;
    base::PublicKey owner;
    std::string endpoint;
    std::uint64_t audited_units = 0;
    base::Amount earned, penalised;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifier", verifier);
        visit("owner", owner);
        visit("endpoint", endpoint);
        visit("audited_units", audited_units);
        visit("earned", earned);
        visit("penalised", penalised);
    }
};

/// Money of one owner, and where it is.
struct WalletView {
    base::PublicKey owner;
    base::Amount balance;
    Units stake, bonded, escrow;  ///< of all its nodes, of all its jobs
    std::uint64_t nonce = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("owner", owner);
        visit("balance", balance);
        visit("stake", stake);
        visit("bonded", bonded);
        visit("escrow", escrow);
        visit("nonce", nonce);
    }
};

MinerView miner_view(const contracts::StateView& state, const base::PublicKey& key,
                     const contracts::Miner& miner);
MinerList miners_of(const contracts::StateView& state);
MinerStatus miner_status(const contracts::StateView& state, const base::PublicKey& key,
                         const contracts::Miner& miner);
VerifierView verifier_view(const base::PublicKey& key, const contracts::Verifier& verifier);
WalletView wallet_view(const contracts::StateView& state, const base::PublicKey& owner);

}  // namespace assay::node
