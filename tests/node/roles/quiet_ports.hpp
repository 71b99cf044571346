// SPDX-License-Identifier: Apache-2.0
// The seams of a role for tests that do not look at them: a clock that the test moves, and no randomness,
// timers, disk, worker or peers. And two that keep what they get: a disk and a log in memory.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/seams/ports.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

/// Shows the time that the test sets.
struct HandClock final : node::Clock {
    [[nodiscard]] std::uint64_t mono_ns() const override { return now; }
    [[nodiscard]] std::int64_t wall_ms() const override { return wall; }
    std::uint64_t now = 0;
    std::int64_t wall = 0;
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
    base::Outcome<std::vector<std::string>> names(std::string_view) override {
        return std::vector<std::string>();
    }
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

/// Keeps every note in memory; refuses new ones while the test says so.
struct MemoryDisk final : node::DiskPort {
    base::Outcome<void> write(std::string_view name, base::ByteView content) override {
        if (refuses) return base::fail(base::ErrorKind::kFailure, "no space left on the notes' disk");
        files[std::string(name)] = base::to_bytes(content);
        return {};
    }
    base::Outcome<std::optional<base::Bytes>> read(std::string_view name) override {
        const auto found = files.find(std::string(name));
        return found == files.end() ? std::nullopt : std::optional(found->second);
    }
    base::Outcome<void> remove(std::string_view name) override {
        files.erase(std::string(name));
        return {};
    }
    base::Outcome<std::vector<std::string>> names(std::string_view prefix) override {
        std::vector<std::string> found;
        for (const auto& [name, content] : files)
            if (name.starts_with(prefix)) found.push_back(name);
        return found;
    }
    bool refuses = false;
    std::map<std::string, base::Bytes> files;
};

/// Keeps what was said, debug lines left out.
struct KeptLog final : node::Log {
    void write(node::LogLevel level, std::string_view text) override {
        if (level != node::LogLevel::kDebug) lines.emplace_back(text);
    }
    /// Lines that hold `words`.
    [[nodiscard]] std::ptrdiff_t lines_with(const std::string& words) const {
        return std::count_if(lines.begin(), lines.end(),
                             [&](const std::string& line) { return line.find(words) != std::string::npos; });
    }
    /// Whether one line has both.
    [[nodiscard]] bool said(const std::string& about, const std::string& what) const {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(about) != std::string::npos && line.find(what) != std::string::npos;
        });
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& line : lines) all += line + "\n";
        return all;
    }
    std::vector<std::string> lines;
};

}  // namespace assay::test
