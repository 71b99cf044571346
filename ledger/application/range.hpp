// SPDX-License-Identifier: Apache-2.0
// Ranges of the state: pages of the records under a prefix, for reads from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

using base::Bytes;

/// The most records of a page, and the most bytes of its keys and values; a single larger record is a page by
/// itself.
inline constexpr std::uint32_t kRangeRecordsMax = 1024;
inline constexpr std::size_t kRangeBytesMax = 512 * 1024;

struct RangeQuery {
    Bytes prefix;
    Bytes from;               ///< the first wanted key, included; empty for the beginning of the prefix
    std::uint32_t limit = 0;  ///< at most this many records; taken as 1 to kRangeRecordsMax
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.prefix, self.from, self.limit);
    }
};

struct RangeAnswer {
    std::vector<std::pair<Bytes, Bytes>> records;  ///< key and value, ascending by key
    std::optional<Bytes> next;  ///< RangeQuery::from of the next page; nothing when this was the last
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.records, self.next);
    }
};

/// Returns the page that `query` asks for. Reads at most one record more than it returns, wherever the page
/// is in the state.
RangeAnswer read_range(const contracts::StateView& state, const RangeQuery& query);

}  // namespace assay::ledger
