// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/allocation_plan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "contracts/base/check.hpp"
#include "trainer/step/single.hpp"

namespace assay::trainer {

using program::Operator;
using program::TensorId;
using program::TensorRole;

namespace {
// A stretch of groups, both ends included, in which some memory is in use.
struct Life {
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
    std::size_t within = SIZE_MAX;  // the life whose memory this one reuses
};

// How a gradient of a parameter lives.
enum class GradientLife : std::uint8_t {
    kStep,     // from the beginning of a step to its end
    kWritten,  // from the first group that makes it, which writes it
    kSummed,   // the same, but that group adds to it
};

class Planner {
public:
    Planner(const program::Program& program, const Device& device, const GroupShape& shape,
            StepSchedule schedule, Grouping grouping, GradientLife of_products)
        : program_(program),
          shape_(shape),
          alignment_(std::max(AllocationPlan::aligned(1), device.hints().alignment)),
          schedule_(std::move(schedule)),
          keep_all_(grouping == Grouping::kSingle),
          tied_(tied_gradient(program)),
          gradients_(program.tensors.size(), GradientLife::kStep) {
        if (of_products != GradientLife::kStep) list_gradients(of_products);
        const std::size_t count = schedule_.groups.size();
        current_.assign(program.tensors.size(), kNone);
        begins_.resize(count);
        begun_.resize(program.tensors.size());
        for (std::size_t at = 0; at < count; ++at) live_through(at);
        for (std::size_t at = 0; at < count && !keep_all_; ++at) take_over(at);
        for (std::size_t at = 0; at < count; ++at) {
            scratch_.push_back(lives_.size());
            lives_.push_back({at, at, rounded(device.scratch(program, schedule_.groups[at], shape))});
        }
        place();
    }

    AllocationPlan take() && {
        AllocationPlan plan;
        plan.once = schedule_.once;
        for (std::size_t at = 0; at < schedule_.groups.size(); ++at) {
            PlannedGroup planned;
            for (const auto& [tensor, life] : begins_[at]) {
                planned.places.push_back(
                    {tensor, lives_[owner(life)].offset, gradients_[tensor] == GradientLife::kSummed});
            }
            planned.scratch = lives_[scratch_[at]].offset;
            planned.group = std::move(schedule_.groups[at]);
            planned.again = schedule_.rematerialised[at];
            plan.groups.push_back(std::move(planned));
        }
        for (const Life& life : lives_) plan.block = std::max(plan.block, life.offset + life.size);
        if (plan.once != plan.groups.size()) place_others(plan);
        return plan;
    }

private:
    static constexpr std::size_t kNone = SIZE_MAX;

    void list_gradients(GradientLife of_products) {
        for (const TensorId id : weight_gradients(program_)) gradients_[id] = of_products;
        if (tied_) gradients_[tied_->sum] = GradientLife::kWritten;
        for (const TensorId id : embedding_gradients(program_)) {
            // The embedding's part of a tied matrix's gradient has rows of its own.
            if (!tied_ || id != tied_->by_embedding) gradients_[id] = GradientLife::kSummed;
        }
    }

    // The gradients that live throughout, in canonical order.
    void place_others(AllocationPlan& plan) const {
        std::size_t next = 0;
        for (TensorId id = 0; id < program_.tensors.size(); ++id) {
            const program::Tensor& tensor = program_.tensors[id];
            if (tensor.role != TensorRole::kParameterGradient) continue;
            // A tied matrix has more of them behind the canonical ones.
            if (next++ >= program_.parameters.size()) break;
            if (gradients_[id] != GradientLife::kStep) continue;
            plan.gradients.push_back({id, plan.gradient});
            plan.gradient += tensor.rows.fixed * tensor.cols;
        }
    }

    [[nodiscard]] std::uint64_t rounded(std::uint64_t count) const {
        return (count + alignment_ - 1) / alignment_ * alignment_;
    }

    [[nodiscard]] bool is_planned(TensorId id) const {
        const TensorRole role = program_.tensors[id].role;
        return role == TensorRole::kActivation || role == TensorRole::kGradient ||
               role == TensorRole::kScalar || gradients_[id] != GradientLife::kStep;
    }

    void live_through(std::size_t at) {
        const Group& group = schedule_.groups[at];
        for (const TensorId id : group.reads) {
            if (!is_planned(id)) continue;
            ASSAY_CHECK(current_[id] != kNone);
            lives_[current_[id]].last = std::max(lives_[current_[id]].last, at);
        }
        for (const TensorId id : group.writes) {
            if (!is_planned(id)) continue;
            const bool reads = std::find(group.reads.begin(), group.reads.end(), id) != group.reads.end();
            // Of a tensor with several writers only the first of them to run again begins another life.
            const bool goes_on = !schedule_.rematerialised[at] || begins_again(id);
            if (current_[id] != kNone && (reads || goes_on)) {
                lives_[current_[id]].last = std::max(lives_[current_[id]].last, at);
                continue;
            }
            const program::Tensor& tensor = program_.tensors[id];
            Life life{at, at, rounded(tensor.rows.of(shape_.sequences) * tensor.cols)};
            if (tensor.role == TensorRole::kScalar || keep_all_)
                life.first = 0, life.last = schedule_.groups.size();
            if (gradients_[id] != GradientLife::kStep) life.last = schedule_.groups.size();
            begin(at, id, lives_.size());
            // The head's gradient of a tied matrix becomes the sum in place.
            if (tied_ && id == tied_->by_head && gradients_[id] != GradientLife::kStep)
                begin(at, tied_->sum, lives_.size());
            lives_.push_back(life);
        }
    }

    void begin(std::size_t at, TensorId id, std::size_t life) {
        current_[id] = life;
        begins_[at].emplace_back(id, life);
        begun_[id].emplace_back(at, life);
    }

    [[nodiscard]] bool begins_again(TensorId id) const {
        return current_[id] != kNone && schedule_.rematerialised[lives_[current_[id]].first];
    }

    // Lets an element-wise operator write over an operand that nobody reads afterwards.
    void take_over(std::size_t at) {
        const Group& group = schedule_.groups[at];
        for (std::size_t i = 0; i < group.operators.size(); ++i) {
            const Operator& one = program_.operators[group.operators[i]];
            if (one.row().cut.reach != program::Reach::kElement) continue;
            const std::size_t out = beginning(at, one.outputs[0]);
            for (const TensorId id : one.operands) {
                const std::size_t in = last_life(at, id);
                if (out == kNone || in == kNone || lives_[out].within != kNone) continue;
                if (is_read_after(group, i, id)) continue;
                lives_[out].within = in;
                lives_[owner(in)].last = std::max(lives_[owner(in)].last, lives_[out].last);
            }
        }
    }

    // The life of `id` that begins at group `at`.
    [[nodiscard]] std::size_t beginning(std::size_t at, TensorId id) const {
        const auto last = begun_by(at, id);
        return last && last->first == at ? last->second : kNone;
    }
    // The life of `id` at group `at` when it ends there.
    [[nodiscard]] std::size_t last_life(std::size_t at, TensorId id) const {
        const auto last = begun_by(at, id);
        return last && lives_[owner(last->second)].last == at ? last->second : kNone;
    }
    // The group, at `at` or before, at which the newest life of `id` begins, and that life.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> begun_by(std::size_t at,
                                                                              TensorId id) const {
        const auto& lives = begun_[id];
        const auto later = std::partition_point(lives.begin(), lives.end(),
                                                [&](const auto& life) { return life.first <= at; });
        return later == lives.begin() ? std::nullopt : std::optional(*std::prev(later));
    }
    [[nodiscard]] bool is_read_after(const Group& group, std::size_t place, TensorId id) const {
        for (std::size_t i = place + 1; i < group.operators.size(); ++i) {
            const Operator& one = program_.operators[group.operators[i]];
            if (std::find(one.operands.begin(), one.operands.end(), id) != one.operands.end()) return true;
        }
        return false;
    }
    [[nodiscard]] std::size_t owner(std::size_t life) const {
        while (lives_[life].within != kNone) life = lives_[life].within;
        return life;
    }

    // Largest first, each at the lowest offset that is free throughout its life.
    void place() {
        std::vector<std::size_t> by_size;
        for (std::size_t i = 0; i < lives_.size(); ++i) {
            if (lives_[i].within == kNone) by_size.push_back(i);
        }
        std::stable_sort(by_size.begin(), by_size.end(),
                         [&](std::size_t a, std::size_t b) { return lives_[a].size > lives_[b].size; });
        std::vector<std::size_t> placed;  // by offset
        for (const std::size_t one : by_size) {
            Life& life = lives_[one];
            for (const std::size_t other : placed) {
                const Life& taken = lives_[other];
                if (taken.last < life.first || life.last < taken.first) continue;
                if (taken.offset >= life.offset + life.size) break;
                life.offset = std::max(life.offset, taken.offset + taken.size);
            }
            placed.insert(std::upper_bound(placed.begin(), placed.end(), one,
                                           [&](std::size_t a, std::size_t b) {
                                               return lives_[a].offset < lives_[b].offset;
                                           }),
                          one);
        }
    }

    const program::Program& program_;
    GroupShape shape_;
    std::uint64_t alignment_;  // in floats
    StepSchedule schedule_;
    bool keep_all_;  // no tensor lies over another
    std::optional<TiedGradient> tied_;
    std::vector<GradientLife> gradients_;                                  // per tensor
    std::vector<std::size_t> current_;                                     // per tensor: its life so far
    std::vector<std::vector<std::pair<TensorId, std::size_t>>> begins_;    // per group
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> begun_;  // per tensor: group and life
    std::vector<std::size_t> scratch_;                                     // per group
    std::vector<Life> lives_;
};

// One micro-batch adds nothing to what another has written.
GradientLife product_gradients(const Device& device, const PlanChoice& choice, std::uint32_t batch) {
    if (choice.micro_batch < batch || choice.grouping == Grouping::kSingle) return GradientLife::kStep;
    const bool written = choice.grouping == Grouping::kFused && device.hints().starts_weight_gradients;
    return written ? GradientLife::kWritten : GradientLife::kSummed;
}

PlanChoice settled(const program::Program& program, PlanChoice choice) {
    const std::uint64_t context = program.model.context;
    const std::uint64_t all = choice.micro_batch * context;
    if (choice.grouping == Grouping::kSingle) choice.rematerialise = Rematerialise::kNothing;
    if (choice.grouping != Grouping::kFused) choice.head_rows = all;
    if (choice.head_rows == 0 || choice.head_rows > all) choice.head_rows = all;
    if (program.profile == program::Profile::kI16) {
        choice.head_rows = (choice.head_rows + context - 1) / context * context;
    }
    return choice;
}
}  // namespace

AllocationPlan plan_allocation(const program::Program& program, const Device& device,
                               const PlanChoice& wanted, std::uint32_t batch) {
    ASSAY_CHECK(wanted.micro_batch >= 1 && batch >= 1);
    PlanChoice choice = wanted;
    if (!device.hints().runs_groups && choice.grouping == Grouping::kFused)
        choice.grouping = Grouping::kAlone;
    choice = settled(program, choice);
    const GroupShape shape{choice.micro_batch, choice.head_rows, choice.keep_weights, batch};
    const bool single = choice.grouping == Grouping::kSingle;
    const bool one_by_one = choice.grouping == Grouping::kOperators || choice.grouping == Grouping::kAlone;
    StepSchedule schedule =
        single ? schedule_singly(program)
        : one_by_one
            ? schedule_operators(program, choice.rematerialise,
                                 choice.grouping == Grouping::kAlone ? Updates::kTogether : Updates::kEach)
            : schedule_step(program, choice.rematerialise);
    AllocationPlan plan = Planner(program, device, shape, std::move(schedule), choice.grouping,
                                  product_gradients(device, choice, batch))
                              .take();
    plan.choice = choice;
    plan.batch = batch;
    plan.device = device.own_bytes(program, shape);
    if (plan.once == plan.groups.size()) return plan;
    if (program.model.head == program::Head::kTied) {
        const std::uint64_t tokens = std::uint64_t{batch} * program.model.context;
        const std::uint64_t vocabulary = program.model.vocabulary;
        const std::uint64_t rows = single       ? 2 * vocabulary
                                   : one_by_one ? vocabulary
                                                : std::min(tokens, vocabulary);
        plan.embedding_rows = rows * program.model.width;
    }
    return plan;
}

}  // namespace assay::trainer
