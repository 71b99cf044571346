// SPDX-License-Identifier: Apache-2.0
// Gives the bench of disputes the table that it fills, and the stopwatch of a verdict.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "contracts/dispute/position.hpp"
#include "contracts/dispute/referee.hpp"
#include "node/cli/verify/dispute_shapes.hpp"
#include "node/cli/verify/shape_memory.hpp"

namespace assay::node {

/// What is measured now.
struct ShapeSetting {
    program::Profile profile = program::Profile::kF32;
    NumberPattern pattern = NumberPattern::kOrdinary;
    int runs = 1;
};

/// Rows by name and profile.
class ShapeTable {
public:
    explicit ShapeTable(std::string only) : only_(std::move(only)) {}
    /// The row, which is made if there is none; null when `only` leaves it out. Valid as long as the table.
    DisputeShape* row(const std::string& name, const std::string& group, program::Profile profile);
    /// Operators in the order of the operator table, then the others in the order in which they came.
    [[nodiscard]] std::vector<DisputeShape> rows() const;

private:
    std::string only_;
    std::map<std::pair<std::string, program::Profile>, DisputeShape> rows_;
    std::vector<std::string> names_;  ///< in the order in which they came
};

/// Takes the median of the verdict's time, and keeps the worst in the row. Every verdict must be for the
/// claimant, or find a number that is not finite.
void note_verdicts(DisputeShape& row, const ShapeSetting& setting, const dispute::WayCost& way,
                   std::size_t witness_bytes, const std::function<dispute::GameVerdict()>& judge_once);
/// The same for work that is only timed.
void note_time(DisputeShape& row, const ShapeSetting& setting, const std::function<void()>& run_once);

}  // namespace assay::node
