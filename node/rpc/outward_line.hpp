// SPDX-License-Identifier: Apache-2.0
// Gives a blob server OutwardLine, the asking side of one call that a holder opened. Internal to node/rpc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "assay.pb.h"
#include "node/seams/fetch_end.hpp"

namespace assay::node {

/// Thread-safe. Asks one question at a time; other callers wait for their turn.
class OutwardLine {
public:
    /// Sends a question; the answer comes through answered() or broken().
    using Send = std::function<void(const v1::LendAsk&)>;
    using Cut = std::function<void()>;
    OutwardLine(Send send, Cut cut) : send_(std::move(send)), cut_(std::move(cut)) {}

    /// kUnreachable when the call is over, or no answer came within `patience`, which ends the call. kBusy
    /// when no turn came within `patience`.
    FetchOutcome<v1::LendAnswer> ask(const v1::LendAsk& question, std::chrono::milliseconds patience);

    void answered(v1::LendAnswer answer);
    /// Marks the call as over: nothing is sent any more, and waiting callers get an error. `send` and `cut`
    /// are not called after this returns.
    void broken();
    /// Ends the call soon.
    void cut();

private:
    std::timed_mutex turn_;
    std::mutex mutex_;
    std::condition_variable wake_;
    Send send_;
    Cut cut_;
    bool open_ = true;
    std::optional<v1::LendAnswer> answer_;
};

}  // namespace assay::node
