// SPDX-License-Identifier: Apache-2.0
// Largest magnitudes of a tensor, as threads find them while they write it, against those of the whole.
#include "trainer/cpu/cpu_maxima.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "contracts/arithmetic/product_rule.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/allocation_count.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/reference/reference_device.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint64_t kBlock = arithmetic::kMaxProductBlock;

struct Matrix {
    Matrix(std::uint64_t row_count, std::uint64_t col_count, unsigned seed)
        : rows(row_count), cols(col_count), values(rows * cols) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (float& one : values) one = normal(random);
    }
    [[nodiscard]] const float* row(std::uint64_t i) const { return values.data() + i * cols; }
    // The largest of rows [top, bottom) and columns [left, right).
    [[nodiscard]] std::int32_t largest(std::uint64_t top, std::uint64_t bottom, std::uint64_t left,
                                       std::uint64_t right) const {
        std::int32_t most = 0;
        for (std::uint64_t i = top; i < bottom; ++i) {
            for (std::uint64_t j = left; j < std::min(right, cols); ++j) {
                most = std::max(most, std::bit_cast<std::int32_t>(row(i)[j]) & 0x7fffffff);
            }
        }
        return most;
    }
    std::uint64_t rows, cols;
    std::vector<float> values;
};

// Rows [first, last), `step` at a time, as one thread sees them.
void see(TensorMaxima& maxima, const Kernels& kernels, const Matrix& x, std::uint64_t first,
         std::uint64_t last, std::uint64_t step) {
    std::vector<std::int32_t> columns(x.cols, -1);
    TensorMaxima::Share share(maxima, kernels, columns.data());
    for (std::uint64_t i = first; i < last; i += step) share.see(x.row(i), i, std::min(step, last - i));
}

void require_known(const TensorMaxima& maxima, const Matrix& x, std::uint64_t context) {
    const LaneMaxima rows = maxima.of_rows(x.rows), columns = maxima.of_columns(x.rows);
    REQUIRE(rows.data != nullptr);
    REQUIRE(columns.data != nullptr);
    for (std::uint64_t i = 0; i < x.rows; ++i) {
        for (std::uint64_t b = 0; b * kBlock < x.cols; ++b) {
            REQUIRE(rows.data[b * rows.stride + i] == x.largest(i, i + 1, b * kBlock, (b + 1) * kBlock));
        }
    }
    for (std::uint64_t s = 0; s * context < x.rows; ++s) {
        for (std::uint64_t j = 0; j < x.cols; ++j) {
            REQUIRE(columns.data[s * columns.stride + j] ==
                    x.largest(s * context, std::min(x.rows, (s + 1) * context), j, j + 1));
        }
    }
}
}  // namespace

TEST_CASE("largest magnitudes are those of the tensor wherever threads cut its rows", "[trainer]") {
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        const Kernels& table = kernels(target);
        TensorMaxima maxima;
        // Twice of more rows, then of fewer, of other columns, and with a last sequence that is shorter.
        const std::pair<std::uint64_t, std::uint64_t> shapes[] = {{21, 19}, {21, 19}, {7, 19},
                                                                  {14, 40}, {23, 19}, {5, 19}};
        unsigned seed = 1;
        for (const auto& [rows, cols] : shapes) {
            const std::uint64_t context = 7;
            for (const std::uint64_t cut : {std::uint64_t{1}, rows / 2, rows - 1}) {
                const Matrix x(rows, cols, seed++);
                maxima.prepare({rows, cols, context}, MaximaOf::kRowsAndColumns);
                CHECK(maxima.of_rows(rows).data == nullptr);
                std::thread other([&] { see(maxima, table, x, cut, rows, 3); });
                see(maxima, table, x, 0, cut, 2);
                other.join();
                maxima.finish();
                require_known(maxima, x, context);
                // Of another number of rows, or from inside a sequence, nothing is known.
                CHECK(maxima.of_rows(rows + context).data == nullptr);
                CHECK(maxima.of_columns(rows, 1).data == nullptr);
                maxima.forget();
                CHECK(maxima.of_rows(rows).data == nullptr);
                CHECK(maxima.of_columns(rows).data == nullptr);
            }
        }
    }
}

TEST_CASE("rows longer than a block of an exact product have a largest magnitude for each block",
          "[trainer]") {
    const Matrix x(4, kBlock + 37, 5);
    TensorMaxima maxima;
    maxima.prepare({x.rows, x.cols, 2}, MaximaOf::kRowsAndColumns);
    see(maxima, kernels(test::all_targets().front()), x, 0, x.rows, 4);
    maxima.finish();
    require_known(maxima, x, 2);
    CHECK(maxima.of_columns(x.rows, 2).data == maxima.of_columns(x.rows).data + x.cols);
}

TEST_CASE("largest magnitudes take the memory that was said, those of rows alone less", "[trainer]") {
    const TensorMaxima::Shape shape{40, kBlock + 3, 20}, fewer{20, kBlock + 3, 20};
    for (const MaximaOf what : {MaximaOf::kRows, MaximaOf::kRowsAndColumns}) {
        TensorMaxima maxima;
        const std::uint64_t before = test::heap_bytes().plain;
        maxima.prepare(shape, what);
        const std::uint64_t taken = test::heap_bytes().plain - before;
        CHECK(taken == TensorMaxima::bytes(shape, what));
        maxima.prepare(fewer, what);
        maxima.prepare(shape, what);
        CHECK(test::heap_bytes().plain - before == taken);
        maxima.finish();
        CHECK((maxima.of_columns(shape.rows).data != nullptr) == (what == MaximaOf::kRowsAndColumns));
    }
    CHECK(TensorMaxima::bytes(shape, MaximaOf::kRows) == 4 * 2 * shape.rows);
    CHECK(TensorMaxima::bytes(shape, MaximaOf::kNothing) == 0);
}

TEST_CASE("watched are outputs of norms and activations and gradients of sums, where products read them",
          "[trainer]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        for (const bool is_step : {true, false}) {
            const auto program = is_step ? program::build_step_program(spec.model, spec.train, spec.profile)
                                         : program::build_evaluate_program(spec.model, spec.profile);
            const std::vector<MaximaOf> watched = CpuDevice::watched(program);
            std::map<MaximaOf, std::size_t> found;
            for (const program::Operator& one : program.operators) {
                for (const program::TensorId id : one.outputs) {
                    ++found[watched[id]];
                    if (watched[id] != MaximaOf::kNothing) CHECK(group_kind(one) == GroupKind::kRows);
                }
            }
            if (spec.profile == program::Profile::kF32) {
                CHECK(found.size() == 1);
                continue;
            }
            // Of each layer two norms and an activation, and the norm before the head; backwards the sum's
            // gradient twice, and the activation's.
            const std::size_t layers = spec.model.layers;
            CHECK(found[MaximaOf::kRows] == (is_step ? 0 : 3 * layers + 1));
            CHECK(found[MaximaOf::kRowsAndColumns] == (is_step ? 6 * layers + 1 : 0));
        }
    }
}

namespace {
// Gives out memory of the heap and remembers where the last of it is.
class SeenArena final : public Arena {
public:
    float* allocate(std::size_t count) override { return last = heap_->allocate(count); }
    [[nodiscard]] std::string_view name() const override { return "seen"; }
    float* last = nullptr;

private:
    std::unique_ptr<Arena> heap_ = make_heap_arena();
};

program::JobSpec job_of_integers() {
    program::JobSpec spec = test::small_jobs().back();
    REQUIRE(spec.profile == program::Profile::kI16);
    return spec;
}

// The rows that the first product of a step writes, when a number of what it multiplies is changed as soon as
// it is written: through the device or, where `arena` has given it its memory, behind its back.
std::vector<float> product_of_changed(Device& device, float number, const SeenArena* arena = nullptr) {
    const program::JobSpec spec = job_of_integers();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    std::uint32_t product = 0, writer = 0;
    while (program.operators[product].kind != program::OperatorKind::kLinear) ++product;
    const program::TensorId operand = program.operators[product].operands[0];
    const program::TensorId output = program.operators[product].outputs[0];
    while (program.operators[writer].outputs[0] != operand) ++writer;
    PlanChoice choice{2};
    choice.grouping = Grouping::kOperators;
    Executor executor(program, device, plan_allocation(program, device, choice, 2));
    float* behind = nullptr;
    if (arena != nullptr) {
        for (const PlannedGroup& planned : executor.plan().groups) {
            for (const PlannedGroup::Place& place : planned.places) {
                if (place.tensor == operand) behind = arena->last + place.offset;
            }
        }
        REQUIRE(behind != nullptr);
    }
    program::SlotArrays state = test::initial_state(spec);
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    std::vector<float> found(2 * spec.model.context * program.tensors[output].cols);
    executor.run_each(product, program::Schedule(spec.train).at(0, 0), test::batch_of(spec, 2, 3),
                      adopted.at(), [&](const Executor::Ran& ran) {
                          if (ran.index == writer) {
                              if (behind != nullptr) {
                                  *behind = number;
                              } else {
                                  executor.write(operand, 0, number);
                              }
                          }
                          if (ran.index == product) executor.read(output, found);
                      });
    return found;
}

// So large that by the scale from before it would not fit 16 bits.
constexpr float kLarge = 1e6F;

enum class Change : std::uint8_t { kByWrite, kBehind, kNone };

// What is read after a number of a linear layer's weight was changed behind the layer's first product: its
// input gradient, which takes the weight's other form, or with `again` the layer's own product of the next
// micro-batch.
std::vector<float> product_by_changed_weight(Device& device, Change change, bool again, bool keep_weights) {
    const program::JobSpec spec = job_of_integers();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    std::uint32_t gradient = 0, layer = 0;
    while (program.operators[gradient].kind != program::OperatorKind::kLinearInputGradient) ++gradient;
    const program::TensorId weight = program.operators[gradient].operands[1];
    while (program.operators[layer].kind != program::OperatorKind::kLinear ||
           program.operators[layer].operands[1] != weight) {
        ++layer;
    }
    REQUIRE(layer < gradient);
    const std::uint32_t asked = again ? layer : gradient;
    const program::TensorId output = program.operators[asked].outputs[0];
    PlanChoice choice{1};
    choice.grouping = Grouping::kOperators;
    choice.keep_weights = keep_weights;
    Executor executor(program, device, plan_allocation(program, device, choice, 2));
    program::SlotArrays state = test::initial_state(spec);
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    std::vector<float> found(spec.model.context * program.tensors[output].cols);
    executor.run_each(gradient, program::Schedule(spec.train).at(0, 0), test::batch_of(spec, 2, 3),
                      adopted.at(), [&](const Executor::Ran& ran) {
                          if (ran.index == layer && ran.first == 0) {
                              if (change == Change::kByWrite) executor.write(weight, 0, kLarge);
                              if (change == Change::kBehind) {
                                  state.parameters[program.parameters[weight].offset] = kLarge;
                              }
                          }
                          if (ran.index == asked && ran.first == (again ? 1U : 0U))
                              executor.read(output, found);
                      });
    return found;
}
}  // namespace

TEST_CASE("a weight that the host changes is in what its next product multiplies", "[trainer]") {
    ReferenceDevice law;
    for (const bool again : {false, true}) {
        const std::vector<float> expected = product_by_changed_weight(law, Change::kByWrite, again, false);
        CHECK_FALSE(test::same(expected, product_by_changed_weight(law, Change::kNone, again, false)));
        for (const Target target : test::all_targets()) {
            for (const bool keep_weights : {false, true}) {
                INFO(to_text(target) << ", keep_weights " << keep_weights << ", again " << again);
                CpuDevice device(target, 2, nullptr);
                CHECK(test::same(expected,
                                 product_by_changed_weight(device, Change::kByWrite, again, keep_weights)));
            }
        }
    }
}

TEST_CASE("both forms of a weight are scaled by what one pass over it has found", "[trainer]") {
    // So a number that gets there behind the device's back has not the scale that it needs.
    ReferenceDevice law;
    const std::vector<float> expected = product_by_changed_weight(law, Change::kBehind, false, false);
    for (const Target target : test::all_targets()) {
        for (const bool keep_weights : {false, true}) {
            INFO(to_text(target) << ", keep_weights " << keep_weights);
            CpuDevice device(target, 1, nullptr);
            CHECK_FALSE(test::same(expected,
                                   product_by_changed_weight(device, Change::kBehind, false, keep_weights)));
        }
    }
}

namespace {
enum class Between : std::uint8_t { kNothing, kBehind, kWrite, kAdoptAgain, kOtherState };

// The state after two steps. Between them a weight changes, or another state takes two steps.
program::SlotArrays after_two_steps(Device& device, Between between, bool keep_weights) {
    constexpr float kNew = 100.0F;  // by the scale from before it would not fit 16 bits
    const program::JobSpec spec = job_of_integers();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const program::Schedule schedule(spec.train);
    std::uint32_t layer = 0;
    while (program.operators[layer].kind != program::OperatorKind::kLinear) ++layer;
    const std::uint64_t at = program.parameters[program.operators[layer].operands[1]].offset;
    PlanChoice choice{2};
    choice.keep_weights = keep_weights;
    Executor executor(program, device, plan_allocation(program, device, choice, 2));
    program::SlotArrays state = test::initial_state(spec), other = state;
    other.parameters[at] = kNew;
    std::optional<AdoptedState> of_other, adopted;
    of_other.emplace(device, other.parameters, other.first_moment, other.second_moment);
    adopted.emplace(device, state.parameters, state.first_moment, state.second_moment);
    const auto step = [&](const AdoptedState& of, std::uint32_t number) {
        const auto tokens = test::batch_of(spec, 2, 3 + number);
        REQUIRE_FALSE(executor.step(schedule.at(0, number), tokens, of.at()).diverged);
    };
    step(*adopted, 0);
    switch (between) {
        case Between::kNothing: break;
        case Between::kBehind: state.parameters[at] = kNew; break;
        case Between::kWrite: device.write(adopted->at().parameters + at, {&kNew, 1}); break;
        case Between::kAdoptAgain:
            adopted.reset();
            state.parameters[at] = kNew;
            adopted.emplace(device, state.parameters, state.first_moment, state.second_moment);
            break;
        case Between::kOtherState:
            step(*of_other, 0);
            step(*adopted, 1);
            step(*of_other, 1);
            return other;
    }
    step(*adopted, 1);
    return state;
}
}  // namespace

TEST_CASE("the second step takes weights as they are then", "[trainer]") {
    ReferenceDevice law;
    const program::SlotArrays unchanged = after_two_steps(law, Between::kNothing, false);
    for (const Between between :
         {Between::kNothing, Between::kWrite, Between::kAdoptAgain, Between::kOtherState}) {
        const program::SlotArrays expected = after_two_steps(law, between, false);
        CHECK(test::same(expected, unchanged) == (between == Between::kNothing));
        for (const Target target : test::all_targets()) {
            for (const bool keep_weights : {false, true}) {
                INFO(to_text(target) << ", case " << static_cast<int>(between) << ", keep_weights "
                                     << keep_weights);
                CpuDevice device(target, 2, nullptr);
                CHECK(test::same(after_two_steps(device, between, keep_weights), expected));
            }
        }
    }
}

TEST_CASE("a step takes the scales of weights that the update before it has found", "[trainer]") {
    // So a number that gets there behind the device's back has not the scale that it needs.
    ReferenceDevice law;
    const program::SlotArrays expected = after_two_steps(law, Between::kBehind, false);
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        CpuDevice device(target, 2, nullptr);
        CHECK_FALSE(test::same(after_two_steps(device, Between::kBehind, false), expected));
    }
}

TEST_CASE("steps of both profiles take turns on one state", "[trainer]") {
    const program::JobSpec spec = job_of_integers();
    const program::Schedule schedule(spec.train);
    const auto integers = program::build_step_program(spec.model, spec.train, program::Profile::kI16);
    const auto floats = program::build_step_program(spec.model, spec.train, program::Profile::kF32);
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        CpuDevice device(target, 2, nullptr);
        Executor exact(integers, device, plan_allocation(integers, device, {2}, 2));
        Executor inexact(floats, device, plan_allocation(floats, device, {2}, 2));
        program::SlotArrays state = test::initial_state(spec), expected = state;
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
        for (std::uint32_t step = 0; step < 5; ++step) {
            const bool is_exact = step % 2 == 0;
            const auto tokens = test::batch_of(spec, 2, 60 + step);
            REQUIRE_FALSE(
                (is_exact ? exact : inexact).step(schedule.at(0, step), tokens, adopted.at()).diverged);
            program::reference_step(is_exact ? integers : floats, schedule.at(0, step), tokens, expected);
            REQUIRE(test::same(state, expected));
        }
    }
}

namespace {
// Steps of the job on the device have the law's bits.
void require_law(CpuDevice& device, const program::JobSpec& spec) {
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const program::Schedule schedule(spec.train);
    Executor executor(program, device, plan_allocation(program, device, {2}, 2));
    program::SlotArrays state = test::initial_state(spec), expected = state;
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    for (std::uint32_t step = 0; step < 3; ++step) {
        const auto tokens = test::batch_of(spec, 2, 70 + step);
        REQUIRE_FALSE(executor.step(schedule.at(0, step), tokens, adopted.at()).diverged);
        program::reference_step(program, schedule.at(0, step), tokens, expected);
        REQUIRE(test::same(state, expected));
    }
}
}  // namespace

TEST_CASE("a weight of one input number, or one output number, has scales for both forms", "[trainer]") {
    for (program::JobSpec spec : test::small_jobs()) {
        if (spec.profile != program::Profile::kI16) continue;
        if (spec.model.family == program::Family::kLlama) {
            spec.model.hidden = 1;
        } else {
            spec.model.width = spec.model.heads = 1;
        }
        for (const Target target : test::all_targets()) {
            INFO(spec.name << ", " << to_text(target));
            CpuDevice device(target, 2, nullptr);
            require_law(device, spec);
        }
    }
}

TEST_CASE("steps of every profile and model take turns on one device", "[trainer]") {
    for (const Target target : test::all_targets()) {
        CpuDevice device(target, 2, nullptr);
        for (int turn = 0; turn < 2; ++turn) {
            for (const program::JobSpec& spec : test::small_jobs()) {
                INFO(to_text(target) << ", " << spec.name);
                require_law(device, spec);
            }
        }
    }
}

TEST_CASE("a number that the host changes is in what the next product multiplies", "[trainer]") {
    ReferenceDevice law;
    const std::vector<float> expected = product_of_changed(law, kLarge);
    CHECK_FALSE(test::same(expected, product_of_changed(law, 1.0F)));
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        CpuDevice device(target, 2, nullptr);
        CHECK(test::same(expected, product_of_changed(device, kLarge)));
    }
}

TEST_CASE("a product takes the scales that whoever wrote its operand has found", "[trainer]") {
    // So a number that gets there behind the device's back has not the scale that it needs. The guard, which
    // looks at numbers alone, would say so.
    ReferenceDevice law;
    const std::vector<float> expected = product_of_changed(law, kLarge);
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        SeenArena arena;
        CpuDevice device(target, 1, &arena);
        CHECK_FALSE(test::same(expected, product_of_changed(device, kLarge, &arena)));
    }
}

TEST_CASE("steps and evaluations take turns on one device, with a last micro-batch that is smaller",
          "[trainer]") {
    constexpr std::uint32_t kBatch = 5;
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto evaluation = program::build_evaluate_program(spec.model, spec.profile);
        const program::Schedule schedule(spec.train);
        CpuDevice device(test::all_targets().front(), 2, nullptr);
        Executor steps(program, device, plan_allocation(program, device, {2}, kBatch));
        Executor losses(evaluation, device, plan_allocation(evaluation, device, {3}, 3));
        program::SlotArrays state = test::initial_state(spec), expected = state;
        for (std::uint32_t step = 0; step < 3; ++step) {
            const auto tokens = test::batch_of(spec, kBatch, 40 + step);
            {
                AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
                REQUIRE_FALSE(steps.step(schedule.at(0, step), tokens, adopted.at()).diverged);
                adopted.sync();
            }
            program::reference_step(program, schedule.at(0, step), tokens, expected);
            REQUIRE(test::same(state, expected));
            const std::uint64_t length = spec.model.context + 1;
            const AdoptedReadOnly adopted(device, state.parameters);
            const auto loss =
                losses.evaluate(adopted.at(), kBatch,
                                [&](std::uint64_t i, std::span<std::uint32_t> out) {
                                    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(i * length),
                                                length, out.begin());
                                },
                                {});
            const auto law = program::reference_loss(evaluation, tokens, state.parameters);
            REQUIRE(loss);
            REQUIRE(std::bit_cast<std::uint32_t>(*loss) == std::bit_cast<std::uint32_t>(*law));
        }
    }
}

}  // namespace assay::trainer
