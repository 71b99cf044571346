// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/partial_table.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/dispute/work.hpp"

namespace assay::dispute {

std::string_view to_text(PartialPhase phase) {
    switch (phase) {
        case PartialPhase::kTile: return "tile";
        case PartialPhase::kMaxima: return "maxima";
        case PartialPhase::kSums: return "sums";
        case PartialPhase::kChains: return "chains";
        case PartialPhase::kTotals: return "totals";
        case PartialPhase::kLanes: return "lanes";
        case PartialPhase::kLargest: return "largest";
        case PartialPhase::kTree: break;
    }
    return "tree";
}

CellShape PartialLaw::tile_shape() const { return {CellKind::kReal, w.numbers()}; }

Cells PartialLaw::compute(std::uint64_t partial) {
    ASSAY_CHECK(partial < partials());
    Cells out = Cells::of(shape(partial));
    fill(partial, out);
    out.make_canonical();
    return out;
}

const PartialRow& partial_row(program::OperatorKind kind) {
    for (const std::span<const PartialRow> rows :
         {element_rows(), row_sum_rows(), product_rows(), column_sum_rows(), norm_rows()}) {
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [kind](const PartialRow& row) { return row.kind == kind; });
        if (found != rows.end()) return *found;
    }
    ASSAY_CHECK(false);
}

}  // namespace assay::dispute
