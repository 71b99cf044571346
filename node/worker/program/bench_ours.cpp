// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/bench_ours.hpp"

#include "trainer/run/bench.hpp"

namespace assay::verifier {

namespace {

base::Outcome<program::Profile> profile_of(std::string_view side) {
    if (side == "f32") return program::Profile::kF32;
    if (side == "i16") return program::Profile::kI16;
    return base::fail(base::ErrorKind::kUsage, "no side " + std::string(side));
}

}  // namespace

BenchCases our_cases(const trainer::DeviceOptions& device) {
    BenchCases cases;
    cases.gemm = [device](std::string_view side, trainer::GemmShape shape,
                          trainer::GemmKind kind) -> base::Outcome<TimedWork> {
        ASSAY_ASSIGN(const auto profile, profile_of(side));
        return trainer::make_gemm_bench(device, profile, shape, kind);
    };
    cases.step = [device](std::string_view side, const program::ModelConfig& model,
                          std::uint32_t batch) -> base::Outcome<TimedWork> {
        ASSAY_ASSIGN(const auto profile, profile_of(side));
        return trainer::make_step_bench(model, batch, profile, device);
    };
    return cases;
}

}  // namespace assay::verifier
