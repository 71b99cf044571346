// SPDX-License-Identifier: Apache-2.0
// Gives the workers of a simulated world SharedWork, results that one of them has made and the others need
// not make again. Each worker's answers still follow only from its own requests and conduct.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "contracts/program/program.hpp"
#include "node/sim/hash_chain.hpp"
#include "node/sim/shared_files.hpp"

namespace assay::node::sim {

/// Not thread-safe: one for each world.
class SharedWork {
public:
    [[nodiscard]] SharedFiles& files() { return files_; }
    /// The chain of a job; the last one is kept.
    std::shared_ptr<const HashChain> chain_of(const program::JobSpec& spec);
    /// The program of a step of the job; the last one is kept.
    std::shared_ptr<const program::Program> program_of(const program::JobSpec& spec);

    /// A tree of zeros. Most outputs of a step are such trees, of few sizes.
    struct ZeroTree {
        Hash256 root;
        std::vector<Hash256> path;  ///< siblings of the first leaf
    };
    const ZeroTree& zeros_of(std::uint64_t leaves);

private:
    SharedFiles files_;
    Bytes chain_spec_, program_spec_;  ///< encoded specs of what is kept
    std::shared_ptr<const HashChain> chain_;
    std::shared_ptr<const program::Program> program_;
    std::map<std::uint64_t, ZeroTree> zeros_;
};

}  // namespace assay::node::sim
