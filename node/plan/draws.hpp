// SPDX-License-Identifier: Apache-2.0
// Gives predictions and simulations Draws, random numbers that are the same in every run of the program, so
// that a plan is repeatable. Nothing of a job depends on them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace assay::node {

class Draws {
public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t word() { return engine_(); }
    /// From 0 to below 1.
    double uniform() { return std::ldexp(static_cast<double>(word() >> 11), -53); }
    /// From the standard normal distribution (Box and Muller). The standard library's own distributions
    /// differ between implementations.
    double normal() {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace assay::node
