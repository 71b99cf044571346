// SPDX-License-Identifier: Apache-2.0
#include "node/roles/order_watch.hpp"

namespace assay::node {

namespace {

/// An idle ledger makes no blocks: the order is looked at by the clock, too.
constexpr std::uint64_t kOrderReadPauseNs = 500'000'000;

struct OrderWords {
    const char* works;    ///< "asks for jobs"
    const char* nothing;  ///< "asks for nothing"
};

OrderWords words_of(WorkRole role) {
    if (role == WorkRole::kVerifier) return {"enlists for jobs", "enlists for nothing"};
    return {"asks for jobs", "asks for nothing"};
}

}  // namespace

bool OrderWatch::look(std::uint64_t height) {
    const std::uint64_t now = seams_.clock.mono_ns();
    if (seen_ && seen_->first == height && now < seen_->second + kOrderReadPauseNs) return false;
    seen_ = {height, now};
    const OrderWords words = words_of(role_);
    const auto read = read_order(seams_.disk, role_);
    // Who cannot tell what its owner wants takes on nothing.
    const WorkOrder order = read.ok() ? *read : WorkOrder::kPause;
    if (!read.ok() && !unread_) seams_.log.warn(read.error().what + "; it " + words.nothing + " meanwhile");
    unread_ = !read.ok();
    if (order == order_) return true;
    order_ = order;
    if (order == WorkOrder::kWork) {
        seams_.log.info("told to work: " + std::string(words.works));
    } else {
        seams_.log.info("told to " + std::string(to_text(order)) + ": " + words.nothing + " more" +
                        (order == WorkOrder::kDrain ? ", and ends once nothing needs it" : "") + "; assay " +
                        std::string(to_text(role_)) + " resume takes it back");
    }
    return true;
}

bool OrderWatch::may_end(const std::string& needed_for) {
    if (std::exchange(waits_for_, needed_for) != needed_for && !needed_for.empty())
        seams_.log.info("draining: waits for " + needed_for);
    if (!needed_for.empty()) return false;
    seams_.log.info("drained: nothing needs this " + std::string(to_text(role_)) + " any more");
    return true;
}

}  // namespace assay::node
