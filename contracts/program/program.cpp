// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program.hpp"

#include "contracts/base/wide.hpp"

namespace assay::program {

namespace {
constexpr std::uint64_t kOperationsPerUnit = 1'000'000'000;
}  // namespace

std::uint64_t flops(const Program& program, std::uint64_t sequences) {
    std::uint64_t total = 0;
    for (const Operator& one : program.operators) total += one.flops.of(sequences);
    return total;
}

namespace {
// Of a whole step, from programs of three layers at most: a deep model costs no more to price than a flat
// one.
std::uint64_t step_flops(const ModelConfig& model, const TrainConfig& train, Profile profile,
                         std::uint64_t sequences) {
    const auto of_layers = [&](std::uint32_t layers) {
        ModelConfig small = model;
        small.layers = layers;
        return flops(build_step_program(small, train, profile), sequences);
    };
    // The first and the last layer may differ from those between; those between are alike.
    constexpr std::uint32_t kEnds = 2;
    if (model.layers <= kEnds + 1) return of_layers(model.layers);
    const std::uint64_t ends = of_layers(kEnds);
    return ends + (model.layers - kEnds) * (of_layers(kEnds + 1) - ends);
}
}  // namespace

std::uint64_t work_units(const JobSpec& spec, std::uint32_t steps) {
    const std::uint64_t step = step_flops(spec.model, spec.train, spec.profile, spec.train.batch);
    const base::Uint128 total = base::Uint128{step} * steps;
    return static_cast<std::uint64_t>((total + kOperationsPerUnit - 1) / kOperationsPerUnit);
}

std::uint64_t work_units(const JobSpec& spec) { return work_units(spec, spec.train.inner_steps); }

}  // namespace assay::program
