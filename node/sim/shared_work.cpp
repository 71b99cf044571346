// SPDX-License-Identifier: Apache-2.0
#include "node/sim/shared_work.hpp"

#include <utility>

#include "contracts/dispute/tree.hpp"

namespace assay::node::sim {

std::shared_ptr<const HashChain> SharedWork::chain_of(const program::JobSpec& spec) {
    Bytes encoded = base::encode(spec);
    if (!chain_ || encoded != chain_spec_) {
        chain_ = std::make_shared<const HashChain>(spec);
        chain_spec_ = std::move(encoded);
    }
    return chain_;
}

std::shared_ptr<const program::Program> SharedWork::program_of(const program::JobSpec& spec) {
    program::JobSpec shape;
    shape.model = spec.model;
    shape.train = spec.train;
    shape.profile = spec.profile;
    Bytes encoded = base::encode(shape);
    if (!program_ || encoded != program_spec_) {
        program_ = std::make_shared<const program::Program>(
            program::build_step_program(spec.model, spec.train, spec.profile));
        program_spec_ = std::move(encoded);
    }
    return program_;
}

const SharedWork::ZeroTree& SharedWork::zeros_of(std::uint64_t leaves) {
    auto [found, inserted] = zeros_.try_emplace(leaves);
    if (inserted) {
        const dispute::StoredTree tree{std::vector<Hash256>(leaves)};
        found->second = {tree.root(), tree.siblings(0)};
    }
    return found->second;
}

}  // namespace assay::node::sim
