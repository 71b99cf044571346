// SPDX-License-Identifier: Apache-2.0
// JobRunner: answers to a dispute's questions about an update, a merge or a clip.
#include "contracts/program/round_law.hpp"
#include "trainer/dispute/array_answer.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"

namespace assay::trainer {

using base::ErrorKind;
using dispute::ArrayLevel;
using dispute::ArrayQuestion;
using dispute::ArraySubject;
using dispute::DisputeAnswer;

base::Outcome<DisputeAnswer> JobRunner::answer(const ArrayInputs& inputs, const ArrayQuestion& question,
                                               const Watch& watch) {
    Impl& impl = *impl_;
    const bool is_clip = question.subject == ArraySubject::kClip;
    const bool is_update = question.subject == ArraySubject::kUpdate;
    const bool fits = (is_clip || inputs.base != nullptr) && is_update == (inputs.end != nullptr) &&
                      is_update == inputs.accepted.empty() && (!is_clip || impl.spec.has_norm_bound());
    if (!fits) {
        return base::fail(ErrorKind::kUsage, "the arrays are not those that the question is about",
                          "give base and end for an update, base and updates for a merge, one for a clip");
    }
    ArraysAtHand hand{.tensors = impl.tensors,
                      .law = impl.law,
                      .device = *impl.device,
                      .bound = impl.spec.train.max_update_norm.value(),
                      .end = inputs.end_roots};
    ASSAY_ASSIGN(hand.merged, impl.merged_updates(inputs.accepted));
    if (is_clip) return answer_array(hand, question);
    hand.base_parameters = inputs.base->parameters;
    hand.base_outer = inputs.base->outer_momentum;
    hand.base = base_roots(*inputs.base);
    if (is_update) {
        hand.end_parameters = inputs.end->parameters;
        ASSAY_ASSIGN(const auto update, finalise(*inputs.base, *inputs.end));
        if (question.level == ArrayLevel::kDivergence) return answer_array(hand, question);
        if (update) hand.update = update->values;
        return answer_array(hand, question);
    }
    BaseState merged = *inputs.base;
    ASSAY_TRY(impl.device->check());
    ASSAY_ASSIGN(hand.is_finite, impl.merge(hand.merged, merged, watch));
    ASSAY_TRY(impl.device->check());
    hand.merged_parameters = merged.parameters;
    hand.merged_outer = merged.outer_momentum;
    return answer_array(hand, question);
}

}  // namespace assay::trainer
