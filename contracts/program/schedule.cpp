// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/schedule.hpp"

#include "contracts/base/check.hpp"

namespace assay::program {

Schedule::Schedule(const TrainConfig& train) : train_(train) {
    const double beta1 = static_cast<double>(train.beta1.value());
    const double beta2 = static_cast<double>(train.beta2.value());
    double power1 = 1.0;
    double power2 = 1.0;
    corrections_.reserve(train.inner_steps);
    for (std::uint32_t t = 0; t < train.inner_steps; ++t) {
        power1 = power1 * beta1;
        power2 = power2 * beta2;
        corrections_.push_back(
            {static_cast<float>(1.0 / (1.0 - power1)), static_cast<float>(1.0 / (1.0 - power2))});
    }
}

arithmetic::AdamWCoefficients Schedule::at(std::uint64_t round, std::uint32_t step) const {
    ASSAY_CHECK(step < corrections_.size());
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
    c.correction1 = corrections_[step].first;
    c.correction2 = corrections_[step].second;
    c.epsilon = train_.epsilon.value();
    return c;
}

}  // namespace assay::program
