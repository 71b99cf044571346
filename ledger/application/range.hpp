// SPDX-License-Identifier: Apache-2.0
// Ranges of the state: pages of the records under a prefix, for whoever reads the state from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

using base::Bytes;

/// A page never holds more records, nor (save one single record) more bytes of keys and values than this.
inline constexpr std::uint32_t kRangeRecordsMax = 1024;
inline constexpr std::size_t kRangeBytesMax = 512 * 1024;

struct RangeQuery {
    Bytes prefix;
    Bytes from;               ///< first key wanted, included; empty: from the beginning of the prefix
    std::uint32_t limit = 0;  ///< at most this many records; taken as 1 to kRangeRecordsMax
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.prefix, self.from, self.limit);
    }
};

struct RangeAnswer {
    std::vector<std::pair<Bytes, Bytes>> records;  ///< key and value, ascending by key
    std::optional<Bytes> next;  ///< RangeQuery::from of the page that follows; nothing: this was the last
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.records, self.next);
    }
};

/// Returns the page that `query` asks for. Reads at most one record more than it returns, wherever in the
/// state the page lies.
RangeAnswer read_range(const contracts::StateView& state, const RangeQuery& query);

}  // namespace assay::ledger
