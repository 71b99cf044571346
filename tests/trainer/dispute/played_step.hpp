// SPDX-License-Identifier: Apache-2.0
// A step that a device computes for a player of a dispute.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/contracts/dispute/step.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/dispute/step_answer.hpp"
#include "trainer/host/targets.hpp"

namespace assay::trainer::test {

/// Gives out memory of the heap, takes it back, and knows the most that was held.
class PeakArena final : public Arena {
public:
    float* allocate(std::size_t count) override {
        float* const block = heap_->allocate(count);
        blocks_[block] = count;
        held_ += count;
        peak = std::max(peak, held_);
        return block;
    }
    void release(float* block) override {
        held_ -= blocks_.at(block);
        blocks_.erase(block);
        heap_->release(block);
    }
    [[nodiscard]] std::string_view name() const override { return "peak"; }
    [[nodiscard]] std::size_t held() const { return held_; }
    std::size_t peak = 0;

private:
    std::unique_ptr<Arena> heap_ = make_heap_arena();
    std::map<float*, std::size_t> blocks_;
    std::size_t held_ = 0;
};

/// How the step is computed.
struct StepWay {
    int threads = 1;
    Rematerialise rematerialise = Rematerialise::kNothing;
    Arena* arena = nullptr;
};

inline std::vector<std::uint32_t> tokens_of(const disputed::Step& step) {
    const dispute::StepFacts& facts = step.inputs.facts;
    const std::uint64_t width = program::token_bytes(facts.program->model.vocabulary);
    std::vector<std::uint32_t> out;
    for (std::uint64_t sequence = 0; sequence < facts.sequences; ++sequence) {
        const std::uint64_t first = facts.first_token(sequence);
        for (std::uint64_t t = first; t <= first + facts.context(); ++t) {
            std::uint32_t token = 0;
            for (std::uint64_t i = 0; i < width; ++i) {
                token |= std::uint32_t{step.inputs.token_file[program::kTokenFileHeader + t * width + i]}
                         << (8 * i);
            }
            out.push_back(token);
        }
    }
    return out;
}

/// The answer to a question about a step, by the processor.
inline base::Outcome<dispute::DisputeAnswer> ask(const disputed::Step& step,
                                                 const dispute::Question& question, const StepWay& way = {}) {
    CpuDevice device(choose_target(machine_targets().front()).value(), way.threads, way.arena);
    program::SlotArrays state = step.inputs.state;
    const std::vector<std::uint32_t> tokens = tokens_of(step);
    const AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    dispute::StepFacts facts = step.inputs.facts;
    facts.diverged_at = question.diverged_at;
    program::StateRoots counters;
    counters.step_count = 1;
    counters.data_cursor = 1;
    const std::string fault = misplaced_question(facts, question);
    if (!fault.empty()) return base::fail(base::ErrorKind::kUsage, fault);
    return answer_step({.facts = facts,
                        .device = device,
                        .rematerialise = way.rematerialise,
                        .tokens = tokens,
                        .state = adopted,
                        .host = {state.parameters, state.first_moment, state.second_moment},
                        .sync = [] {},
                        .counters = counters,
                        .token_file = step.inputs.token_file},
                       question);
}

}  // namespace assay::trainer::test
