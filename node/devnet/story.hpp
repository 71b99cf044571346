// SPDX-License-Identifier: Apache-2.0
// Gives people Story, a job's life as lines, from the ledger's events.
#pragma once

#include <map>
#include <ostream>
#include <string>

#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/state.hpp"
#include "node/devnet/plan.hpp"

namespace assay::node {

/// The sentence with which a verifier names what it found.
using FindingText = std::string;

class Story {
public:
    Story(const Devnet& net, std::ostream& out);

    /// Prints the line of an event. `state` is the state after its block.
    void tell(const contracts::StateView& state, const contracts::Event& event);

private:
    [[nodiscard]] std::string name_of(const base::PublicKey& node) const;
    void tell_phase(const contracts::StateView& state, const contracts::Event& event);
    void tell_auction(const contracts::StateView& state, const contracts::Event& event);
    void tell_verdict(const contracts::StateView& state, const contracts::Event& event);
    void tell_dispute(const contracts::StateView& state, const contracts::Event& event);
    void tell_merge(const contracts::StateView& state, const contracts::Event& event);

    const Devnet& net_;
    std::ostream& out_;
    std::map<base::PublicKey, std::string> names_;
};

/// What the verifiers of the network wrote about one unit, for people (SealedAudit decides); empty when none
/// named it.
FindingText finding_of(const Devnet& net, const base::Hash256& job, std::uint32_t round, std::uint32_t slot,
                       std::uint32_t unit);

/// A binary32's bits as a decimal with four places.
std::string loss_text(std::uint32_t bits);

}  // namespace assay::node
