// SPDX-License-Identifier: Apache-2.0
// RunningRoot computes the root of a Merkle tree (merkle.hpp) from leaves that come one after another. It
// holds at most one node for each height.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/merkle.hpp"

namespace assay::trainer {

class RunningRoot {
public:
    void add(base::Hash256 leaf) {
        std::uint32_t height = 0;
        while (!whole_.empty() && whole_.back().height == height) {
            leaf = base::merkle_node(whole_.back().hash, leaf);
            whole_.pop_back();
            ++height;
        }
        whole_.push_back({height, leaf});
    }
    /// merkle_root of the leaves so far.
    [[nodiscard]] base::Hash256 root() const {
        if (whole_.empty()) return base::merkle_empty_root();
        base::Hash256 out = whole_.back().hash;
        for (std::size_t i = whole_.size() - 1; i-- > 0;) out = base::merkle_node(whole_[i].hash, out);
        return out;
    }

private:
    struct Node {
        std::uint32_t height = 0;
        base::Hash256 hash;
    };
    std::vector<Node> whole_;  // roots of complete trees of 2^height leaves, the tallest first
};

}  // namespace assay::trainer
