// SPDX-License-Identifier: Apache-2.0
// Every one-argument function of contracts/arithmetic at all 2^32 inputs (`make exhaustive`):
//   - the vector lanes of every target of this machine have the scalar law's bits, input by input (two NaNs
//     are taken as one: a NaN ends a step whatever its pattern);
//   - the largest error against binary64 libm, whose own error is below 1e-8 of a binary32 ulp.
// Prints a table and ends with 1 if a lane differs. Arguments: names of functions, all unless given.
// ASSAY_THREADS threads, 1 unless set.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "tests/exhaustive/functions.hpp"
#include "trainer/host/targets.hpp"

namespace assay::exhaustive {
namespace {

constexpr std::uint64_t kInputs = 1ULL << 32;
constexpr std::size_t kChunk = 1U << 14;

struct Worst {
    double error = 0;
    std::uint32_t at = 0;
    void take(double candidate, std::uint32_t bits) {
        if (candidate > error || (candidate == error && candidate > 0 && bits < at)) {
            error = candidate;
            at = bits;
        }
    }
};

struct Found {
    Worst ulps;
    Worst absolute;
    std::uint64_t absolute_inputs = 0;
    std::uint64_t different = 0;  // lanes that disagree with the law
    std::uint32_t first_different = UINT32_MAX;
    std::uint64_t wrong_limits = 0;  // the rounded value is infinite and ours is not, or the reverse

    void merge(const Found& other) {
        ulps.take(other.ulps.error, other.ulps.at);
        absolute.take(other.absolute.error, other.absolute.at);
        absolute_inputs += other.absolute_inputs;
        different += other.different;
        first_different = std::min(first_different, other.first_different);
        wrong_limits += other.wrong_limits;
    }
};

// What a function is held to, and where: ulps on one set of inputs, the absolute error on another.
struct Measure {
    double (*truth)(double);
    bool (*in_ulps)(float);
    const char* ulp_domain;
    bool (*in_absolute)(float);
    const char* absolute_domain;
};

constexpr float kQuarterTurn = 0.78539816F;
bool nowhere(float) { return false; }
bool finite(float x) { return std::isfinite(x); }
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double gelu(double x) {
    return 0.5 * x * (1.0 + std::tanh(0.79788456080286535588 * x * (1.0 + 0.044715 * x * x)));
}

constexpr std::array<Measure, kFunctions> kMeasures = {{
    {[](double x) { return std::exp(x); }, finite, "finite", nowhere, ""},
    {[](double x) { return std::tanh(x); }, finite, "finite", nowhere, ""},
    {[](double x) { return std::log(x); }, [](float x) { return std::isnormal(x) && x > 0; },
     "positive normal", [](float x) { return x >= 0x1p-24F && x <= 0x1p24F; }, "[2^-24, 2^24]"},
    {[](double x) { return std::sin(x); }, [](float x) { return std::fabs(x) <= kQuarterTurn; },
     "[-pi/4, pi/4]", [](float x) { return std::fabs(x) <= 8192; }, "[-8192, 8192]"},
    {[](double x) { return std::cos(x); }, [](float x) { return std::fabs(x) <= kQuarterTurn; },
     "[-pi/4, pi/4]", [](float x) { return std::fabs(x) <= 8192; }, "[-8192, 8192]"},
    {[](double x) { return 1.0 / std::sqrt(x); }, [](float x) { return std::isfinite(x) && x > 0; },
     "positive finite", nowhere, ""},
    {sigmoid, finite, "finite", [](float x) { return std::isfinite(x) && x >= 0; }, "finite, x >= 0"},
    {[](double x) { return x * sigmoid(x); }, finite, "finite",
     [](float x) { return std::isfinite(x) && x < 0; }, "finite, x < 0"},
    {gelu, [](float x) { return std::isfinite(x) && x >= 0; }, "finite, x >= 0",
     [](float x) { return std::isfinite(x) && x < 0; }, "finite, x < 0"},
}};

// Error in units of the last place of the true value's binary32 rounding; denormal results have 2^-149.
double ulps(float got, double truth) {
    const auto exponent =
        static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(truth) >> 52 & 0x7ffU) - 1023;
    const std::int64_t unit = exponent - 23 < -149 ? -149 : exponent - 23;
    const auto inverse = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - unit) << 52);
    return std::fabs(static_cast<double>(got) - truth) * inverse;
}

bool differs(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b) &&
           !(std::isnan(a) && std::isnan(b));
}

struct Buffers {
    std::vector<float> x = std::vector<float>(kChunk), law = x, fast = x;
};

Found sweep_chunk(std::size_t function, std::uint64_t first, const Lanes& law, const std::vector<Lanes>& fast,
                  Buffers& buffers) {
    const Measure& measure = kMeasures[function];
    Found found;
    for (std::size_t i = 0; i < kChunk; ++i) {
        buffers.x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i));
    }
    law.run[function](buffers.x.data(), buffers.law.data(), kChunk);
    for (const Lanes& lanes : fast) {
        lanes.run[function](buffers.x.data(), buffers.fast.data(), kChunk);
        for (std::size_t i = 0; i < kChunk; ++i) {
            if (!differs(buffers.law[i], buffers.fast[i])) continue;
            ++found.different;
            found.first_different = std::min(found.first_different, static_cast<std::uint32_t>(first + i));
        }
    }
    for (std::size_t i = 0; i < kChunk; ++i) {
        const float x = buffers.x[i];
        const bool in_ulps = measure.in_ulps(x);
        const bool in_absolute = measure.in_absolute(x);
        if (!in_ulps && !in_absolute) continue;
        const double truth = measure.truth(static_cast<double>(x));
        const float got = buffers.law[i];
        if (in_absolute) ++found.absolute_inputs;
        if (std::isinf(static_cast<float>(truth)) || !std::isfinite(got)) {
            if (differs(static_cast<float>(truth), got)) ++found.wrong_limits;
            continue;
        }
        const auto bits = static_cast<std::uint32_t>(first + i);
        if (in_ulps) found.ulps.take(ulps(got, truth), bits);
        if (in_absolute) found.absolute.take(std::fabs(static_cast<double>(got) - truth), bits);
    }
    return found;
}

Found sweep(std::size_t function, int threads, const Lanes& law, const std::vector<Lanes>& fast) {
    std::atomic<std::uint64_t> next = 0;
    std::mutex mutex;
    Found total;
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
        workers.emplace_back([&] {
            Buffers buffers;
            Found mine;
            for (std::uint64_t at = next.fetch_add(kChunk); at < kInputs; at = next.fetch_add(kChunk)) {
                mine.merge(sweep_chunk(function, at, law, fast, buffers));
            }
            const std::scoped_lock lock(mutex);
            total.merge(mine);
        });
    }
    for (std::thread& worker : workers) worker.join();
    return total;
}

void print_row(std::size_t function, const Found& found) {
    const Measure& measure = kMeasures[function];
    std::printf("| %s | %s | %.6f | %.9g (%08x) |", kNames[function].data(), measure.ulp_domain,
                found.ulps.error, static_cast<double>(std::bit_cast<float>(found.ulps.at)), found.ulps.at);
    if (found.absolute_inputs > 0) {
        std::printf(" %s | %.4g at %.9g |", measure.absolute_domain, found.absolute.error,
                    static_cast<double>(std::bit_cast<float>(found.absolute.at)));
    } else {
        std::printf(" | |");
    }
    std::printf(" %llu |\n", static_cast<unsigned long long>(found.different));
    if (found.different > 0) std::printf("  first input that differs: %08x\n", found.first_different);
    if (found.wrong_limits > 0) {
        std::printf("  %llu inputs where one of ours and the rounded value is infinite\n",
                    static_cast<unsigned long long>(found.wrong_limits));
    }
    std::fflush(stdout);
}

bool wanted(std::string_view name, std::span<char*> names) {
    return names.empty() || std::ranges::any_of(names, [&](const char* one) { return name == one; });
}

int run(std::span<char*> names) {
    const auto threads = trainer::threads_from_environment();
    if (!threads.ok()) {
        std::fprintf(stderr, "error: %s\n", threads.error().what.c_str());
        return 2;
    }
    const Lanes law = scalar_lanes();
    const std::vector<Lanes> fast = vector_lanes();
    std::printf("all 2^32 inputs; targets compared with the scalar law:");
    for (const Lanes& lanes : fast) std::printf(" %s", lanes.target.data());
    std::printf(
        "\n| function | domain | largest error, ulp | at (bits) | domain | largest absolute error | "
        "lanes that differ |\n|---|---|---|---|---|---|---|\n");
    bool sound = true;
    for (std::size_t function = 0; function < kFunctions; ++function) {
        if (!wanted(kNames[function], names)) continue;
        const Found found = sweep(function, *threads, law, fast);
        print_row(function, found);
        sound = sound && found.different == 0;
    }
    return sound ? 0 : 1;
}

}  // namespace
}  // namespace assay::exhaustive

int main(int count, char** words) {
    return assay::exhaustive::run({words + 1, static_cast<std::size_t>(count - 1)});
}
