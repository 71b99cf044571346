// SPDX-License-Identifier: Apache-2.0
// Gives the worker's loop its open job, which answers requests with JobRunner and the verifier's
// functions. Knows frames' records and descriptors, not the socket.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "contracts/base/result.hpp"
#include "node/wire/channel.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

namespace frames = worker;

/// What answers a request: a message and its bulk bytes.
struct WorkerAnswer {
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
};
using Answered = base::Result<WorkerAnswer, frames::Refusal>;

/// An error as the frame that carries it: reason by its kind, text as it is, the fix cut to what the frame
/// holds.
frames::Refusal to_refusal(const base::Error& error);

/// What a request may use while it is at work.
struct RequestContext {
    std::vector<frames::SharedDescriptor> bulk;  ///< as many as descriptor_bounds allows
    std::function<void(WorkerAnswer)> report;    ///< Progress and Boundary frames
    const std::atomic<bool>* cancel = nullptr;
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

private:
    WorkerJob() = default;
    base::Result<void, frames::Refusal> check_place(std::uint32_t round, std::uint32_t slot) const;
    base::Result<trainer::BaseState, frames::Refusal> base_state(const RequestContext& context) const;
    base::Result<trainer::BaseState, frames::Refusal> given_initial(
        const frames::SharedDescriptor& file) const;
    base::Result<std::optional<trainer::CarriedState>, frames::Refusal> carried_state(
        const frames::Train& request, const RequestContext& context) const;
    base::Result<std::optional<trainer::ResumePoint>, frames::Refusal> resume_point(
        const frames::Train& request, const RequestContext& context) const;
    using UpdateDecoder = std::function<base::Outcome<trainer::Update>(base::ByteView, std::uint64_t)>;
    /// Of this job's update files.
    [[nodiscard]] UpdateDecoder update_decoder() const;
    Answered trained(const trainer::SlotRoundOutcome& round, std::uint64_t nanoseconds) const;

    std::unique_ptr<trainer::Arena> arena_;  // outlives the runner
    std::vector<std::uint32_t> train_;
    std::vector<std::uint32_t> held_out_;
    std::unique_ptr<trainer::JobRunner> runner_;
    std::uint64_t work_units_ = 0;
    bool drills_allowed_ = false;
};

}  // namespace assay::verifier
