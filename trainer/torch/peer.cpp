// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/peer.hpp"

#include <dlfcn.h>
#include <torch/version.h>

#include "contracts/program/initial.hpp"
#include "trainer/torch/torch_forward.hpp"
#include "trainer/torch/torch_model.hpp"

namespace assay::trainer {

std::string peer_name() {
    // With the reference BLAS, LibTorch is ten times slower than it can be: say which one it runs on.
    using Config = char* (*)();
    const auto config = reinterpret_cast<Config>(::dlsym(RTLD_DEFAULT, "openblas_get_config"));
    std::string blas = "a BLAS other than OpenBLAS";
    if (config != nullptr) {
        blas = config();
        blas = blas.substr(0, blas.find(' ', blas.find(' ') + 1));  // "OpenBLAS 0.3.21"
    }
    return "LibTorch " TORCH_VERSION " fp32, " + blas;
}

std::function<void()> make_peer_gemm(GemmShape shape, GemmKind kind, int threads) {
    torch::manual_seed(7);
    const auto tokens = signed_size(shape.tokens);
    const auto in = signed_size(shape.in);
    const auto out = signed_size(shape.out);
    const auto x = torch::randn({tokens, in});
    const auto weight = torch::randn({in, out});
    const auto dy = torch::randn({tokens, out});
    const auto run = [threads](torch::Tensor result, const torch::Tensor& a, const torch::Tensor& b) {
        return [threads, result, a, b]() mutable {
            at::set_num_threads(threads);
            torch::mm_out(result, a, b);
        };
    };
    switch (kind) {
        case GemmKind::kForward: return run(torch::empty({tokens, out}), x, weight);
        case GemmKind::kInputGradient: return run(torch::empty({tokens, in}), dy, weight.t());
        case GemmKind::kWeightGradient: return run(torch::empty({in, out}), x.t(), dy);
        case GemmKind::kHeadInputGradient:
            return run(torch::empty({tokens, in}), dy, torch::randn({out, in}));
        case GemmKind::kHeadWeightGradient: return run(torch::empty({out, in}), dy.t(), x);
    }
    return {};
}

std::function<void()> make_peer_step(const program::ModelConfig& model, std::uint32_t batch, int threads) {
    const auto parameters = program::initial_parameters(model, 7);
    auto peer = std::make_shared<TorchModel>(model, parameters, TorchPrecision::kFloat32);
    std::vector<std::uint32_t> tokens(std::size_t{batch} * (model.context + 1));
    std::uint32_t state = 1;
    for (std::uint32_t& token : tokens) {
        state = state * 1664525U + 1013904223U;
        token = (state >> 8) % model.vocabulary;
    }
    program::TrainConfig train;
    train.learning_rate = 1e-3F;
    return [peer, tokens, train, threads] {
        at::set_num_threads(threads);
        peer->train_step(train, tokens);
    };
}

}  // namespace assay::trainer
