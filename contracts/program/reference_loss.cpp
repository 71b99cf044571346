// SPDX-License-Identifier: Apache-2.0
// The loss operators of the reference interpreter.
#include "contracts/arithmetic/loss.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

ReferenceMachine::Definitions ReferenceMachine::loss_definitions() {
    static constexpr Definition kDefinitions[] = {
        {Kind::kLossMax,
         [](Machine& m, const Operator& one) {
             loss_max(m.model().vocabulary, m.in(one, 0), m.out(one, 0));
         }},
        {Kind::kLossExp,
         [](Machine& m, const Operator& one) {
             loss_exp(m.model().vocabulary, m.in(one, 0), m.in(one, 1), m.out(one, 0));
         }},
        {Kind::kLossSum,
         [](Machine& m, const Operator& one) {
             loss_sum(m.model().vocabulary, m.in(one, 0), m.out(one, 0));
         }},
        {Kind::kLossTokens,
         [](Machine& m, const Operator& one) {
             loss_tokens(m.model().vocabulary, m.in(one, 0), m.in(one, 1), m.in(one, 2), m.targets_,
                         m.out(one, 0));
         }},
        {Kind::kLossTotal,
         [](Machine& m, const Operator& one) {
             m.loss_so_far_ = m.part_.loss_before;
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 m.loss_so_far_ = loss_total_carry(m.part(m.in(one, 0), s), m.loss_so_far_);
             }
             m.out(one, 0)[0] = m.loss_so_far_ * reciprocal(m.part_.targets);
         }},
        {Kind::kLossGradient,
         [](Machine& m, const Operator& one) {
             loss_gradient(m.model().vocabulary, reciprocal(m.part_.targets), m.in(one, 0), m.in(one, 1),
                           m.targets_, m.out(one, 0));
         }},
    };
    return kDefinitions;
}

}  // namespace assay::program
