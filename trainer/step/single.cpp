// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/single.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::trainer {

namespace {
void add_once(std::vector<program::TensorId>& list, program::TensorId id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}
}  // namespace

Group single_operator(const program::Program& program, std::uint32_t index) {
    const program::Operator& one = program.operators[index];
    Group group;
    group.kind = GroupKind::kSingle;
    group.operators = {index};
    for (const program::TensorId id : one.operands) add_once(group.reads, id);
    for (const program::TensorId id : one.outputs) add_once(group.writes, id);
    return group;
}

StepSchedule schedule_singly(const program::Program& program) {
    StepSchedule schedule;
    std::vector<std::uint32_t> update;
    schedule.once = program.operators.size();
    for (std::uint32_t i = 0; i < program.operators.size(); ++i) {
        const program::Operator& one = program.operators[i];
        if (one.row().phase == program::Phase::kOncePerStep)
            schedule.once = std::min<std::size_t>(schedule.once, i);
        if (group_kind(one) == GroupKind::kUpdate) {
            update.push_back(i);
        } else {
            ASSAY_CHECK(update.empty());
            schedule.groups.push_back(single_operator(program, i));
        }
    }
    for (Group& last : group(program, update)) schedule.groups.push_back(std::move(last));
    schedule.rematerialised.assign(schedule.groups.size(), false);
    return schedule;
}

}  // namespace assay::trainer
