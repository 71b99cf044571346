// SPDX-License-Identifier: Apache-2.0
// Gives roles onboarding: what the owner key must sign before a node key can work: registration of the
// key, of the role, and stake.
#pragma once

#include <functional>
#include <string>

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::node {

enum class WorkRole : std::uint8_t { kMiner, kVerifier, kBuyer };

struct OnboardingWants {
    WorkRole role = WorkRole::kMiner;
    base::PublicKey owner;
    base::PublicKey node;
    contracts::Signature node_proof;  ///< prove_node_key(node key, owner, chain id)
    std::string endpoint;
    base::Amount stake;  ///< free and bonded together; a buyer stakes nothing
};

using OfferHandler = std::function<void(const std::string& name, contracts::Payload payload)>;

/// Offers the next missing step, if any. True when nothing is missing.
bool onboard(const contracts::StateView& state, const OnboardingWants& wants, const OfferHandler& offer);

}  // namespace assay::node
