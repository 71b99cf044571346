// SPDX-License-Identifier: Apache-2.0
// Gives miners and verifiers OrderWatch, which reads the owner's order (work_order.hpp) while the role works,
// and tells the log what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "node/roles/work_order.hpp"

namespace assay::node {

class OrderWatch {
public:
    /// The seams must outlive it. REQUIRES a miner or a verifier.
    OrderWatch(const Seams& seams, WorkRole role) : seams_(seams), role_(role) {}

    /// Reads the order once in each block, and every half second where no block comes. An order that cannot
    /// be read counts as kPause. Returns whether it was read now: the owner's other notes may be read at the
    /// same times.
    bool look(std::uint64_t height);
    [[nodiscard]] WorkOrder order() const { return order_; }
    [[nodiscard]] bool takes_on_work() const { return order_ == WorkOrder::kWork; }
    /// Whether a role that drains may end: `needed_for`, what still needs it, is empty. Logs each cause that
    /// it waits for, and the end. REQUIRES WorkOrder::kDrain.
    bool may_end(const std::string& needed_for);

private:
    Seams seams_;
    WorkRole role_;
    WorkOrder order_ = WorkOrder::kWork;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> seen_;  ///< height, and when
    bool unread_ = false;                                          ///< it cannot be read; the log has said so
    std::string waits_for_;                                        ///< while it drains; the log has said so
};

}  // namespace assay::node
