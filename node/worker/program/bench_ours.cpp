// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/bench_ours.hpp"

#include <memory>

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
    // A card has memory of its own, of which the process knows what it planned for.
    const bool is_card = device.name.starts_with("cuda");
    const auto planned = std::make_shared<std::uint64_t>(0);
    cases.step = [device, is_card, planned](std::string_view side, const program::ModelConfig& model,
                                            std::uint32_t batch) -> base::Outcome<TimedWork> {
        ASSAY_ASSIGN(const auto profile, profile_of(side));
        if (is_card) {
            ASSAY_ASSIGN(*planned, trainer::step_bench_bytes(model, batch, profile, device));
        }
        return trainer::make_step_bench(model, batch, profile, device);
    };
    cases.parts = [device](std::string_view side, const program::ModelConfig& model,
                           std::uint32_t batch) -> base::Outcome<std::vector<trainer::WorkTime>> {
        ASSAY_ASSIGN(const auto profile, profile_of(side));
        return trainer::step_bench_parts(model, batch, profile, device);
    };
    cases.state = [device](std::string_view work,
                           const program::ModelConfig& model) -> base::Outcome<TimedWork> {
        if (work != "roots" && work != "copy")
            return base::fail(base::ErrorKind::kUsage, "no work " + std::string(work));
        return trainer::make_state_bench(
            model, work == "roots" ? trainer::StateWork::kRoots : trainer::StateWork::kCopy, device);
    };
    if (is_card) cases.peak = [planned] { return *planned; };
    return cases;
}

}  // namespace assay::verifier
