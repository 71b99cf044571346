// SPDX-License-Identifier: Apache-2.0
// Gives a server LentCopies, the blocks that its calls are sending: one copy of each, however many calls send
// it, and a limit of their bytes. A client that does not read keeps what it asked for in memory, which no
// quota of gRPC counts. Internal to node/rpc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "contracts/base/error.hpp"
#include "node/rpc/server.hpp"

namespace assay::node {

/// Thread-safe. Outlives what it lends.
template <class T>
class LentCopies {
public:
    using Copy = std::shared_ptr<const T>;

    explicit LentCopies(const ByteLimits& limits) : limits_(limits) {}
    LentCopies(const LentCopies&) = delete;
    LentCopies& operator=(const LentCopies&) = delete;

    /// The block of `height` for a caller at `address`, counted until the last of its copies there is let go.
    /// `read` gives it, as an Outcome<Copy>, when nobody has it; `bytes_of` says what it holds. Null when the
    /// limits leave no room for it; whoever holds nothing gets the first one, however long. Errors of `read`.
    template <class Read, class BytesOf>
    base::Outcome<Copy> borrow(std::uint64_t height, const std::string& address, const Read& read,
                               const BytesOf& bytes_of) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = lent_.find(height); found != lent_.end()) return lend(*found, address);
        }
        ASSAY_ASSIGN(Copy copy, read());
        const std::uint64_t bytes = bytes_of(*copy);
        const std::lock_guard lock(mutex_);
        // Another caller may have read it meanwhile: one of the two is kept.
        return lend(*lent_.try_emplace(height, Lent{std::move(copy), bytes, {}}).first, address);
    }

    /// Bytes of all copies that are lent.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return total_;
    }

private:
    struct Lent {
        Copy copy;
        std::uint64_t bytes = 0;
        std::map<std::string, int> borrowers;  ///< calls by address; empty only while the lock is held
    };
    using Entry = typename std::map<std::uint64_t, Lent>::value_type;

    static bool fits(std::uint64_t held, std::uint64_t more, std::uint64_t limit) {
        return held == 0 || (held <= limit && more <= limit - held);
    }

    // The caller holds the lock.
    Copy lend(Entry& entry, const std::string& address) {
        const std::uint64_t height = entry.first;
        Lent& lent = entry.second;
        const bool is_first = lent.borrowers.empty();
        const bool is_new_here = !lent.borrowers.contains(address);
        const auto here = by_address_.find(address);
        const std::uint64_t held_here = here == by_address_.end() ? 0 : here->second;
        if ((is_first && !fits(total_, lent.bytes, limits_.total)) ||
            (is_new_here && !fits(held_here, lent.bytes, limits_.per_address))) {
            if (is_first) lent_.erase(height);
            return nullptr;
        }
        if (is_first) total_ += lent.bytes;
        if (is_new_here) by_address_[address] += lent.bytes;
        ++lent.borrowers[address];
        return Copy(lent.copy.get(), [this, height, address](const T*) { give_back(height, address); });
    }

    void give_back(std::uint64_t height, const std::string& address) {
        Copy last;  // freed without the lock
        const std::lock_guard lock(mutex_);
        const auto found = lent_.find(height);
        Lent& lent = found->second;
        const auto here = lent.borrowers.find(address);
        if (--here->second > 0) return;
        lent.borrowers.erase(here);
        const auto counted = by_address_.find(address);
        counted->second -= lent.bytes;
        if (counted->second == 0) by_address_.erase(counted);
        if (!lent.borrowers.empty()) return;
        total_ -= lent.bytes;
        last = std::move(lent.copy);
        lent_.erase(found);
    }

    const ByteLimits limits_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Lent> lent_;
    std::map<std::string, std::uint64_t> by_address_;
    std::uint64_t total_ = 0;
};

}  // namespace assay::node
