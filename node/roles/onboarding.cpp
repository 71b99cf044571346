// SPDX-License-Identifier: Apache-2.0
#include "node/roles/onboarding.hpp"

#include "contracts/rules/tables.hpp"

namespace assay::node {

std::string_view to_text(WorkRole role) {
    switch (role) {
        case WorkRole::kMiner: return "miner";
        case WorkRole::kVerifier: return "verifier";
        case WorkRole::kBuyer: return "buyer";
    }
    return "unknown";
}

bool is_registered(const contracts::StateView& state, WorkRole role, const base::PublicKey& node) {
    switch (role) {
        case WorkRole::kMiner: return contracts::read_miner(state, node).has_value();
        case WorkRole::kVerifier: return contracts::read_verifier(state, node).has_value();
        case WorkRole::kBuyer: return true;
    }
    return false;
}

namespace {
// Of a buyer the ledger keeps no such sum: it stakes once, with the job that it buys.
bool has_lost(const contracts::StateView& state, const OnboardingWants& wants) {
    if (wants.role == WorkRole::kBuyer) return false;
    return wants.role == WorkRole::kMiner ? !contracts::read_miner(state, wants.node)->forfeited.is_zero()
                                          : !contracts::read_verifier(state, wants.node)->penalised.is_zero();
}
}  // namespace

bool onboard(const contracts::StateView& state, const OnboardingWants& wants, const OfferHandler& offer) {
    if (!contracts::read_node_key(state, wants.node)) {
        offer("register node key", contracts::NodeRegister{.node = wants.node, .proof = wants.node_proof});
        return false;
    }
    if (!is_registered(state, wants.role, wants.node)) {
        if (wants.role == WorkRole::kMiner) {
            offer("register miner", contracts::MinerRegister{.node = wants.node, .endpoint = wants.endpoint});
        } else {
            offer("register verifier",
                  contracts::VerifierRegister{.node = wants.node, .endpoint = wants.endpoint});
        }
        return false;
    }
    if (wants.role == WorkRole::kBuyer && wants.stake.is_zero()) return true;
    const contracts::Stake stake = contracts::read_stake(state, wants.node);
    // A party that lost stake is not topped up in silence: only the first deposit is automatic.
    if (stake.free.is_zero() && stake.bonded.is_zero() && !wants.stake.is_zero()) {
        if (has_lost(state, wants)) return true;
        offer("deposit stake", contracts::StakeDeposit{.node = wants.node, .amount = wants.stake});
        return false;
    }
    return true;
}

std::optional<std::string> missing_step(const contracts::StateView& state, const OnboardingWants& wants) {
    std::optional<std::string> missing;
    (void)onboard(state, wants, [&](const std::string& name, const contracts::Payload&) { missing = name; });
    return missing;
}

}  // namespace assay::node
