// SPDX-License-Identifier: Apache-2.0
#include "node/plan/round_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "contracts/base/check.hpp"
#include "node/plan/draws.hpp"

namespace assay::node {

namespace {

std::size_t below(Draws& draws, std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(draws.uniform() * static_cast<double>(count)));
}

/// Different machines of the pool, as many as the job has slots, if there are so many.
std::vector<double> drawn_machines(Draws& draws, std::vector<double> speeds, std::uint32_t slots) {
    const std::size_t count = std::min<std::size_t>(slots, speeds.size());
    for (std::size_t i = 0; i < count; ++i) std::swap(speeds[i], speeds[i + below(draws, speeds.size() - i)]);
    speeds.resize(count);
    return speeds;
}

/// Heights until the last slot is trained: one each, then every further slot to whom it delays least.
double training(const std::vector<double>& speeds, const TimedJob& job) {
    std::vector<double> held(speeds.size(), 1);
    for (std::size_t slot = speeds.size(); slot < job.slots; ++slot) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < speeds.size(); ++i)
            if ((held[i] + 1) / speeds[i] < (held[best] + 1) / speeds[best]) best = i;
        ++held[best];
    }
    double slowest = 0;
    for (std::size_t i = 0; i < speeds.size(); ++i)
        slowest = std::max(slowest, held[i] * job.slot_work / speeds[i]);
    return std::max(1.0, std::ceil(slowest));
}

}  // namespace

Interval80 job_heights(const SpeedPool& pool, const TimedJob& job) {
    constexpr std::uint64_t kSeed = 20260104;
    constexpr int kTrials = 200;
    ASSAY_CHECK(!pool.speeds.empty() && std::ranges::min(pool.speeds) > 0);
    Draws draws(kSeed);
    std::vector<double> outcomes;
    for (int trial = 0; trial < kTrials; ++trial) {
        const double trained = training(drawn_machines(draws, pool.speeds, job.slots), job);
        double overhead = job.least_overhead;
        if (!pool.overheads.empty())
            overhead = std::max(overhead, pool.overheads[below(draws, pool.overheads.size())]);
        outcomes.push_back(job.before + job.rounds * (trained * (1 + job.recomputed) + overhead));
    }
    return interval_of(std::move(outcomes));
}

}  // namespace assay::node
