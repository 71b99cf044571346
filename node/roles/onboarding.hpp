// SPDX-License-Identifier: Apache-2.0
// Gives roles onboarding, what the owner key must sign before a node key can work: registration of the key,
// registration of the role, and stake.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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
    base::Amount stake;  ///< deposited where there is none at all, and only then; zero: nothing is
};

using OfferHandler = std::function<void(const std::string& name, contracts::Payload payload)>;

/// Offers the next missing step, if any. True when nothing is missing.
bool onboard(const contracts::StateView& state, const OnboardingWants& wants, const OfferHandler& offer);

/// The name of the step that onboard() would offer, for callers without the owner key. Nothing when no step
/// is missing. `wants` needs no owner, proof or endpoint.
std::optional<std::string> missing_step(const contracts::StateView& state, const OnboardingWants& wants);

/// Whether `node` is registered for the role; a buyer's node key needs no role.
bool is_registered(const contracts::StateView& state, WorkRole role, const base::PublicKey& node);

/// "miner", "verifier", "buyer".
std::string_view to_text(WorkRole role);

}  // namespace assay::node
