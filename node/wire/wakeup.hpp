// SPDX-License-Identifier: Apache-2.0
// Gives a thread that waits for descriptors Wakeup, one that other threads make readable to wake it.
#pragma once

#include "node/wire/descriptor.hpp"

namespace assay::worker {

/// Any thread may call wake(). Calls before a clear() count as one.
class Wakeup {
public:
    /// kFailure when descriptors are missing.
    static base::Outcome<Wakeup> create();

    /// Makes number() readable. Never blocks.
    void wake() const;
    /// Makes number() unreadable until the next wake(). Never blocks.
    void clear() const;

    [[nodiscard]] int number() const { return event_.number(); }

private:
    explicit Wakeup(Descriptor event) : event_(std::move(event)) {}
    Descriptor event_;
};

}  // namespace assay::worker
