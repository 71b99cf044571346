// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/step_schedule.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "contracts/base/check.hpp"
#include "trainer/step/single.hpp"

namespace assay::trainer {

using program::Operator;
using program::Phase;
using program::TensorId;

namespace {
class Scheduler {
public:
    Scheduler(const program::Program& program, Rematerialise rematerialise, bool singly,
              Updates updates = Updates::kEach)
        : program_(program),
          first_writers_(program),
          rematerialise_(rematerialise),
          singly_(singly),
          updates_(updates) {
        const auto count = static_cast<std::uint32_t>(program.operators.size());
        backward_ = once_ = count;
        for (std::uint32_t i = count; i-- > 0;) {
            const Operator& one = program.operators[i];
            if (one.row().phase == Phase::kOncePerStep) once_ = i;
            if (one.row().phase == Phase::kBackward) backward_ = i;
            if (group_kind(one) == GroupKind::kHead) head_ = i;
        }
        note_writers();
    }

    StepSchedule take() && {
        // The head's group holds the last operators of the forward pass and the first of the backward pass.
        std::uint32_t after_head = backward_;
        while (after_head < once_ && group_kind(program_.operators[after_head]) == GroupKind::kHead)
            ++after_head;
        append(0, after_head);
        for (Group& group : group_range(after_head, once_)) {
            append_rematerialised(group);
            schedule_.groups.push_back(std::move(group));
            schedule_.rematerialised.push_back(false);
        }
        schedule_.once = schedule_.groups.size();
        append(once_, static_cast<std::uint32_t>(program_.operators.size()));
        if (once_ == program_.operators.size()) schedule_.once = schedule_.groups.size();
        return std::move(schedule_);
    }

private:
    [[nodiscard]] std::vector<Group> group_range(std::uint32_t first, std::uint32_t last) const {
        std::vector<std::uint32_t> places;
        for (std::uint32_t i = first; i < last; ++i) places.push_back(i);
        return groups_of(places);
    }
    [[nodiscard]] std::vector<Group> groups_of(std::span<const std::uint32_t> places) const {
        if (!singly_) return group(program_, first_writers_, places);
        std::vector<Group> out;
        std::vector<std::uint32_t> update;
        for (const std::uint32_t place : places) {
            const bool waits =
                updates_ == Updates::kTogether && group_kind(program_.operators[place]) == GroupKind::kUpdate;
            if (waits) {
                update.push_back(place);
            } else {
                out.push_back(single_operator(program_, place));
            }
        }
        for (Group& last : group(program_, first_writers_, update)) out.push_back(std::move(last));
        return out;
    }

    void append(std::uint32_t first, std::uint32_t last) {
        for (Group& group : group_range(first, last)) {
            schedule_.groups.push_back(std::move(group));
            schedule_.rematerialised.push_back(false);
        }
    }

    // Schedules the operators that have to run again before `group`: the writers of tensors that it reads and
    // that were not kept.
    void append_rematerialised(const Group& group) {
        std::set<std::uint32_t> needed;
        std::vector<TensorId> wanted = group.reads;
        while (!wanted.empty()) {
            const TensorId id = wanted.back();
            wanted.pop_back();
            if (rematerialised_.contains(id) || !is_dropped(id)) continue;
            for (const std::uint32_t i : forward_[id].writers) {
                if (i >= head_) continue;
                const Operator& one = program_.operators[i];
                needed.insert(i);
                rematerialised_.insert(one.outputs.begin(), one.outputs.end());
                wanted.insert(wanted.end(), one.operands.begin(), one.operands.end());
            }
        }
        const std::vector<std::uint32_t> places(needed.begin(), needed.end());
        for (Group& rematerialised : groups_of(places)) {
            schedule_.groups.push_back(std::move(rematerialised));
            schedule_.rematerialised.push_back(true);
        }
    }

    // The operators up to the head's first that write a tensor, and whether one of another layer reads it.
    struct Forward {
        std::vector<std::uint32_t> writers;
        bool leaves_layer = false;
    };

    void note_writers() {
        forward_.resize(program_.tensors.size());
        for (std::uint32_t i = 0; i <= head_ && i < program_.operators.size(); ++i) {
            const Operator& one = program_.operators[i];
            for (const TensorId id : one.outputs) {
                std::vector<std::uint32_t>& writers = forward_[id].writers;
                if (writers.empty() || writers.back() != i) writers.push_back(i);
            }
            for (const TensorId id : one.operands) {
                Forward& read = forward_[id];
                if (read.writers.empty()) continue;
                read.leaves_layer |= one.layer != program_.operators[read.writers.back()].layer;
            }
        }
    }

    [[nodiscard]] bool is_dropped(TensorId id) const {
        if (program_.tensors[id].role != program::TensorRole::kActivation) return false;
        const Forward& forward = forward_[id];
        const Operator* writer =
            forward.writers.empty() ? nullptr : &program_.operators[forward.writers.back()];
        if (writer == nullptr || writer->layer < 0) return false;
        if (writer->row().is_transient) return true;
        switch (rematerialise_) {
            case Rematerialise::kNothing: return false;
            case Rematerialise::kCheap: return is_cheap_to_rematerialise(*writer) && id == writer->outputs[0];
            case Rematerialise::kLayers: return !forward.leaves_layer;
        }
        return false;
    }

    const program::Program& program_;
    FirstWriters first_writers_;
    Rematerialise rematerialise_;
    bool singly_;
    Updates updates_;
    std::uint32_t backward_ = 0;    // first operator of the backward pass
    std::uint32_t once_ = 0;        // first operator that runs once per step
    std::uint32_t head_ = 0;        // first operator of the head
    std::vector<Forward> forward_;  // per tensor
    std::set<TensorId> rematerialised_;
    StepSchedule schedule_;
};
}  // namespace

std::string_view to_text(Rematerialise rematerialise) {
    switch (rematerialise) {
        case Rematerialise::kNothing: return "nothing";
        case Rematerialise::kCheap: return "norms and activations";
        case Rematerialise::kLayers: return "layers";
    }
    return "?";
}

StepSchedule schedule_step(const program::Program& program, Rematerialise rematerialise) {
    return Scheduler(program, rematerialise, false).take();
}

StepSchedule schedule_operators(const program::Program& program, Rematerialise rematerialise,
                                Updates updates) {
    return Scheduler(program, rematerialise, true, updates).take();
}

}  // namespace assay::trainer
