// SPDX-License-Identifier: Apache-2.0
#include "node/dispute/worker_memory.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/worker/drill_fault.hpp"

namespace assay::node {

namespace frames = worker;
using base::Bytes;
using base::Hash256;
using dispute::ArrayLevel;
using dispute::ArrayQuestion;
using dispute::ArraySubject;
using dispute::Question;
using dispute::QuestionKind;
using dispute::StepEnd;
using dispute::StoredTree;
using dispute::TreeRow;
using dispute::UnitKind;
using dispute::Way;
using dispute::WayStage;

namespace {

// Keys of what is no question.
const Bytes kRun = {1};
const Bytes kReplay = {2};
const Bytes kBefore = {3};

// Of the replay of a unit between the served start and the disputed one.
Bytes key_of_served(std::uint32_t unit) {
    Bytes key = {4, 0, 0, 0, 0};
    for (std::size_t i = 1; i < key.size(); ++i, unit >>= 8) key[i] = static_cast<std::uint8_t>(unit);
    return key;
}

template <class Asked>
Bytes key_of(std::uint8_t kind, const Asked& question) {
    Bytes key = base::encode(question);
    key.insert(key.begin(), kind);
    return key;
}

std::optional<program::StateRoots> roots_in(const std::vector<frames::SharedDescriptor>& files) {
    if (files.empty()) return std::nullopt;
    const auto bytes = frames::read_all(*files.front(), program::kMaxHeadBytes);
    if (!bytes.ok()) return std::nullopt;
    const auto head = program::decode_state_head(*bytes);
    if (!head.ok()) return std::nullopt;
    return program::roots_of(*head);
}

std::vector<Hash256> part_of(const StoredTree& tree, const TreeRow& row) {
    const auto nodes = tree.row(row.height).subspan(row.first, row.nodes);
    return {nodes.begin(), nodes.end()};
}

}  // namespace

WorkerMemory::WorkerMemory(dispute::UnitFacts& facts, PlayerFiles files)
    : facts_(facts), files_(std::move(files)) {
    if (files_.served) begin_served();
}

void WorkerMemory::begin_served() {
    const ServedState& served = *files_.served;
    const auto roots = roots_in(served.files);
    const bool is_before = boundary() && served.unit > 0 && served.unit <= *boundary();
    // The arrays are compared with the head by the worker, in its first answer.
    if (!is_before || !roots || program::state_root(*roots) != served.root) return files_.served.reset();
    start_ = served.files;
    start_root_ = served.root;
    reached_ = served.unit;
    started_ = reached_ == boundary();
    if (started_ && start_root_ != claimed_start()) forget_served();
}

void WorkerMemory::take_served(const frames::Replayed& replayed, const Files& bulk) {
    const bool computed = replayed.verdict == frames::UnitVerdict::kComputed && !replayed.parts.divergence;
    if (!computed || bulk.empty()) return forget_served();
    start_ = kept(OwnState::kStart, bulk);
    start_root_ = replayed.parts.end_root;
    reached_ = *reached_ + 1;
    started_ = reached_ == boundary();
    if (started_ && start_root_ != claimed_start()) forget_served();
}

void WorkerMemory::forget_served() {
    files_.served.reset();
    reached_.reset();
    start_.clear();
    start_root_ = {};
    started_ = false;
}

std::optional<std::uint32_t> WorkerMemory::boundary() const {
    switch (claim().kind) {
        case UnitKind::kSegment: return claim().segment;
        case UnitKind::kUpdate:
        case UnitKind::kCarried: return program::RoundPlan(facts_.spec()).last_boundary();
        case UnitKind::kMerge:
        case UnitKind::kClip: break;
    }
    return std::nullopt;
}

const Hash256& WorkerMemory::claimed_start() const {
    return claim().kind == UnitKind::kUpdate ? claim().states[1] : claim().states[0];
}

program::StepRange WorkerMemory::steps() const {
    return program::RoundPlan(facts_.spec()).steps(claim().segment);
}

void WorkerMemory::lack(Bytes key, frames::Message request, Files bulk) {
    if (!lacking_) lacking_ = WorkerAsk{std::move(key), std::move(request), std::move(bulk)};
}

bool WorkerMemory::has_start() {
    if (started_) return true;
    if (reached_) {
        ask_replay(key_of_served(*reached_), *reached_, true);
    } else {
        ask_run();
    }
    return false;
}

bool WorkerMemory::starts_as_claimed() {
    if (!boundary()) return true;
    if (!has_start() || start_root_ != claimed_start()) return false;
    // A slot whose work ended before has no state there.
    return !start_.empty() || *boundary() == 0;
}

void WorkerMemory::ask_run() {
    if (!files_.can_run) return static_cast<void>(lacks_run_ = true);
    frames::Train request{.round = round(), .slot = claim().slot, .resume = std::nullopt, .drills = {}};
    request.drills = files_.drills;
    request.carried_in = files_.carried_root;
    Files bulk{files_.base};
    bulk.insert(bulk.end(), files_.carried.begin(), files_.carried.end());
    lack(kRun, std::move(request), std::move(bulk));
}

void WorkerMemory::ask_replay(Bytes key, std::uint32_t segment, bool want_end_state) {
    lack(std::move(key),
         frames::Replay{.round = round(),
                        .slot = claim().slot,
                        .unit = segment,
                        .base_root = {},  // a segment behind the first reads no base
                        .start_root = start_root_,
                        .carried_in = {},
                        .want_end_state = want_end_state},
         start_);
}

bool WorkerMemory::take_run(const frames::Message& message, const Files& bulk) {
    const std::uint32_t wanted = *boundary();
    const auto learn = [&](const program::TraceRecord& trace) {
        for (std::uint32_t step = 0; step < trace.fingerprints.size(); ++step)
            fingerprints_[step] = trace.fingerprints[step];
        has_fingerprints_ = true;
        start_root_ = trace.boundaries[wanted];
        started_ = true;
    };
    if (const auto* reached = std::get_if<frames::Boundary>(&message)) {
        if (reached->index == wanted) start_ = kept(OwnState::kStart, bulk);
        // The fingerprints of a segment are known at its end.
        const std::uint32_t last = claim().kind == UnitKind::kSegment ? wanted + 1 : wanted;
        if (reached->index != last || reached->so_far.boundaries.size() <= wanted) return false;
        learn(reached->so_far);
        return true;
    }
    const auto* trained = std::get_if<frames::Trained>(&message);
    if (trained != nullptr && trained->trace.boundaries.size() > wanted) learn(trained->trace);
    return false;
}

WorkerMemory::Files WorkerMemory::kept(OwnState which, const Files& bulk) const {
    return files_.keep ? files_.keep(which, bulk) : bulk;
}

void WorkerMemory::take_before(const Files& bulk) {
    const auto roots = roots_in(bulk);
    if (!roots) return;
    before_ = kept(OwnState::kBeforeStep, bulk);
    before_root_ = program::state_root(*roots);
}

bool WorkerMemory::take(const WorkerAsk& ask, const frames::Message& message, const Files& bulk) {
    if (ask.key == kRun) return take_run(message, bulk);
    if (ask.key == kBefore) {
        const auto* descend = std::get_if<frames::Descend>(&ask.request);
        take_before(bulk);
        if (!before_.empty()) before_step_ = descend->question.at.step;
    }
    if (const auto* replayed = std::get_if<frames::Replayed>(&message)) {
        if (ask.key != kReplay) {
            // An answer that comes twice is of a unit that is passed.
            if (reached_ && ask.key == key_of_served(*reached_)) take_served(*replayed, bulk);
            return false;
        }
        if (replayed->verdict != frames::UnitVerdict::kComputed) {
            forget_served();  // the start has changed on the disk
            return false;
        }
        for (std::size_t i = 0; i < replayed->parts.fingerprints.size(); ++i)
            fingerprints_[steps().first + static_cast<std::uint32_t>(i)] = replayed->parts.fingerprints[i];
        has_fingerprints_ = true;
    }
    if (const auto* found = std::get_if<frames::Descended>(&message);
        found != nullptr && ask.key.size() > 1) {
        known_[ask.key] = found->answer;
        take_end(ask, found->answer);
    }
    return false;
}

frames::Descend WorkerMemory::about(const Question& question, Files& bulk) const {
    frames::Descend request;
    request.question = question;
    if (before_step_ == question.at.step && question.kind != QuestionKind::kSteps) {
        request.from_step = true;
        request.start_root = before_root_;
        bulk = before_;
    } else if (!start_.empty()) {
        // A state that somebody gave of the slot's first step stands there like any other.
        request.from_step = claim().segment == 0;
        request.start_root = start_root_;
        bulk = start_;
    } else {
        request.carried_in = files_.carried_root;
        bulk = {files_.base};
        bulk.insert(bulk.end(), files_.carried.begin(), files_.carried.end());
    }
    return request;
}

const dispute::DisputeAnswer* WorkerMemory::ask(Question question) {
    question.round = round();
    question.slot = claim().slot;
    question.at.segment = claim().segment;
    const bool of_step = question.kind != QuestionKind::kSteps;
    if (of_step) question.diverged_at = facts_.step(question.at.step).diverged_at;
    question.fault = frames::fault_among(files_.drills, claim().segment, facts_.spec());
    Bytes key = key_of(16, question);
    if (const auto found = known_.find(key); found != known_.end()) return &found->second;
    if (!has_start()) return nullptr;
    Files bulk;
    if (of_step && question.at.step != steps().first && before_step_ != question.at.step) {
        frames::Descend request = about(question, bulk);
        request.want_state = true;
        lack(kBefore, std::move(request), std::move(bulk));
        return nullptr;
    }
    frames::Descend request = about(question, bulk);
    lack(std::move(key), std::move(request), std::move(bulk));
    return nullptr;
}

const dispute::DisputeAnswer* WorkerMemory::ask(ArrayQuestion question) {
    Bytes key = key_of(17, question);
    if (const auto found = known_.find(key); found != known_.end()) return &found->second;
    frames::DescendArray request;
    request.question = question;
    request.round = round();
    Files bulk;
    if (question.subject != ArraySubject::kClip) bulk.push_back(files_.base);
    if (question.subject == ArraySubject::kUpdate) {
        if (!has_start()) return nullptr;
        request.end_root = start_root_;
        const program::RoundPlan plan(facts_.spec());
        const auto end = program::narrowed(start_, program::strategy_of(facts_.spec()).lane_arrays,
                                           plan.start(plan.finalise()).arrays);
        bulk.insert(bulk.end(), end.begin(), end.end());
    } else {
        for (std::size_t i = 0; i < files_.slots.size(); ++i)
            request.merged.push_back({files_.slots[i], 1, claim().clips[i], claim().updates[i]});
        bulk.insert(bulk.end(), files_.updates.begin(), files_.updates.end());
    }
    lack(std::move(key), std::move(request), std::move(bulk));
    return nullptr;
}

template <class Asked>
std::optional<std::vector<Hash256>> WorkerMemory::leaves(Asked question, std::uint64_t count) {
    std::vector<Hash256> all;
    while (all.size() < count) {
        question.row = {0, all.size(), std::min(count - all.size(), dispute::kMaxMoveHashes)};
        const dispute::DisputeAnswer* answer = ask(question);
        if (answer == nullptr || answer->hashes.size() != question.row.nodes) return std::nullopt;
        all.insert(all.end(), answer->hashes.begin(), answer->hashes.end());
    }
    return all;
}

std::optional<std::vector<Hash256>> WorkerMemory::tensors(ArraySubject subject) {
    ArrayQuestion question;
    question.subject = subject;
    question.level = ArrayLevel::kTensors;
    return leaves(question, facts_.tensors().size());
}

ArraySubject WorkerMemory::subject(const Way& way) const {
    switch (claim().kind) {
        case UnitKind::kClip: return ArraySubject::kClip;
        case UnitKind::kMerge:
            return way.is_outer ? ArraySubject::kMergedOuter : ArraySubject::kMergedParameters;
        default: return ArraySubject::kUpdate;
    }
}

Hash256 WorkerMemory::state(std::uint32_t step) {
    if (step == claim().first_step) {
        (void)has_start();
        return start_root_;
    }
    Question question;
    question.kind = QuestionKind::kSteps;
    const auto roots = leaves(question, steps().last - steps().first);
    return roots ? (*roots)[step - steps().first - 1] : Hash256{};
}

std::optional<program::Fingerprint> WorkerMemory::fingerprint(std::uint32_t step) {
    if (!has_start()) return std::nullopt;
    const auto found = fingerprints_.find(step);
    if (found != fingerprints_.end()) return found->second;
    if (!has_fingerprints_) ask_replay(kReplay, claim().segment, false);
    return std::nullopt;
}

void WorkerMemory::take_end(const WorkerAsk& ask, const dispute::DisputeAnswer& answer) {
    const auto* of_step = std::get_if<frames::Descend>(&ask.request);
    if (of_step != nullptr && of_step->question.kind == QuestionKind::kOutputs)
        ends_[of_step->question.at.step] = answer.diverges;
    const auto* of_array = std::get_if<frames::DescendArray>(&ask.request);
    if (of_array != nullptr && of_array->question.level == ArrayLevel::kTensors) ends_[0] = answer.diverges;
}

std::optional<dispute::NotFinitePlace> WorkerMemory::ends_at(const Way& way) {
    if (claim().kind == UnitKind::kClip || claim().kind == UnitKind::kCarried) return std::nullopt;
    const bool of_step = claim().kind == UnitKind::kSegment;
    if (const auto found = ends_.find(of_step ? way.at.step : 0); found != ends_.end()) return found->second;
    if (of_step) {
        Question question;
        question.kind = QuestionKind::kOutputs;
        question.at.step = way.at.step;
        // The row that the stage needs anyway, if it is that of the outputs.
        question.row =
            way.stage == WayStage::kOutputs ? way.row : dispute::top_row(facts_.step(way.at.step).outputs());
        (void)ask(question);
        return std::nullopt;
    }
    const bool is_merge = claim().kind == UnitKind::kMerge;
    (void)tensors(is_merge ? ArraySubject::kMergedParameters : ArraySubject::kUpdate);
    return std::nullopt;
}

std::vector<Hash256> WorkerMemory::arrays() {
    const auto parameters = tensors(ArraySubject::kMergedParameters);
    std::vector<Hash256> both(2);
    if (parameters) both[0] = dispute::fold_array(facts_.tensors(), *parameters);
    if (!dispute::exists(facts_.array(dispute::ArrayUnit::kMergedOuter), {})) {
        both[1] = program::zero_array_root(facts_.tensors());
        return both;
    }
    const auto outer = tensors(ArraySubject::kMergedOuter);
    if (outer) both[1] = dispute::fold_array(facts_.tensors(), *outer);
    return both;
}

std::optional<std::vector<StoredTree>> WorkerMemory::end_arrays(const Way& way) {
    const dispute::StepFacts& step = facts_.step(way.at.step);
    Question question;
    question.kind = QuestionKind::kOutputs;
    question.at.step = way.at.step;
    const auto outputs = leaves(question, step.outputs());
    if (!outputs) return std::nullopt;
    std::vector<StoredTree> arrays;
    for (std::uint32_t component = 0; component < 3; ++component) {
        std::vector<Hash256> tensors;
        for (std::uint32_t i = 0; i < facts_.tensors().size(); ++i) {
            const auto output = dispute::end_output(facts_.step(way.at.step), component, i);
            ASSAY_CHECK(output && *output < outputs->size());
            tensors.push_back(program::tensor_leaf(facts_.tensors()[i], (*outputs)[*output]));
        }
        arrays.emplace_back(std::move(tensors));
    }
    return arrays;
}

std::vector<Hash256> WorkerMemory::end_components(const Way& way,
                                                  const std::vector<StoredTree>& arrays) const {
    program::StateRoots roots = facts_.known(way.at.step + 1);
    roots.parameters = arrays[0].root();
    roots.first_moment = arrays[1].root();
    roots.second_moment = arrays[2].root();
    const auto leaves = program::component_leaves(roots);
    return {leaves.begin(), leaves.end()};
}

std::optional<std::vector<Hash256>> WorkerMemory::known_row(const Way& way) {
    const bool of_step = claim().kind == UnitKind::kSegment;
    if (way.stage == WayStage::kComponents || way.stage == WayStage::kStateTensors) {
        const auto arrays = end_arrays(way);
        if (!arrays) return std::nullopt;
        if (way.stage == WayStage::kComponents) return end_components(way, *arrays);
        return part_of((*arrays)[way.state.component], way.row);
    }
    if (way.stage == WayStage::kTensors) {
        auto roots = tensors(subject(way));
        if (!roots) return std::nullopt;
        for (std::size_t i = 0; i < roots->size(); ++i)
            (*roots)[i] = program::tensor_leaf(facts_.tensors()[i], (*roots)[i]);
        return part_of(StoredTree(std::move(*roots)), way.row);
    }
    const dispute::DisputeAnswer* answer = nullptr;
    if (of_step) {
        Question question;
        question.kind = way.stage == WayStage::kOutputs ? QuestionKind::kOutputs
                        : way.stage == WayStage::kTiles ? QuestionKind::kTiles
                                                        : QuestionKind::kPartials;
        question.at = way.at;
        question.row = way.row;
        answer = ask(question);
    } else {
        ArrayQuestion question;
        question.subject = subject(way);
        question.level = way.stage == WayStage::kTiles ? ArrayLevel::kTiles : ArrayLevel::kPartials;
        question.at = way.array;
        question.row = way.row;
        answer = ask(question);
    }
    if (answer == nullptr) return std::nullopt;
    return answer->hashes;
}

std::vector<Hash256> WorkerMemory::row(const Way& way) {
    const std::size_t nodes =
        way.stage == WayStage::kComponents ? program::kStateComponents : std::size_t{way.row.nodes};
    auto found = known_row(way);
    return found && found->size() == nodes ? std::move(*found) : std::vector<Hash256>(nodes);
}

Bytes WorkerMemory::step_witness(const Way& way) {
    Question question;
    question.kind = QuestionKind::kWitness;
    question.at = way.at;
    if (way.step_end) {
        question.at = {.segment = way.at.segment, .step = way.at.step};
        question.end = way.state;
        switch (*way.step_end) {
            case StepEnd::kState: question.kind = QuestionKind::kEnd; break;
            case StepEnd::kLoss: question.kind = QuestionKind::kLoss; break;
            case StepEnd::kNorm: question.kind = QuestionKind::kNorm; break;
            case StepEnd::kDivergence: question.kind = QuestionKind::kDivergence; break;
        }
    }
    const dispute::DisputeAnswer* answer = ask(question);
    return answer != nullptr ? answer->witness : Bytes{};
}

Bytes WorkerMemory::carried_witness() {
    if (!has_start()) return {};
    const auto roots = roots_in(start_);
    return roots ? dispute::carried_witness(*roots) : Bytes{};
}

Bytes WorkerMemory::witness(const Way& way) {
    if (claim().kind == UnitKind::kSegment) return step_witness(way);
    if (claim().kind == UnitKind::kCarried) return carried_witness();
    ArrayQuestion question;
    question.subject = subject(way);
    question.at = way.array;
    if (claim().kind == UnitKind::kClip) question.at = {.partial = way.at.partial};
    question.level = ArrayLevel::kWitness;
    if (claim().kind == UnitKind::kUpdate && claim().diverged_at) question.level = ArrayLevel::kDivergence;
    const dispute::DisputeAnswer* answer = ask(question);
    return answer != nullptr ? answer->witness : Bytes{};
}

}  // namespace assay::node
