// SPDX-License-Identifier: Apache-2.0
// The operators of the reference interpreter that run once per step.
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

ReferenceMachine::Definitions ReferenceMachine::update_definitions() {
    static constexpr Definition kDefinitions[] = {
        {Kind::kTiedGradient,
         [](Machine& m, const Operator& one) { add(m.in(one, 0), m.in(one, 1), m.out(one, 0)); }},
        {Kind::kGlobalNorm,
         [](Machine& m, const Operator& one) {
             std::vector<float> sums;
             for (const TensorId id : one.operands) {
                 const std::uint64_t rows = m.program_.tensors[id].rows.fixed;
                 const std::size_t first = sums.size();
                 sums.resize(first + tile_count(rows, m.cols(id)));
                 square_tiles(rows, m.cols(id), m.values(id), std::span(sums).subspan(first));
             }
             m.out(one, 0)[0] = norm_of_tiles(sums);
         }},
        {Kind::kClip,
         [](Machine& m, const Operator& one) {
             m.out(one, 0)[0] = clip_scale(m.in(one, 0)[0], m.program_.clip_norm);
         }},
        {Kind::kAdamW,
         [](Machine& m, const Operator& one) {
             AdamWCoefficients own = m.coefficients_;
             if (!m.program_.parameters[one.operands[2]].decays()) own.decay = 0.0F;
             adamw(own, m.in(one, 1)[0], m.in(one, 0), m.out(one, 0), m.out(one, 1), m.out(one, 2));
         }},
    };
    return kDefinitions;
}

}  // namespace assay::program
