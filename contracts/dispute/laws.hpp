// SPDX-License-Identifier: Apache-2.0
// What the lists of laws (element_rows and its neighbours) share: the law of a tile that is computed at once,
// and the place of a row of heads.
#pragma once

#include <algorithm>

#include "contracts/dispute/partial_table.hpp"
#include "contracts/dispute/work.hpp"

namespace assay::dispute {

/// The law of a tile that is computed at once, from a bounded part of the operands.
class OnePartial final : public PartialLaw {
public:
    using Function = void (*)(TileWork& w, std::span<float> out);
    OnePartial(TileWork& work, Function function) : PartialLaw(work), function_(function) {}
    [[nodiscard]] std::uint64_t partials() const override { return 1; }
    [[nodiscard]] PartialPlace place(std::uint64_t) const override { return {}; }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t, Cells& out) override { function_(w, out.real); }

private:
    Function function_;
};

template <OnePartial::Function function>
std::unique_ptr<PartialLaw> one_partial(TileWork& work) {
    return std::make_unique<OnePartial>(work, function);
}

/// The place of a row in a tensor that has T rows for each sequence and query head.
struct HeadRow {
    std::uint64_t sequence = 0;
    std::uint64_t head = 0;
    std::uint64_t query = 0;
};
inline HeadRow head_row(const TileWork& w, std::uint64_t row) {
    const std::uint64_t context = w.context();
    return {row / context / w.model().heads, row / context % w.model().heads, row % context};
}

/// The number of terms of so many elements.
constexpr std::uint64_t term_count(std::uint64_t elements) {
    return (elements + kTermLength - 1) / kTermLength;
}

}  // namespace assay::dispute
