// SPDX-License-Identifier: Apache-2.0
// Gives tests of roles a worker without its process, and the files that it takes and gives.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "node/seams/ports.hpp"
#include "node/worker/program/job.hpp"
#include "trainer/host/arena.hpp"

namespace assay::node::test_market {

namespace frames = worker;

inline SharedDescriptor file_of(const Bytes& bytes) { return frames::memory_file("test", bytes).value(); }
inline Bytes bytes_of_file(const SharedDescriptor& file) {
    return frames::read_all(*file, frames::kMaxBulk).value();
}

inline std::vector<SharedDescriptor> files_of(const std::vector<Bytes>& contents) {
    std::vector<SharedDescriptor> files;
    for (const Bytes& content : contents) files.push_back(file_of(content));
    return files;
}
inline std::vector<Bytes> contents_of(const std::vector<SharedDescriptor>& files) {
    std::vector<Bytes> contents;
    for (const SharedDescriptor& file : files) contents.push_back(bytes_of_file(file));
    return contents;
}

/// The worker's job in this thread. An answer is given when the market takes it.
class LocalWorker final : public WorkerPort {
public:
    /// What to answer in place of working; nothing: work.
    using Instead = std::function<std::optional<frames::Message>(const frames::Message&)>;
    /// Changes an answer on its way.
    using Falsify = std::function<void(const frames::Message& request, WorkerAnswered& answer)>;

    void submit(RequestId request, frames::Message message, std::vector<SharedDescriptor> bulk) override {
        waiting_.push_back({request, std::move(message), std::move(bulk)});
        most_at_a_time = std::max(most_at_a_time, waiting_.size());
    }
    [[nodiscard]] std::size_t width() const override { return devices; }
    void cancel(RequestId request) override {
        for (const Waiting& waiting : waiting_) {
            if (waiting.request == request) ++cancelled[frames::kind_of(waiting.message)];
        }
        std::erase_if(answers_, [&](const WorkerAnswered& answer) { return answer.request == request; });
        std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.request == request; });
        answers_.push_back(
            {request, frames::Refusal{frames::RefusalReason::kCancelled, "cancelled", {}}, {}, true});
    }
    std::optional<WorkerAnswered> take() {
        if (answers_.empty() && !waiting_.empty() && !is_held(waiting_.front().message)) work();
        if (answers_.empty()) return std::nullopt;
        WorkerAnswered answer = std::move(answers_.front());
        answers_.pop_front();
        return answer;
    }

    /// As a new process: nothing is open, and nobody is answered.
    void restart() {
        waiting_.clear();
        answers_.clear();
        job_.reset();
        open_seed = 0;
    }

    Instead instead;
    Falsify falsify;
    std::uint64_t open_seed = 0;                        ///< of the job that is open; 0: none is
    bool devnet = false;                                ///< takes drills
    std::size_t devices = 1;                            ///< that it says it has
    std::size_t most_at_a_time = 0;                     ///< requests that waited together
    std::map<frames::FrameKind, int> asked;             ///< how often each kind of request was made
    std::set<frames::FrameKind> held;                   ///< kinds of requests that are never done
    std::function<bool(const frames::Message&)> holds;  ///< others that are never done
    std::map<frames::FrameKind, int> cancelled;         ///< how often each kind was, before it was done

private:
    [[nodiscard]] bool is_held(const frames::Message& message) const {
        return held.contains(frames::kind_of(message)) || (holds && holds(message));
    }
    struct Waiting {
        RequestId request = 0;
        frames::Message message;
        std::vector<SharedDescriptor> bulk;
    };
    void work() {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        ++asked[frames::kind_of(next.message)];
        if (instead) {
            if (auto told = instead(next.message)) return give(next, {std::move(*told), {}}, true);
        }
        verifier::RequestContext context;
        context.bulk = next.bulk;
        context.report = [&](verifier::WorkerAnswer answer) { give(next, std::move(answer), false); };
        verifier::Answered answered =
            std::visit([&](const auto& message) -> verifier::Answered { return answer(message, context); },
                       next.message);
        give(next, answered.ok() ? std::move(*answered) : verifier::WorkerAnswer{answered.error(), {}}, true);
    }
    verifier::Answered answer(const frames::OpenJob& request, const verifier::RequestContext& context) {
        job_.reset();
        open_seed = 0;
        frames::OpenJob opening = request;
        if (devnet) opening.chain_id = "devnet";
        ASSAY_ASSIGN(job_, verifier::WorkerJob::open(opening, context.bulk, {}, trainer::make_heap_arena()));
        open_seed = request.spec.seed;
        return verifier::WorkerAnswer{job_->opened(), {}};
    }
    template <class Request>
    verifier::Answered answer(const Request& request, const verifier::RequestContext& context) {
        if constexpr (requires(verifier::WorkerJob & job) { job.answer(request, context); }) {
            if (job_) return job_->answer(request, context);
            return base::failed(frames::Refusal{frames::RefusalReason::kNoJob, "no job is open", {}});
        } else {
            return base::failed(frames::Refusal{frames::RefusalReason::kBadRequest, "no request", {}});
        }
    }
    void give(const Waiting& request, verifier::WorkerAnswer answer, bool last) {
        WorkerAnswered answered{request.request, std::move(answer.message), std::move(answer.bulk), last};
        if (falsify) falsify(request.message, answered);
        answers_.push_back(std::move(answered));
    }

    std::deque<Waiting> waiting_;
    std::deque<WorkerAnswered> answers_;
    std::unique_ptr<verifier::WorkerJob> job_;
};

}  // namespace assay::node::test_market
