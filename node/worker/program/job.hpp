// SPDX-License-Identifier: Apache-2.0
// Gives the worker's loop WorkerJob, its open job, which answers requests with JobRunner and the verifier's
// functions. It knows the frames' records and descriptors, not the socket.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "contracts/base/result.hpp"
#include "node/wire/channel.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/run/job_runner.hpp"
#include "verifier/replay.hpp"

namespace assay::verifier {

namespace frames = worker;

/// The answer to a request: a message and its bulk bytes.
struct WorkerAnswer {
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
};
using Answered = base::Result<WorkerAnswer, frames::Refusal>;

/// An error as a Refusal: its reason follows from the error's kind, the text is unchanged, and the fix is cut
/// to what the frame holds.
frames::Refusal to_refusal(const base::Error& error);
/// The same once a job is open. A job that does not fit this machine was refused when it was opened, so a
/// failed preflight now means wrong arithmetic or a lost device.
base::Failed<frames::Refusal> refuse_work(const base::Error& error);

/// What a request may use while it runs.
struct RequestContext {
    std::vector<frames::SharedDescriptor> bulk;  ///< their number is as descriptor_bounds allows
    std::function<void(WorkerAnswer)> report;    ///< Progress, Boundary and Pulse frames
    const std::atomic<bool>* cancel = nullptr;
    std::function<void()> rest;  ///< called between pieces of work (trainer::Watch)

    /// Tells the role that the request goes on.
    void pulse() const { report({frames::Pulse{}, {}}); }
    /// Ends the work when the request is cancelled, and pulses between its steps and micro-batches. Valid as
    /// long as this.
    [[nodiscard]] trainer::Watch pulsing_watch() const;
};

class WorkerJob {
public:
    /// Reads and checks the token files (blob ids, counts, vocabulary) and makes the runner.
    static base::Result<std::unique_ptr<WorkerJob>, frames::Refusal> open(
        const frames::OpenJob& request, const std::vector<frames::SharedDescriptor>& bulk,
        const trainer::RunnerOptions& options, std::unique_ptr<trainer::Arena> arena);

    [[nodiscard]] frames::Opened opened() const;
    Answered answer(const frames::Initial& request, const RequestContext& context);
    Answered answer(const frames::Train& request, const RequestContext& context);
    Answered answer(const frames::Replay& request, const RequestContext& context);
    Answered answer(const frames::Merge& request, const RequestContext& context);
    Answered answer(const frames::Evaluate& request, const RequestContext& context);
    Answered answer(const frames::Root& request, const RequestContext& context);
    Answered answer(const frames::Sample& request, const RequestContext& context);
    Answered answer(const frames::Descend& request, const RequestContext& context);
    Answered answer(const frames::DescendArray& request, const RequestContext& context);

private:
    WorkerJob() = default;
    base::Result<void, frames::Refusal> check_place(std::uint32_t round, std::uint32_t slot) const;
    base::Result<trainer::BaseState, frames::Refusal> base_state(const RequestContext& context) const;
    /// Makes `base` the base state of `round`: a round without a merge leaves the state as it is, and only
    /// its step count goes on.
    void go_on(trainer::BaseState& base, std::uint32_t round) const;
    /// The base state of a round: the given one, at the step at which the round begins.
    base::Result<trainer::BaseState, frames::Refusal> base_of(std::uint32_t round,
                                                              const RequestContext& context) const;
    base::Result<trainer::BaseState, frames::Refusal> given_initial(
        const frames::SharedDescriptor& file) const;
    base::Result<std::optional<trainer::CarriedState>, frames::Refusal> carried_state(
        const frames::Train& request, const RequestContext& context, std::size_t& at) const;
    base::Result<std::optional<trainer::ResumePoint>, frames::Refusal> resume_point(
        const frames::Train& request, const RequestContext& context, std::size_t& at) const;
    /// The state whose head is at place `at` of the bulk and is followed by these arrays. `at` becomes the
    /// place after it.
    base::Result<trainer::SlotState, frames::Refusal> slot_state(
        const RequestContext& context, std::size_t& at, std::span<const program::StateArray> arrays) const;
    /// The same for a state that a peer served. Bytes that are no such state count as a missing state.
    struct ClaimedState {
        std::optional<trainer::SlotState> state;
        std::optional<program::StateRoots> roots;  ///< as its head names them
    };
    base::Result<ClaimedState, frames::Refusal> claimed_state(
        const RequestContext& context, std::size_t& at, std::span<const program::StateArray> arrays) const;
    /// Descriptors of a state: its head and its arrays.
    base::Result<std::vector<frames::SharedDescriptor>, frames::Refusal> files_of(
        const trainer::SlotState& state, const program::StateRoots& roots) const;
    /// Adds the files of a replay request to `input`.
    base::Result<void, frames::Refusal> read_replay(const frames::Replay& request,
                                                    const RequestContext& context, UnitInput& input) const;
    Answered answer_update(const frames::DescendArray& request, const RequestContext& context);
    /// The state that a question starts from (job_descend.cpp).
    base::Result<trainer::SlotState, frames::Refusal> descend_start(const frames::Descend& request,
                                                                    const RequestContext& context) const;
    using UpdateDecoder = std::function<base::Outcome<trainer::Update>(base::ByteView, std::uint64_t)>;
    /// The decoder of this job's update files.
    [[nodiscard]] UpdateDecoder update_decoder() const;
    /// The slot that was trained here last, if that was in the round before `round`.
    [[nodiscard]] std::optional<std::uint32_t> slot_before(std::uint32_t round) const;
    Answered trained(const trainer::SlotRoundOutcome& round, program::FirstStateParts start,
                     std::uint64_t nanoseconds) const;

    std::unique_ptr<trainer::Arena> arena_;  // outlives the runner
    frames::SharedDescriptor train_file_;
    std::vector<std::uint32_t> train_;
    std::vector<std::uint32_t> held_out_;
    std::unique_ptr<trainer::JobRunner> runner_;
    std::uint64_t work_units_ = 0;
    bool drills_allowed_ = false;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> trained_;  ///< last trained round and slot
};

}  // namespace assay::verifier
