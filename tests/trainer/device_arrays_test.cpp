// SPDX-License-Identifier: Apache-2.0
// Whole arrays on every device: roots, finiteness, finalise and merge with the bits of the law, whatever the
// length, and lengths that do not fit refused by name.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "contracts/program/state_root.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/step/adopted.hpp"

namespace assay::trainer {
namespace {

using program::Contribution;
using program::TensorInfo;

constexpr program::RoundSettings kSettings{
    .sum_exponent = -40, .outer_learning_rate = 0.7F, .outer_momentum = 0.9F};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Around the ends of vectors, of shares of threads and of the cuts of a row's functions.
constexpr std::size_t kLengths[] = {0,    1,    2,    3,    15,   16,     17,    255,
                                    1000, 4095, 4096, 4097, 8193, 10'007, 50'001};

struct NamedDevice {
    std::string name;
    std::unique_ptr<Device> device;
};

std::vector<NamedDevice> every_device() {
    std::vector<NamedDevice> all;
    all.push_back({"reference", open_device({.name = "reference"}).value()});
    all.push_back({"cuda-host", open_device({.name = "cuda-host", .threads = 2}).value()});
    for (const Target target : test::all_targets()) {
        for (const int threads : {1, 3}) {
            all.push_back({"cpu, " + std::string(to_text(target)) + ", threads " + std::to_string(threads),
                           open_device(test::on_cpu(threads, target).device).value()});
        }
    }
    return all;
}

// Of either sign, many sizes, zeros of both signs and denormals among them; FP16 holds their differences.
std::vector<float> drawn_numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> all(count);
    for (float& one : all) {
        const auto drawn = static_cast<std::uint32_t>(random());
        one = static_cast<float>(static_cast<std::int32_t>(drawn)) * 0x1p-31F;
        if (drawn % 8 == 1) one *= 0x1p-20F;
        if (drawn % 32 == 2) one = std::bit_cast<float>(drawn & 0x807fffffU);
        if (drawn % 32 == 3) one = -0.0F;
    }
    return all;
}

std::vector<std::int64_t> update_of(const program::StrategyRow& row, std::size_t count, unsigned seed) {
    std::vector<std::int64_t> update(count);
    REQUIRE(
        row.codec->finalise(kSettings, drawn_numbers(count, seed), drawn_numbers(count, seed + 1), update));
    return update;
}

base::Outcome<bool> finalise_on(Device& device, const program::StrategyRow& row, std::span<const float> start,
                                std::span<const float> end, std::span<std::int64_t> update) {
    const AdoptedReadOnly from(device, start), to(device, end);
    return device.finalise({row, kSettings}, from.array(), to.array(), update);
}

base::Outcome<bool> merge_on(Device& device, const program::StrategyRow& row,
                             std::span<const Contribution> contributions, std::span<float> parameters,
                             std::span<float> outer_momentum) {
    Adopted w(device, parameters), m(device, outer_momentum);
    auto finite = device.merge({row, kSettings}, contributions, w.array(), m.array());
    w.sync();
    m.sync();
    return finite;
}

bool finite_on(Device& device, std::span<const float> values) {
    const AdoptedReadOnly adopted(device, values);
    return device.is_finite(adopted.array());
}

// A refusal of lengths: its sentence, which names the operation and the array.
template <class T>
std::string refusal(const base::Outcome<T>& outcome) {
    REQUIRE_FALSE(outcome.ok());
    CHECK(outcome.error().kind == base::ErrorKind::kUsage);
    return outcome.error().what;
}

// Its merge is one that no device has a kernel for: each parameter moves by its updates' sum.
void merge_sum(const program::RoundSettings& settings, std::span<const Contribution> contributions,
               std::span<float> parameters, std::span<float> outer_momentum) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        float sum = settings.outer_momentum;
        for (const Contribution& one : contributions) sum += static_cast<float>(one.update[i] % 1000);
        parameters[i] -= sum;
        outer_momentum[i] = sum;
    }
}

// Functions that read their arrays as a whole: a difference is told by its share of the largest one, and the
// step of a merge is divided by the largest number of the momentum.
bool finalise_by_largest(const program::RoundSettings&, std::span<const float> start,
                         std::span<const float> end, std::span<std::int64_t> update) {
    float largest = 0x1p-100F;
    for (std::size_t i = 0; i < update.size(); ++i) largest = std::max(largest, std::abs(start[i] - end[i]));
    for (std::size_t i = 0; i < update.size(); ++i)
        update[i] = static_cast<std::int64_t>((start[i] - end[i]) / largest * 1e6F);
    return true;
}

void merge_by_largest(const program::RoundSettings&, std::span<const Contribution> contributions,
                      std::span<float> parameters, std::span<float> outer_momentum) {
    float largest = 1;
    for (const float one : outer_momentum) largest = std::max(largest, 1 + std::abs(one));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        for (const Contribution& one : contributions)
            parameters[i] -= static_cast<float>(one.update[i] % 1000) / largest;
        outer_momentum[i] /= largest;
    }
}

}  // namespace

TEST_CASE("a row's functions that read whole arrays get whole arrays on every device",
          "[trainer][device][arrays]") {
    auto devices = every_device();
    program::UpdateCodec codec = *program::strategies().front()->codec;
    codec.finalise = finalise_by_largest;
    codec.cut = program::ArrayCut::kNowhere;
    program::OuterOptimizer outer{
        .word = "largest", .cut = program::ArrayCut::kNowhere, .merge = merge_by_largest};
    program::StrategyRow row = *program::strategies().front();
    row.codec = &codec;
    row.outer = &outer;
    for (const std::size_t count : kLengths) {
        auto start = drawn_numbers(count, 1);
        if (count > 0) start.back() = 3;  // the largest difference is in the last cut
        const auto end = drawn_numbers(count, 2);
        std::vector<std::int64_t> expected(count), update(count);
        REQUIRE(codec.finalise(kSettings, start, end, expected));
        const std::vector<Contribution> all = {{expected, 1}};
        std::vector<float> parameters = drawn_numbers(count, 7), momentum = drawn_numbers(count, 8);
        outer.merge(kSettings, all, parameters, momentum);
        for (const NamedDevice& on : devices) {
            INFO(on.name << ", " << count << " numbers");
            REQUIRE(finalise_on(*on.device, row, start, end, update).value());
            REQUIRE(update == expected);
            std::vector<float> w = drawn_numbers(count, 7), m = drawn_numbers(count, 8);
            REQUIRE(merge_on(*on.device, row, all, w, m).value());
            REQUIRE(w == parameters);
            REQUIRE(m == momentum);
        }
        if (count <= 4096) continue;
        // In cuts they have other bits, so that the field is what a device went by.
        const auto half = count / 2;
        std::vector<std::int64_t> cut(count);
        REQUIRE(codec.finalise(kSettings, std::span(start).first(half), std::span(end).first(half),
                               std::span(cut).first(half)));
        CHECK_FALSE(
            std::equal(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(half), expected.begin()));
    }
}

TEST_CASE("finalise has the bits of every strategy's law on every device", "[trainer][device][arrays]") {
    auto devices = every_device();
    for (const program::StrategyRow* row : program::strategies()) {
        for (const std::size_t count : kLengths) {
            const auto start = drawn_numbers(count, 1), end = drawn_numbers(count, 2);
            std::vector<std::int64_t> expected(count), update(count + 1);
            REQUIRE(row->codec->finalise(kSettings, start, end, expected));
            for (const NamedDevice& one : devices) {
                INFO(row->codec->word << " on " << one.name << ", " << count << " numbers");
                update.assign(count + 1, 99);
                REQUIRE(finalise_on(*one.device, *row, start, end, std::span(update).first(count)).value());
                REQUIRE(std::equal(expected.begin(), expected.end(), update.begin()));
                REQUIRE(update.back() == 99);
            }
        }
    }
}

TEST_CASE("a merge has the bits of every strategy's law on every device", "[trainer][device][arrays]") {
    auto devices = every_device();
    program::StrategyRow unknown = *program::strategies().front();
    const program::OuterOptimizer sum{.word = "sum", .merge = merge_sum};
    unknown.outer = &sum;
    std::vector<const program::StrategyRow*> rows(program::strategies().begin(), program::strategies().end());
    rows.push_back(&unknown);
    for (const program::StrategyRow* row : rows) {
        for (const std::size_t count : kLengths) {
            const auto one = update_of(*row, count, 1), two = update_of(*row, count, 3);
            const auto three = update_of(*row, count, 5);
            const std::vector<Contribution> all = {{one, 1}, {two, 1ULL << 32, 60'000}, {three, 3, 0}};
            for (const std::size_t slots : {1U, 3U}) {
                const auto some = std::span(all).first(slots);
                std::vector<float> parameters = drawn_numbers(count, 7), momentum = drawn_numbers(count, 8);
                row->outer->merge(kSettings, some, parameters, momentum);
                for (const NamedDevice& on : devices) {
                    INFO(row->codec->word << " on " << on.name << ", " << count << " numbers");
                    std::vector<float> w = drawn_numbers(count, 7), m = drawn_numbers(count, 8);
                    REQUIRE(merge_on(*on.device, *row, some, w, m).value());
                    REQUIRE(test::same(w, parameters));
                    REQUIRE(test::same(m, momentum));
                }
            }
        }
    }
}

namespace {

/// Matrices of these sizes, one behind the other, as a program lays out its tensors.
std::vector<TensorInfo> tensors_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& shapes) {
    std::vector<TensorInfo> tensors;
    std::uint64_t count = 0;
    for (const auto& [rows, cols] : shapes) {
        tensors.push_back({"tensor " + std::to_string(tensors.size()), rows, cols, count});
        count += rows * cols;
    }
    return tensors;
}

/// Whether a device gives the law's roots of three arrays and an update that are cut so.
bool roots_are_right(Device& device, const std::vector<TensorInfo>& tensors, unsigned seed) {
    const std::uint64_t count = tensors.back().offset + tensors.back().rows * tensors.back().cols;
    const auto a = drawn_numbers(count, seed), b = drawn_numbers(count, 200), c = drawn_numbers(count, 300);
    std::mt19937 random(seed);
    std::vector<std::int64_t> update(count);
    for (std::int64_t& value : update) value = static_cast<std::int64_t>(random()) - (1LL << 31);
    std::vector<base::Hash256> expected;
    for (const auto* array : {&a, &b, &c}) expected.push_back(program::array_root(tensors, *array));
    const AdoptedReadOnly on_a(device, a), on_b(device, b), on_c(device, c);
    const std::vector<DeviceView> arrays = {on_a.array(), on_b.array(), on_c.array()};
    return device.roots(tensors, arrays).value() == expected &&
           device.roots(tensors, std::span(arrays).first(1)).value() ==
               std::vector<base::Hash256>{expected.front()} &&
           device.roots(tensors, {}).value().empty() &&
           device.update_root(tensors, update).value() == program::update_root(tensors, update);
}

}  // namespace

TEST_CASE("roots of arrays and updates are those of the law on every device", "[trainer][device][arrays]") {
    auto devices = every_device();
    for (const NamedDevice& one : devices) {
        INFO(one.name);
        CHECK(roots_are_right(*one.device, tensors_of({{1, 1}}), 100));
        CHECK(roots_are_right(*one.device, tensors_of({{1, 70}, {1, 16}, {1, 17}}), 101));
    }
    // Whole tiles and tails.
    tests::check_property(24, [&] {
        const auto side = tests::between<std::uint64_t>(1, 70);
        const auto how_many = *tests::between<std::size_t>(1, 4);
        const auto tensors =
            tensors_of(*rc::gen::container<std::vector<std::pair<std::uint64_t, std::uint64_t>>>(
                how_many, rc::gen::pair(side, side)));
        const auto seed = *tests::between<unsigned>(0, 1000);
        for (const NamedDevice& one : devices) {
            if (!roots_are_right(*one.device, tensors, seed)) RC_FAIL(one.name);
        }
    });
}

TEST_CASE("a number that is not finite is found wherever it is, by every device",
          "[trainer][device][arrays]") {
    const float bad[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                         std::bit_cast<float>(0xff800001U)};
    for (const NamedDevice& one : every_device()) {
        INFO(one.name);
        for (const std::size_t count : {0U, 1U, 2U, 7U, 16U, 33U, 67U}) {
            std::vector<float> values = drawn_numbers(count, 4);
            for (std::size_t i = 0; i < count; i += 3) values[i] = std::numeric_limits<float>::max();
            REQUIRE(finite_on(*one.device, values));
            for (std::size_t at = 0; at < count; ++at) {
                const float good = values[at];
                for (const float value : bad) {
                    values[at] = value;
                    REQUIRE_FALSE(finite_on(*one.device, values));
                }
                values[at] = good;
            }
        }
        std::vector<float> values = drawn_numbers(3 * (1U << 14) + 5, 4);
        const std::size_t last = values.size() - 1;
        const auto is_found = [&](std::size_t at) {
            const float good = std::exchange(values[at], bad[at % 4]);
            const bool found = !finite_on(*one.device, values);
            values[at] = good;
            return found && finite_on(*one.device, values);
        };
        for (const std::size_t at : std::initializer_list<std::size_t>{0, (1U << 14) - 1, 1U << 14,
                                                                       (1U << 15) + 1, last - 4, last}) {
            INFO("place " << at);
            REQUIRE(is_found(at));
        }
        tests::check_property(50, [&] { RC_ASSERT(is_found(*tests::between<std::size_t>(0, last))); });
    }
}

TEST_CASE("what is out of range or no longer finite shows wherever it is, on every device",
          "[trainer][device][arrays]") {
    constexpr std::size_t kCount = 8195;
    auto devices = every_device();
    for (const program::StrategyRow* row : program::strategies()) {
        const auto update = update_of(*row, kCount, 1);
        const std::vector<Contribution> one = {{update, 1}};
        const auto start = drawn_numbers(kCount, 1), end = drawn_numbers(kCount, 2);
        for (const NamedDevice& on : devices) {
            INFO(row->codec->word << " on " << on.name);
            std::vector<std::int64_t> found(kCount);
            const auto finalise_shows = [&](std::size_t at, float value) {
                auto broken = end;
                broken[at] = value;
                return !finalise_on(*on.device, *row, start, broken, found).value() &&
                       !finalise_on(*on.device, *row, broken, end, found).value();
            };
            const auto merge_shows = [&](std::size_t at, float parameter, float momentum) {
                std::vector<float> w = start, m = end;
                w[at] = parameter;
                m[at] = momentum;
                return !merge_on(*on.device, *row, one, w, m).value();
            };
            const auto shows = [&](std::size_t at) {
                constexpr float kMost = std::numeric_limits<float>::max();
                // In a merge: an infinity that was there, a NaN, and a sum that becomes infinite.
                return finalise_shows(at, kInfinity) && finalise_shows(at, 3e38F) &&
                       merge_shows(at, -kInfinity, end[at]) &&
                       merge_shows(at, start[at], std::numeric_limits<float>::quiet_NaN()) &&
                       merge_shows(at, kMost, -kMost);
            };
            for (const std::size_t at : {0UL, 4095UL, 4096UL, 8191UL, 8192UL, kCount - 1}) {
                INFO("place " << at);
                REQUIRE(shows(at));
            }
            tests::check_property(6, [&] { RC_ASSERT(shows(*tests::between<std::size_t>(0, kCount - 1))); });
        }
    }
}

TEST_CASE("arrays of another length are refused by name and left alone, by every device",
          "[trainer][device][arrays]") {
    const std::vector<TensorInfo> tensors{{"a", 3, 4, 0}, {"b", 1, 5, 12}};
    const program::StrategyRow& row = *program::strategies().front();
    const auto good = drawn_numbers(17, 1), before = drawn_numbers(17, 2);
    const auto update = update_of(row, 17, 3);
    for (const NamedDevice& one : every_device()) {
        INFO(one.name);
        Device& device = *one.device;
        for (const std::size_t count : {0U, 16U, 18U}) {
            const std::string found = " has " + std::to_string(count) + " numbers, not 17";
            const auto wrong = drawn_numbers(count, 4);
            const auto wrong_update = update_of(row, count, 5);
            const AdoptedReadOnly right(device, good), other(device, wrong);
            const std::vector<DeviceView> arrays = {right.array(), other.array()};
            CHECK(refusal(device.roots(tensors, arrays)) == "roots: array 1" + found);
            CHECK(refusal(device.update_root(tensors, wrong_update)) == "update root: the update" + found);

            std::vector<std::int64_t> to = update;
            CHECK(refusal(finalise_on(device, row, wrong, good, to)) == "finalise: the start" + found);
            CHECK(refusal(finalise_on(device, row, good, wrong, to)) == "finalise: the end" + found);
            CHECK(to == update);

            std::vector<float> w = good, m = before;
            const std::vector<Contribution> contributions = {{update, 1}, {wrong_update, 1}};
            CHECK(refusal(merge_on(device, row, contributions, w, m)) == "merge: update 1" + found);
            std::vector<float> other_momentum = wrong;
            CHECK(refusal(merge_on(device, row, std::span(contributions).first(1), w, other_momentum)) ==
                  "merge: the outer momentum" + found);
            CHECK(refusal(merge_on(device, row, {}, w, m)) == "merge: there is no update");
            CHECK(test::same(w, good));
            CHECK(test::same(m, before));
            CHECK(test::same(other_momentum, wrong));
        }
        CHECK(refusal(device.roots({}, {})) == "roots: there is no tensor");
        CHECK(refusal(device.update_root({}, update)) == "update root: there is no tensor");
    }
}

}  // namespace assay::trainer
