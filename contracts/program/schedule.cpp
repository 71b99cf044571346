// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/schedule.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::program {

Schedule::Schedule(const TrainConfig& train) : Schedule(train, train.inner_steps) {}

Schedule::Schedule(const JobSpec& spec)
    : Schedule(spec.train, std::uint64_t{carries_state(spec) ? spec.rounds : 1} * spec.train.inner_steps) {}

Schedule::Schedule(const TrainConfig& train, std::uint64_t steps)
    : train_(train),
      corrections_(remembered(static_cast<double>(train.beta1.value()),
                              static_cast<double>(train.beta2.value()), steps)) {}

Schedule::Table Schedule::table_of(double beta1, double beta2, std::uint64_t steps) {
    Table table;
    double power1 = 1.0;
    double power2 = 1.0;
    for (std::uint64_t t = 0; t < steps; ++t) {
        power1 = power1 * beta1;
        power2 = power2 * beta2;
        table.push_back({static_cast<float>(1.0 / (1.0 - power1)), static_cast<float>(1.0 / (1.0 - power2))});
        // Powers only fall, and so do corrections, which are never below 1.
        if (table.back().first == 1.0F && table.back().second == 1.0F) break;
    }
    return table;
}

std::shared_ptr<const Schedule::Table> Schedule::remembered(double beta1, double beta2, std::uint64_t steps) {
    struct Made {
        double beta1 = 0;
        double beta2 = 0;
        std::uint64_t steps = 0;
        std::shared_ptr<const Table> table = nullptr;
    };
    thread_local Made last;
    if (last.table == nullptr || last.beta1 != beta1 || last.beta2 != beta2 || last.steps != steps)
        last = {beta1, beta2, steps, std::make_shared<const Table>(table_of(beta1, beta2, steps))};
    return last.table;
}

arithmetic::AdamWCoefficients Schedule::at(std::uint64_t round, std::uint32_t step) const {
    return at(round, step, step);
}

arithmetic::AdamWCoefficients Schedule::at(std::uint64_t round, std::uint32_t step, std::uint64_t age) const {
    ASSAY_CHECK(step < train_.inner_steps);
    const Corrections& correction =
        corrections_->at(static_cast<std::size_t>(std::min<std::uint64_t>(age, corrections_->size() - 1)));
    const std::uint64_t global = round * train_.inner_steps + step;
    double rate = static_cast<double>(train_.learning_rate.value());
    if (global < train_.warmup_steps) {
        rate = rate * static_cast<double>(global + 1) / static_cast<double>(train_.warmup_steps);
    }
    arithmetic::AdamWCoefficients c;
    c.learning_rate = static_cast<float>(rate);
    c.decay = static_cast<float>(rate * static_cast<double>(train_.weight_decay.value()));
    c.beta1 = train_.beta1.value();
    c.one_minus_beta1 = static_cast<float>(1.0 - static_cast<double>(c.beta1));
    c.beta2 = train_.beta2.value();
    c.one_minus_beta2 = static_cast<float>(1.0 - static_cast<double>(c.beta2));
    c.correction1 = correction.first;
    c.correction2 = correction.second;
    c.epsilon = train_.epsilon.value();
    return c;
}

}  // namespace assay::program
