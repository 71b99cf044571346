// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/server.hpp"

#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

#include "contracts/worker/self_test.hpp"
#include "node/worker/program/job.hpp"
#include "node/worker/program/self_test.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::verifier {

using frames::Envelope;
using frames::Refusal;
using frames::RefusalReason;

namespace {

/// A role sends one request and waits; more than this many waiting is not a role.
constexpr std::size_t kMaxWaiting = 64;
constexpr std::chrono::milliseconds kPulsePause{1'000};

bool is_move(const frames::Message& message) {
    return std::holds_alternative<frames::Descend>(message) ||
           std::holds_alternative<frames::DescendArray>(message);
}

class WorkerServer {
public:
    WorkerServer(frames::Descriptor socket, const WorkerServerOptions& options)
        : channel_(std::move(socket)), options_(options), pacer_(options.duty) {}

    int run() {
        const auto root = self_test_root(options_.runner);
        if (!root.ok()) {
            send({0, not_tested(root.error()), {}});
            return static_cast<int>(root.error().kind);
        }
        const frames::Hello hello = this->hello(*root);
        if (hello.self_test != frames::self_test_golden()) {
            send({0, unsound(hello.self_test), {}});
            return static_cast<int>(base::ErrorKind::kPreflight);
        }
        send({0, hello, {}});
        std::thread reader([this] { read(); });
        while (auto envelope = next()) {
            pacer_.work_from(options_.clock->now());
            // A move in a game that comes too late costs the bond: it waits for nothing.
            const bool plays = is_move(envelope->message);
            work(*envelope);
            done();
            if (!plays) rest();  // for what came after its last step, too
        }
        ::shutdown(channel_.number(), SHUT_RDWR);
        reader.join();
        return garbled_ ? 1 : 0;
    }

private:
    [[nodiscard]] frames::Hello hello(const base::Hash256& root) const {
        const auto arena = trainer::make_heap_arena();
        return {frames::kProtocolVersion, std::string(arena->name()), options_.targets,
                static_cast<std::uint32_t>(options_.runner.device.threads), root};
    }

    [[nodiscard]] Refusal not_tested(const base::Error& why) const {
        Refusal refusal = to_refusal(why);
        refusal.reason = RefusalReason::kInternal;
        refusal.text =
            "device " + options_.runner.device.name + ": its self-test was not computed: " + why.what;
        return refusal;
    }

    // No request is worked on by a device with other bits.
    [[nodiscard]] Refusal unsound(const base::Hash256& root) const {
        return {
            RefusalReason::kUnsound,
            "device " + options_.runner.device.name + ": its self-test gives " + root.brief() +
                " instead of " + frames::self_test_golden().brief() +
                ": it computes other bits and may not train; " + self_test_difference(options_.runner) +
                " differs",
            "use another device; rebuild from a clean folder, and test this one's memory: what stays is a "
            "fault of the device, its driver or this build's kernels, to be reported"};
    }

    void read() {
        while (true) {
            auto envelope = channel_.receive();
            const std::lock_guard lock(mutex_);
            if (!envelope.ok() || waiting_.size() >= kMaxWaiting) {
                garbled_ = envelope.ok() || envelope.error().kind == base::ErrorKind::kFailure;
                garbled_text_ = envelope.ok() ? "too many requests at once" : envelope.error().what;
                closed_ = true;
                cancel_ = true;
                wake_.notify_all();
                return;
            }
            if (std::holds_alternative<frames::Cancel>(envelope->message)) {
                cancel(envelope->request);
            } else if (std::holds_alternative<frames::Taken>(envelope->message)) {
                taken(envelope->request);
            } else {
                waiting_.push_back(std::move(envelope).value());
                wake_.notify_all();
            }
        }
    }

    /// REQUIRES the lock. A request that is not here any more was answered already.
    void cancel(std::uint64_t request) {
        if (current_ == request && working_) {
            cancel_ = true;
            wake_.notify_all();
        }
        for (Envelope& envelope : waiting_) {
            if (envelope.request == request) envelope.message = frames::Cancel{};
        }
    }

    /// REQUIRES the lock.
    void taken(std::uint64_t request) {
        if (current_ != request || !working_ || untaken_ == 0) return;
        --untaken_;
        wake_.notify_all();
    }

    /// Until the role has let go the boundary before, or the request is cancelled.
    void await_taken(std::uint64_t request) {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, kPulsePause, [this] { return untaken_ == 0 || cancel_; })) {
            pacer_.idled(kPulsePause);
            lock.unlock();
            send({request, frames::Pulse{}, {}});
            lock.lock();
        }
        ++untaken_;
    }

    std::optional<Envelope> next() {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
        if (closed_) {
            lock.unlock();
            if (garbled_) send({0, Refusal{RefusalReason::kBadFrame, garbled_text_}, {}});
            return std::nullopt;
        }
        Envelope envelope = std::move(waiting_.front());
        waiting_.pop_front();
        current_ = envelope.request;
        working_ = true;
        cancel_ = false;
        untaken_ = 0;
        return envelope;
    }

    void done() {
        const std::lock_guard lock(mutex_);
        working_ = false;
        cancel_ = closed_;
    }

    // Until the rest is over, or the request at work is cancelled, or the other side is gone.
    void rest() {
        const auto began = options_.clock->now();
        const auto due = pacer_.due(began);
        if (due.count() == 0) return;
        std::unique_lock lock(mutex_);
        options_.clock->wait(lock, wake_, due, [this] { return cancel_.load(); });
        pacer_.rested(options_.clock->now() - began);
    }

    void work(Envelope& envelope) {
        const std::uint64_t request = envelope.request;
        RequestContext context;
        context.bulk = std::move(envelope.bulk);
        context.cancel = &cancel_;
        context.rest = [this] { rest(); };
        context.report = [this, request](WorkerAnswer answer) {
            if (std::holds_alternative<frames::Boundary>(answer.message)) await_taken(request);
            send({request, std::move(answer.message), std::move(answer.bulk)});
        };
        Answered answered = base::failed(Refusal{});
        try {
            answered =
                std::visit([&](const auto& message) { return answer(message, context); }, envelope.message);
        } catch (const std::bad_alloc& problem) {
            answered = refuse_work(trainer::memory_error(problem, "this work").reason);
        } catch (const std::exception& problem) {
            answered = base::failed(Refusal{RefusalReason::kInternal, problem.what()});
        }
        if (answered.ok()) {
            send({request, std::move(answered->message), std::move(answered->bulk)});
        } else {
            send({request, answered.error(), {}});
        }
    }

    Answered answer(const frames::OpenJob& request, const RequestContext& context) {
        job_.reset();  // two jobs need not fit into memory at once
        auto job = WorkerJob::open(request, context.bulk, options_.runner, trainer::make_heap_arena());
        if (!job.ok()) return base::failed(job.error());
        job_ = std::move(job).value();
        return WorkerAnswer{job_->opened(), {}};
    }

    Answered answer(const frames::Cancel&, const RequestContext&) {
        return base::failed(Refusal{RefusalReason::kCancelled, "cancelled"});
    }

    template <class Request>
    Answered answer(const Request& request, const RequestContext& context) {
        if constexpr (requires(WorkerJob & job) { job.answer(request, context); }) {
            if (job_) return job_->answer(request, context);
            return base::failed(Refusal{RefusalReason::kNoJob, "no job is open"});
        } else {
            return base::failed(
                Refusal{RefusalReason::kBadRequest, "this frame is an answer, not a request"});
        }
    }

    /// A failure to send shows as the end of the stream in read().
    void send(const Envelope& envelope) { static_cast<void>(channel_.send(envelope)); }

    frames::Channel channel_;
    const WorkerServerOptions options_;
    std::unique_ptr<WorkerJob> job_;
    Pacer pacer_;  // of the thread that works
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Envelope> waiting_;
    std::uint64_t current_ = 0;
    bool working_ = false;
    unsigned untaken_ = 0;  // boundaries of the request at work that the role has not let go
    bool closed_ = false;
    bool garbled_ = false;
    std::string garbled_text_;
    std::atomic<bool> cancel_ = false;
};

}  // namespace

int serve(worker::Descriptor socket, const WorkerServerOptions& options) {
    WorkerServer server(std::move(socket), options);
    return server.run();
}

}  // namespace assay::verifier
