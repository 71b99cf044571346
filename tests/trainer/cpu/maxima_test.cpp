// SPDX-License-Identifier: Apache-2.0
// Largest magnitudes of a tensor, as threads find them while they write it, against those of the whole.
#include "trainer/cpu/cpu_maxima.hpp"

#include <algorithm>
#include <bit>
#include <random>
#include <thread>

#include "contracts/arithmetic/product_rule.hpp"
#include "tests/support/catch.hpp"
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
    for (std::uint64_t s = 0; s < x.rows / context; ++s) {
        for (std::uint64_t j = 0; j < x.cols; ++j) {
            REQUIRE(columns.data[s * columns.stride + j] ==
                    x.largest(s * context, (s + 1) * context, j, j + 1));
        }
    }
}
}  // namespace

TEST_CASE("largest magnitudes are those of the tensor wherever threads cut its rows", "[trainer]") {
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        const Kernels& table = kernels(target);
        TensorMaxima maxima;
        // Twice of more rows, then of fewer, and of other columns.
        const std::pair<std::uint64_t, std::uint64_t> shapes[] = {{21, 19}, {21, 19}, {7, 19}, {14, 40}};
        unsigned seed = 1;
        for (const auto& [rows, cols] : shapes) {
            const std::uint64_t context = 7;
            for (const std::uint64_t cut : {std::uint64_t{1}, rows / 2, rows - 1}) {
                const Matrix x(rows, cols, seed++);
                maxima.prepare(rows, cols, context);
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
    maxima.prepare(x.rows, x.cols, 2);
    see(maxima, kernels(test::all_targets().front()), x, 0, x.rows, 4);
    maxima.finish();
    require_known(maxima, x, 2);
    CHECK(maxima.of_columns(x.rows, 2).data == maxima.of_columns(x.rows).data + x.cols);
}

namespace {
// The rows that the first product of a step writes, when the host changes a number of what it multiplies as
// soon as it is written.
std::vector<float> product_of_changed(Device& device, float number) {
    program::JobSpec spec = test::small_jobs().back();
    REQUIRE(spec.profile == program::Profile::kI16);
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    std::uint32_t product = 0, writer = 0;
    while (program.operators[product].kind != program::OperatorKind::kLinear) ++product;
    const program::TensorId operand = program.operators[product].operands[0];
    const program::TensorId output = program.operators[product].outputs[0];
    while (program.operators[writer].outputs[0] != operand) ++writer;
    PlanChoice choice{2};
    choice.grouping = Grouping::kOperators;
    Executor executor(program, device, plan_allocation(program, device, choice, 2));
    program::SlotArrays state = test::initial_state(spec);
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    std::vector<float> found(2 * spec.model.context * program.tensors[output].cols);
    executor.run_each(product, program::Schedule(spec.train).at(0, 0), test::batch_of(spec, 2, 3),
                      adopted.at(), [&](const Executor::Ran& ran) {
                          if (ran.index == writer) executor.write(operand, 0, number);
                          if (ran.index == product) executor.read(output, found);
                      });
    return found;
}
}  // namespace

TEST_CASE("a number that the host changes is in what the next product multiplies", "[trainer]") {
    ReferenceDevice law;
    // So large that by the scale from before it would not fit 16 bits.
    constexpr float kLarge = 1e6F;
    const std::vector<float> expected = product_of_changed(law, kLarge);
    CHECK_FALSE(test::same(expected, product_of_changed(law, 1.0F)));
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        CpuDevice device(target, 2, nullptr);
        CHECK(test::same(expected, product_of_changed(device, kLarge)));
    }
}

}  // namespace assay::trainer
