// SPDX-License-Identifier: Apache-2.0
// Gives views of earnings their rows: one for each round, or summed over jobs or days. Internal to the views.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "node/views/earnings_view.hpp"

namespace assay::node {

/// A row of one round, and when it was settled.
template <class Row>
struct DatedRow {
    Row row;
    std::uint64_t height = 0;  ///< 0: it is not settled yet
};

template <class Row>
struct SummedRows {
    std::vector<Row> rows;
    Row total;
};

/// Rows have `job` and `day`; `add` adds a row to a sum. Fails when `day_of` fails; a row that is not settled
/// has no day.
template <class Row, class Add>
base::Outcome<SummedRows<Row>> summed_rows(const std::vector<DatedRow<Row>>& dated, EarningsBy by,
                                           const DayOf& day_of, const Add& add) {
    SummedRows<Row> summed;
    std::map<std::string, Row> sums;  // by the text that rows of one sum share
    for (const DatedRow<Row>& one : dated) {
        add(summed.total, one.row);
        if (by == EarningsBy::kRound) {
            summed.rows.push_back(one.row);
            continue;
        }
        Row key;
        if (by == EarningsBy::kJob) key.job = one.row.job;
        if (by == EarningsBy::kDay && one.height > 0) {
            ASSAY_ASSIGN(key.day, day_of(one.height));
        }
        const std::string shared = by == EarningsBy::kJob ? one.row.job->hex() : key.day;
        add(sums.try_emplace(shared, key).first->second, one.row);
    }
    for (auto& [shared, sum] : sums) summed.rows.push_back(std::move(sum));
    return summed;
}

}  // namespace assay::node
