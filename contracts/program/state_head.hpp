// SPDX-License-Identifier: Apache-2.0
// StateHead is the file whose blob id names a state. It holds the state's counters and, for each array of
// numbers, the array's root and the blob that holds the numbers. So a reader that needs one array fetches
// only that array, and can still check the state's root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

struct StatePart {
    StateArray array = StateArray::kParameters;
    Hash256 root;  ///< array_root
    Hash256 blob;  ///< of the array's file: binary32, little-endian, nothing else
    friend bool operator==(const StatePart&, const StatePart&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.array, self.root, self.blob);
    }
};

struct StateHead {
    std::uint64_t step = 0;
    std::uint64_t cursor = 0;
    std::optional<std::uint64_t> age;  ///< of the moments, in jobs that carry them
    std::vector<StatePart> parts;      ///< in the order of the strategy's row

    /// Null when it has no such array.
    [[nodiscard]] const StatePart* part(StateArray array) const;
    friend bool operator==(const StateHead&, const StateHead&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.step, self.cursor, self.age, self.parts);
    }
};

/// The largest head's file has one part for each array and is not larger than this.
inline constexpr std::size_t kMaxHeadBytes = 512;

/// "AHEAD001" ‖ canonical encoding.
base::Bytes encode_state_head(const StateHead& head);
/// Strict: fails with kBadVariant for other first bytes, and with kUnsortedKeys for an array named twice.
base::Result<StateHead, base::DecodeError> decode_state_head(base::ByteView bytes);

/// Whether the head is that of a state of these arrays, in this order, with an age exactly if `aged`.
bool fits(const StateHead& head, std::span<const StateArray> arrays, bool aged);

/// roots_of: the components of the state's root. root_of: the root of one array among them.
StateRoots roots_of(const StateHead& head);
const Hash256& root_of(const StateRoots& roots, StateArray array);

/// From a state's files (the head, then its arrays in the order of `all`), selects the head and the wanted
/// arrays. If the number of files is another, some are missing, and all are returned.
template <class File>
std::vector<File> narrowed(const std::vector<File>& files, std::span<const StateArray> all,
                           std::span<const StateArray> wanted) {
    if (files.size() != all.size() + 1) return files;
    std::vector<File> some{files.front()};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (std::find(wanted.begin(), wanted.end(), all[i]) != wanted.end()) some.push_back(files[i + 1]);
    }
    return some;
}

}  // namespace assay::program
