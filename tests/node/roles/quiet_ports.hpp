// SPDX-License-Identifier: Apache-2.0
// The seams of a role for tests that do not look at them: a clock that the test moves, and no randomness,
// timers, disk, worker or peers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "node/seams/ports.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

/// Shows the time that the test sets.
struct HandClock final : node::Clock {
    [[nodiscard]] std::uint64_t mono_ns() const override { return now; }
    [[nodiscard]] std::int64_t wall_ms() const override { return 0; }
    std::uint64_t now = 0;
};

/// Fails the test when something asks for random bytes.
struct NoRandom final : node::Random {
    void fill(std::span<std::uint8_t>) override { FAIL("nothing here is random"); }
};

/// Takes every timer and rings none.
struct NoTimers final : node::Timers {
    node::TimerId at(std::uint64_t) override { return 1; }
    void cancel(node::TimerId) override {}
};

/// Takes every note and keeps none.
struct NoDisk final : node::DiskPort {
    base::Outcome<void> write(std::string_view, base::ByteView) override { return {}; }
    base::Outcome<std::optional<base::Bytes>> read(std::string_view) override {
        return std::optional<base::Bytes>();
    }
    base::Outcome<void> remove(std::string_view) override { return {}; }
};

/// Takes every question to a peer and answers none.
struct NoBlobs final : node::BlobPort {
    void fetch(node::RequestId, const node::BlobId&, const node::FetchTerms&,
               std::vector<node::Endpoint>) override {}
};

/// Takes every request and answers none.
struct NoWorker final : node::WorkerPort {
    void submit(node::RequestId, worker::Message, std::vector<worker::SharedDescriptor>) override {}
    void cancel(node::RequestId) override {}
};

}  // namespace assay::test
