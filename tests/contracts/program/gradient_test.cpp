// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/contracts/program/double_model.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;
}

TEST_CASE("every gradient of a step agrees with finite differences of a binary64 model") {
    // Shapes with one head, several heads, one layer, head dimension 1.
    for (const ModelConfig model :
         {tiny::model(), ModelConfig{.layers = 1, .width = 4, .heads = 4, .context = 3, .vocabulary = 5},
          ModelConfig{.layers = 1, .width = 33, .heads = 1, .context = 2, .vocabulary = 3}}) {
        const Program program = build_step_program(model, tiny::spec().train, Profile::kF32);
        const auto tokens = tiny::tokens(model, 3, 5);
        SlotArrays state;
        state.parameters = tiny::parameters(model, 9);
        state.first_moment.assign(state.parameters.size(), 0.0F);
        state.second_moment = state.first_moment;
        const std::vector<double> flat(state.parameters.begin(), state.parameters.end());
        const StepOutcome outcome =
            reference_step(program, Schedule(tiny::spec().train).at(0, 0), tokens, state);
        REQUIRE_FALSE(outcome.diverged);

        const tiny::DoubleModel exact(model);
        CHECK(std::bit_cast<float>(outcome.fingerprint.loss) ==
              Approx(exact.loss(flat, tokens)).epsilon(2e-6));
        double norm = 0;
        for (const TensorInfo& tensor : program.parameters) {
            INFO(tensor.name);
            double worst = 0;
            double largest = 0;
            for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
                constexpr double kStep = 1e-5;
                std::vector<double> moved = flat;
                moved[i] = flat[i] + kStep;
                const double above = exact.loss(moved, tokens);
                moved[i] = flat[i] - kStep;
                const double slope = (above - exact.loss(moved, tokens)) / (2 * kStep);
                worst = std::max(worst, std::fabs(slope - static_cast<double>(outcome.gradient[i])));
                largest = std::max(largest, std::fabs(slope));
                norm += slope * slope;
            }
            CHECK(worst < 2e-6 + 2e-5 * largest);
        }
        CHECK(std::bit_cast<float>(outcome.fingerprint.norm) == Approx(std::sqrt(norm)).epsilon(1e-5));
    }
}
