// SPDX-License-Identifier: Apache-2.0
// Gives the lists of laws (element_rows and its neighbours) what they share: the law of a tile that is
// computed in one go, and where a row of heads stands.
#pragma once

#include <algorithm>

#include "contracts/dispute/link_table.hpp"
#include "contracts/dispute/work.hpp"

namespace assay::dispute {

/// The tile is computed from a bounded part of the operands.
class OneLink final : public LinkLaw {
public:
    using Function = void (*)(TileWork& w, std::span<float> out);
    OneLink(TileWork& work, Function function) : LinkLaw(work), function_(function) {}
    [[nodiscard]] std::uint64_t links() const override { return 1; }
    [[nodiscard]] LinkPlace place(std::uint64_t) const override { return {}; }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t, Cells& out) override { function_(w, out.real); }

private:
    Function function_;
};

template <OneLink::Function function>
std::unique_ptr<LinkLaw> one_link(TileWork& work) {
    return std::make_unique<OneLink>(work, function);
}

/// A row of a tensor that has T rows for each sequence and query head: the query, and the rows before those
/// of its head.
struct HeadRow {
    std::uint64_t sequence = 0;
    std::uint64_t head = 0;
    std::uint64_t query = 0;
};
inline HeadRow head_row(const TileWork& w, std::uint64_t row) {
    const std::uint64_t context = w.context();
    return {row / context / w.model().heads, row / context % w.model().heads, row % context};
}

/// Terms of so many elements.
constexpr std::uint64_t term_count(std::uint64_t elements) {
    return (elements + kTermLength - 1) / kTermLength;
}

}  // namespace assay::dispute
