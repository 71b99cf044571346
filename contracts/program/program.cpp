// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program.hpp"

#include "contracts/base/wide.hpp"

namespace assay::program {

namespace {
constexpr std::uint64_t kOperationsPerUnit = 1'000'000'000;
}  // namespace

std::uint64_t operations(const Program& program, std::uint64_t sequences) {
    std::uint64_t total = 0;
    for (const Operator& one : program.operators) total += one.operations.of(sequences);
    return total;
}

std::uint64_t work_units(const JobSpec& spec, std::uint32_t steps) {
    const Program program = build_step_program(spec.model, spec.train, spec.profile);
    const base::Uint128 total = base::Uint128{operations(program, spec.train.batch)} * steps;
    return static_cast<std::uint64_t>((total + kOperationsPerUnit - 1) / kOperationsPerUnit);
}

std::uint64_t work_units(const JobSpec& spec) { return work_units(spec, spec.train.inner_steps); }

}  // namespace assay::program
