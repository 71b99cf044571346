// SPDX-License-Identifier: Apache-2.0
// The products of the reference interpreter: linear layers, the head, and their gradients.
#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

void ReferenceMachine::product(const Operator& one, Form form, ProductShape shape, std::span<const float> a,
                               std::span<const float> b, std::span<float> c) const {
    if (!exact()) {
        switch (form) {
            case Form::kPlain: return product_nn(shape, a, b, c);
            case Form::kTransposedB: return product_nt(shape, a, b, c);
            case Form::kTransposedA: return product_tn_carry(shape, a, b, c);
        }
    }
    const bool carried = form == Form::kTransposedA;
    const MatrixView left = carried ? MatrixView{a.data(), 1, shape.m} : MatrixView{a.data(), shape.k, 1};
    const MatrixView right =
        form == Form::kTransposedB ? MatrixView{b.data(), 1, shape.k} : MatrixView{b.data(), shape.n, 1};
    exact_product(shape, one.rule, left, right, carried ? ChainStart::kCarry : ChainStart::kZero, c.data(),
                  shape.n);
}

ReferenceMachine::Definitions ReferenceMachine::product_definitions() {
    static constexpr Definition kDefinitions[] = {
        {Kind::kLinear,
         [](Machine& m, const Operator& one) {
             m.product(one, one.layout == WeightLayout::kInOut ? Form::kPlain : Form::kTransposedB,
                       {m.rows(), m.cols(one.outputs[0]), m.cols(one.operands[0])}, m.in(one, 0),
                       m.in(one, 1), m.out(one, 0));
             if (one.operands.size() > 2) add_bias(m.in(one, 2), m.out(one, 0));
         }},
        {Kind::kLinearInputGradient,
         [](Machine& m, const Operator& one) {
             m.product(one, one.layout == WeightLayout::kInOut ? Form::kTransposedB : Form::kPlain,
                       {m.rows(), m.cols(one.outputs[0]), m.cols(one.operands[0])}, m.in(one, 0),
                       m.in(one, 1), m.out(one, 0));
         }},
        {Kind::kLinearWeightGradient,
         [](Machine& m, const Operator& one) {
             // The rows of the weight come from x when it is [in,out] and from dy when it is [out,in].
             const std::size_t left = one.layout == WeightLayout::kInOut ? 0 : 1;
             m.product(one, Form::kTransposedA,
                       {m.cols(one.operands[left]), m.cols(one.operands[1 - left]), m.rows()},
                       m.in(one, left), m.in(one, 1 - left), m.out(one, 0));
         }},
        {Kind::kLinearBiasGradient,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 bias_gradient_carry(m.part(m.in(one, 0), s), m.out(one, 0));
             }
         }},
        {Kind::kHead,
         [](Machine& m, const Operator& one) {
             m.product(one, Form::kTransposedB, {m.rows(), m.cols(one.outputs[0]), m.cols(one.operands[0])},
                       m.in(one, 0), m.in(one, 1), m.out(one, 0));
         }},
        {Kind::kHeadInputGradient,
         [](Machine& m, const Operator& one) {
             m.product(one, Form::kPlain, {m.rows(), m.cols(one.outputs[0]), m.cols(one.operands[0])},
                       m.in(one, 0), m.in(one, 1), m.out(one, 0));
         }},
        {Kind::kHeadWeightGradient,
         [](Machine& m, const Operator& one) {
             m.product(one, Form::kTransposedA, {m.cols(one.operands[0]), m.cols(one.operands[1]), m.rows()},
                       m.in(one, 0), m.in(one, 1), m.out(one, 0));
         }},
    };
    return kDefinitions;
}

}  // namespace assay::program
