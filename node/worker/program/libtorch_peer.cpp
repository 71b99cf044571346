// SPDX-License-Identifier: Apache-2.0
// assay-libtorch-peer: LibTorch's side of `assay bench`. ASSAY_THREADS says how many threads it uses.
#include <cstdio>

#include "node/worker/program/bench.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/torch/peer.hpp"

namespace {

using namespace assay;
using verifier::TimedWork;

base::Outcome<void> known(std::string_view side) {
    if (side == "peer") return {};
    return base::fail(base::ErrorKind::kUsage, "no side " + std::string(side));
}

verifier::BenchCases libtorch_cases(int threads) {
    verifier::BenchCases cases;
    cases.name = trainer::peer_name();
    cases.gemm = [threads](std::string_view side, trainer::GemmShape shape,
                           trainer::GemmKind kind) -> base::Outcome<TimedWork> {
        ASSAY_TRY(known(side));
        return trainer::make_peer_gemm(shape, kind, threads);
    };
    cases.step = [threads](std::string_view side, const program::ModelConfig& model,
                           std::uint32_t batch) -> base::Outcome<TimedWork> {
        ASSAY_TRY(known(side));
        return trainer::make_peer_step(model, batch, threads);
    };
    return cases;
}

}  // namespace

int main() {
    const auto threads = trainer::threads_from_environment();
    if (!threads.ok()) {
        std::printf("error %s\n", threads.error().what.c_str());
        return static_cast<int>(threads.error().kind);
    }
    verifier::serve_bench(stdin, stdout, libtorch_cases(*threads));
    return 0;
}
