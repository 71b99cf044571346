// SPDX-License-Identifier: Apache-2.0
#include "node/cli/verify/shape_table.hpp"

#include <algorithm>
#include <chrono>

#include "contracts/base/check.hpp"
#include "contracts/program/operator_table.hpp"

namespace assay::node {

DisputeShape* ShapeTable::row(const std::string& name, const std::string& group, program::Profile profile) {
    // All of them are disputes: so they can be asked for together.
    if (("disputes, " + name).find(only_) == std::string::npos) return nullptr;
    const auto [found, is_new] = rows_.try_emplace({name, profile});
    if (is_new) {
        found->second.name = name;
        found->second.group = group;
        found->second.profile = profile;
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
    return &found->second;
}

std::vector<DisputeShape> ShapeTable::rows() const {
    std::vector<std::string> order;
    for (const program::OperatorRow& one : program::operator_table()) order.emplace_back(one.name);
    for (const std::string& name : names_)
        if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    std::vector<DisputeShape> out;
    for (const std::string& name : order) {
        for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
            const auto found = rows_.find({name, profile});
            if (found != rows_.end()) out.push_back(found->second);
        }
    }
    return out;
}

void note_time(DisputeShape& row, const ShapeSetting& setting, const std::function<void()>& run_once) {
    std::vector<double> times;
    for (int i = 0; i < setting.runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run_once();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    double& worst = setting.pattern == NumberPattern::kSubnormal ? row.referee_us_subnormal : row.referee_us;
    worst = std::max(worst, times[times.size() / 2]);
}

void note_verdicts(DisputeShape& row, const ShapeSetting& setting, const dispute::WayCost& way,
                   std::size_t witness_bytes, const std::function<dispute::GameVerdict()>& judge_once) {
    row.witness_bytes = std::max(row.witness_bytes, witness_bytes);
    row.moves = std::max(row.moves, way.moves + 1);
    row.bytes = std::max<std::uint64_t>(row.bytes, sizeof(base::Hash256::bytes) * way.hashes + witness_bytes);
    dispute::GameVerdict verdict;
    note_time(row, setting, [&] { verdict = judge_once(); });
    ASSAY_CHECK(verdict.claimant_wins() || verdict.reason == dispute::GameReason::kDiverges);
}

}  // namespace assay::node
