// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/executed_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay::ledger {

namespace {
/// Followers of one thread are at most a few blocks apart.
constexpr std::size_t kBlocksRemembered = 8;
thread_local ExecutedBlocks* remembered = nullptr;
}  // namespace

void ExecutedBlock::apply_to(VerifiedState& state) const {
    for (const auto& [key, row] : history) state.state.hand_over(key, row);
    for (const auto& [key, value] : changes) {
        if (value) {
            state.state.put(key, *value);
        } else {
            state.state.erase(key);
        }
    }
    state.tree = tree;
    ++state.height;
    state.tip = hash;
    state.time_ms = time_ms;
}

ExecutedBlocks::ExecutedBlocks() : before_(std::exchange(remembered, this)) {}

ExecutedBlocks::~ExecutedBlocks() { remembered = before_; }

ExecutedBlocks* ExecutedBlocks::of_this_thread() { return remembered; }

std::shared_ptr<const ExecutedBlock> ExecutedBlocks::find(const VerifiedState& before, ByteView block) const {
    const Hash256 root = before.tree.root();
    for (const auto& one : executed_) {
        if (one->tip == before.tip && one->state_root == root &&
            std::equal(one->block.begin(), one->block.end(), block.begin(), block.end())) {
            return one;
        }
    }
    return nullptr;
}

void ExecutedBlocks::remember(ExecutedBlock executed) {
    if (executed_.size() == kBlocksRemembered) executed_.pop_back();
    executed_.push_front(std::make_shared<const ExecutedBlock>(std::move(executed)));
}

}  // namespace assay::ledger
