// SPDX-License-Identifier: Apache-2.0
// Gives the parties of a simulation their seams: a clock that the world moves, bytes derived from a seed, and
// queues of a role's requests to ledger and peers, which the world answers.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/hash.hpp"
#include "node/seams/ports.hpp"

namespace assay::node::sim {

struct SimClock final : Clock {
    [[nodiscard]] std::uint64_t mono_ns() const override { return now; }
    [[nodiscard]] std::int64_t wall_ms() const override { return static_cast<std::int64_t>(now / 1'000'000); }
    std::uint64_t now = 0;
};

/// A stream of hashes of a seed.
class SeededBytes final : public Random {
public:
    explicit SeededBytes(const base::Hash256& seed) : seed_(seed) {}
    void fill(std::span<std::uint8_t> out) override {
        for (std::size_t at = 0; at < out.size(); at += 32) {
            const base::Hash256 next = base::Hasher("assay/sim/random").add(seed_).add_u64(count_++).finish();
            std::copy_n(next.bytes.begin(), std::min<std::size_t>(32, out.size() - at),
                        out.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

private:
    base::Hash256 seed_;
    std::uint64_t count_ = 0;
};

/// Timers never fire, because every turn of the world steps every role.
struct TurnTimers final : Timers {
    TimerId at(std::uint64_t) override { return ++last; }
    void cancel(TimerId) override {}
    TimerId last = 0;
};

struct OfferedTransactions final : LedgerPort {
    void submit(RequestId request, Bytes transaction) override {
        offered.emplace_back(request, std::move(transaction));
    }
    void get(RequestId, Bytes) override {}
    void scan(RequestId, Bytes) override {}
    void subscribe(std::uint64_t) override {}
    /// Never called: the world writes its own clock into its blocks, so no block is put off.
    void subscribe_again(std::uint64_t, std::uint64_t) override { ASSAY_CHECK(false); }
    std::vector<std::pair<RequestId, Bytes>> offered;
};

struct WantedBlobs final : BlobPort {
    struct Wanted {
        RequestId request = 0;
        BlobId id;
        FetchTerms terms;
        std::vector<Endpoint> holders;
    };
    void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
               std::vector<Endpoint> holders) override {
        wanted.push_back({request, id, terms, std::move(holders)});
    }
    std::deque<Wanted> wanted;
};

struct MemoryNotes final : DiskPort {
    Outcome<void> write(std::string_view name, ByteView content) override {
        files[std::string(name)] = base::to_bytes(content);
        return {};
    }
    Outcome<std::optional<Bytes>> read(std::string_view name) override {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    }
    Outcome<void> remove(std::string_view name) override {
        if (const auto found = files.find(name); found != files.end()) files.erase(found);
        return {};
    }
    Outcome<std::vector<std::string>> names(std::string_view prefix) override {
        std::vector<std::string> found;
        for (const auto& [name, content] : files)
            if (name.starts_with(prefix)) found.push_back(name);
        return found;
    }
    std::map<std::string, Bytes, std::less<>> files;
};

/// Keeps the last warnings and errors, for the error that ends a simulation.
struct LastLines final : Log {
    void write(LogLevel level, std::string_view text) override {
        if (level < LogLevel::kWarn) return;
        lines.emplace_back(text);
        if (lines.size() > 8) lines.pop_front();
    }
    std::deque<std::string> lines;
};

}  // namespace assay::node::sim
