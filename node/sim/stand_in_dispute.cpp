// SPDX-License-Identifier: Apache-2.0
// The stand-in's answers to players of disputes. Of every tree the first leaf alone follows from the content:
// two players who computed the same agree on all of it, others part at the first leaf.
#include "contracts/dispute/facts.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/dispute/tree.hpp"
#include "contracts/program/program.hpp"
#include "node/sim/stand_in_worker.hpp"

namespace assay::node::sim {

namespace frames = worker;
using dispute::ArrayLevel;
using dispute::ArraySubject;
using dispute::QuestionKind;

namespace {

constexpr std::size_t kNothingOpened = 32;
constexpr std::size_t kCraftedBytes = 16'384;

std::vector<Hash256> first_of(std::uint64_t leaves, std::string_view tag, const Hash256& content) {
    std::vector<Hash256> all(leaves);
    if (!all.empty()) all.front() = base::hash(tag, content.view());
    return all;
}

frames::Message refused(const char* why) {
    return frames::Refusal{frames::RefusalReason::kBadRequest, why, {}};
}

frames::Message row_of(std::vector<Hash256> leaves, const dispute::TreeRow& row) {
    if (!dispute::is_row(leaves.size(), row)) return refused("no such row");
    const dispute::StoredTree tree(std::move(leaves));
    const auto nodes = tree.row(row.height).subspan(row.first, row.nodes);
    return frames::Descended{{{nodes.begin(), nodes.end()}, {}}, 1'000'000};
}

/// Of nothing; a crafted one is long, and of bytes that mean nothing.
frames::Message witness(bool crafted) {
    Bytes bytes(crafted ? kCraftedBytes : kNothingOpened);
    for (std::size_t i = 0; crafted && i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 131 + (i >> 8U));
    return frames::Descended{{{}, std::move(bytes)}, 1'000'000};
}

}  // namespace

std::optional<Hash256> StandInWorker::start_of(const frames::Descend& request, const Waiting& waiting) const {
    const dispute::Question& question = request.question;
    if (question.at.segment == 0 && !request.from_step) {
        if (waiting.bulk.empty()) return std::nullopt;
        return job_->first_root(waiting.bulk.front(), {question.round, question.slot});
    }
    if (waiting.bulk.size() < 2) return std::nullopt;
    const auto head = job_->read_head(waiting.bulk.front()->bytes);
    if (!head || program::state_root(program::roots_of(*head)) != request.start_root) return std::nullopt;
    if (head->step == job_->plan().steps(question.at.segment).first) return request.start_root;
    return HashChain::start_inside(waiting.bulk[1]->bytes);
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Descend& request, const Waiting& waiting) {
    const dispute::Question& question = request.question;
    const program::StepRange steps = job_->plan().steps(question.at.segment);
    const SlotTurn place{question.round, question.slot};
    const auto start = start_of(request, waiting);
    if (!start) return {refused("no start"), {}};
    // Who does not defend its lie finds what the unit really gives: nothing of it folds into its claim.
    const Hash256 end = behaviour_.defends_lies ? claimed_end(question.at.segment, *start, place).root
                                                : job_->behind(question.at.segment, *start, place, {}).root;
    if (request.want_state) {
        return {frames::Descended{{}, 1'000'000}, job_->inside(question.at.step, *start, end).files};
    }
    const auto behind = [&](std::uint32_t step) {
        return step + 1 >= steps.last ? end : job_->inside(step + 1, *start, end).root;
    };
    if (question.kind == QuestionKind::kSteps) {
        std::vector<Hash256> roots;
        for (std::uint32_t step = steps.first; step < steps.last; ++step) roots.push_back(behind(step));
        return {row_of(std::move(roots), question.row), {}};
    }
    const auto program = shared_.program_of(spec_);
    const std::uint32_t step = question.at.step;
    const auto facts = dispute::facts_of(spec_, *program, {question.round, question.slot, step, step});
    const Hash256 content = behind(step);
    const auto tiles = [&](std::uint32_t index, std::uint32_t output) {
        const std::uint64_t count = facts.tiles(facts.output(index, output));
        return facts.first_output[index] + output == 0 ? first_of(count, "assay/sim/tile", content)
                                                       : std::vector<Hash256>(count);
    };
    dispute::PartialPosition at = question.at;
    at.partial = 0;
    switch (question.kind) {
        case QuestionKind::kOutputs: {
            std::vector<Hash256> roots;
            for (std::uint32_t index = 0; index < facts.operators(); ++index) {
                const std::uint32_t outputs = facts.first_output[index + 1] - facts.first_output[index];
                for (std::uint32_t output = 0; output < outputs; ++output)
                    roots.push_back(shared_.zeros_of(facts.tiles(facts.output(index, output))).root);
            }
            const std::uint64_t first = facts.tiles(facts.output(0, 0));
            roots.front() = dispute::climb(first_of(1, "assay/sim/tile", content).front(), 0, first,
                                           shared_.zeros_of(first).path);
            return {row_of(std::move(roots), question.row), {}};
        }
        case QuestionKind::kTiles:
        case QuestionKind::kPartials:
            if (!dispute::exists(facts, at)) return {refused("no such tile"), {}};
            if (question.kind == QuestionKind::kTiles)
                return {row_of(tiles(at.operator_index, at.output), question.row), {}};
            return {row_of(first_of(dispute::partial_count(facts, at) - 1, "assay/sim/partial", content),
                           question.row),
                    {}};
        default: break;
    }
    return {witness(behaviour_.crafts_witness), {}};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::DescendArray& request,
                                                   const Waiting& waiting) {
    const dispute::ArrayQuestion& question = request.question;
    if (question.subject == ArraySubject::kClip || waiting.bulk.empty())
        return {refused("no such array"), {}};
    Hash256 content;
    if (question.subject == ArraySubject::kUpdate) {
        const program::RoundPlan& plan = job_->plan();
        const auto nonce = behaviour_.defends_lies ? nonce_of(behaviour_.false_units, plan.finalise(),
                                                              SlotTurn{request.round, 0}, plan)
                                                   : std::string_view();
        content = HashChain::content_of_update(job_->update(request.end_root, nonce));
    } else {
        std::vector<Hash256> updates;
        for (const frames::DescendArray::Entry& entry : request.merged) updates.push_back(entry.update_root);
        content = HashChain::content_of_base(job_->merged(waiting.bulk.front(), updates)->bytes,
                                             question.subject == ArraySubject::kMergedOuter);
    }
    switch (question.level) {
        case ArrayLevel::kTensors: {
            const auto roots = job_->tensor_roots(content);
            if (question.row.first + question.row.nodes > roots.size()) return {refused("no such row"), {}};
            const auto part = std::span(roots).subspan(question.row.first, question.row.nodes);
            return {frames::Descended{{{part.begin(), part.end()}, {}}, 1'000'000}, {}};
        }
        case ArrayLevel::kTiles: return {row_of(job_->tiles(content, question.at.tensor), question.row), {}};
        case ArrayLevel::kPartials:
            return {row_of(first_of(question.row.nodes, "assay/sim/partial", content), question.row), {}};
        default: break;
    }
    return {witness(behaviour_.crafts_witness), {}};
}

}  // namespace assay::node::sim
