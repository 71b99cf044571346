// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/link_table.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/dispute/work.hpp"

namespace assay::dispute {

std::string_view to_text(LinkPhase phase) {
    switch (phase) {
        case LinkPhase::kTile: return "tile";
        case LinkPhase::kMaxima: return "maxima";
        case LinkPhase::kSums: return "sums";
        case LinkPhase::kChains: return "chains";
        case LinkPhase::kTotals: return "totals";
        case LinkPhase::kLanes: return "lanes";
        case LinkPhase::kLargest: return "largest";
        case LinkPhase::kTree: break;
    }
    return "tree";
}

CellShape LinkLaw::tile_shape() const { return {CellKind::kReal, w.numbers()}; }

Cells LinkLaw::compute(std::uint64_t link) {
    ASSAY_CHECK(link < links());
    Cells out = Cells::of(shape(link));
    fill(link, out);
    out.make_canonical();
    return out;
}

const LinkRow& link_row(program::OperatorKind kind) {
    for (const std::span<const LinkRow> rows :
         {element_rows(), row_sum_rows(), product_rows(), column_sum_rows(), norm_rows()}) {
        const auto found =
            std::find_if(rows.begin(), rows.end(), [kind](const LinkRow& row) { return row.kind == kind; });
        if (found != rows.end()) return *found;
    }
    ASSAY_CHECK(false);
}

}  // namespace assay::dispute
