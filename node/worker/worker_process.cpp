// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_process.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "contracts/worker/self_test.hpp"
#include "node/runtime/process.hpp"
#include "node/wire/channel.hpp"
#include "node/worker/worker_patience.hpp"
#include "node/worker/worker_report.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

constexpr int kWorkerSocket = 3;  // the number under which the child finds its end
constexpr WorkerRequestId kReopen = 0;
constexpr std::chrono::milliseconds kRestartPause{50};
constexpr std::chrono::milliseconds kLook{250};   // at a child that is silent
constexpr std::chrono::milliseconds kDying{200};  // after its socket has closed

struct Pending {
    WorkerRequestId id = 0;
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
    WorkerHandler handler;
    bool sent = false;
    bool cancelled = false;
    std::optional<std::size_t> before_state = {};  ///< files of a Train before its state to go on from
};

/// Whether a silent child of these options may hang: those of cards, whose kernels may never end. The
/// processor has no such fault, and its steps take as long as the machine's other work lets them. One that
/// rests between pieces of work (a duty below 100 %) is silent for as long as it rests.
bool may_hang(const WorkerOptions& options) {
    const char* const inherited = std::getenv("ASSAY_DUTY");
    const bool rests =
        options.duty != 0 ? options.duty < 100 : inherited != nullptr && std::string_view(inherited) != "100";
    return !rests && options.device.rfind("cuda", 0) == 0;
}

bool is_unsound(const frames::Message& message) {
    const auto* refusal = std::get_if<frames::Refusal>(&message);
    return refusal != nullptr && refusal->reason == frames::RefusalReason::kUnsound;
}

}  // namespace

/// Everything below `mutex` is shared between callers and the one thread that spawns, reads and restarts:
/// the child dies with the thread that spawned it (PR_SET_PDEATHSIG), so that thread lives as long as this.
class WorkerProcess::Impl {
public:
    explicit Impl(WorkerOptions options) : options_(std::move(options)), patience_(options_.least_patience) {}

    Outcome<void> start() {
        std::promise<Outcome<void>> first;
        auto started = first.get_future();
        thread_ = std::thread([this, &first] { run(first); });
        return started.get();
    }

    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            if (channel_) ::shutdown(channel_->number(), SHUT_RDWR);
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    WorkerRequestId submit(frames::Message message, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) {
        const std::lock_guard lock(mutex_);
        const WorkerRequestId id = next_id_++;
        queue_.push_back({id, std::move(message), std::move(bulk), std::move(handler), false, false});
        send_front();
        wake_.notify_all();
        return id;
    }

    void cancel(WorkerRequestId id) {
        const std::lock_guard lock(mutex_);
        for (Pending& pending : queue_) {
            if (pending.id != id || pending.cancelled) continue;
            pending.cancelled = true;
            if (pending.sent && channel_) static_cast<void>(channel_->send({id, frames::Cancel{}, {}}));
        }
    }

    frames::Hello hello() const {
        const std::lock_guard lock(mutex_);
        return hello_;
    }
    pid_t pid() const { return pid_; }
    unsigned deaths() const { return deaths_; }

private:
    void run(std::promise<Outcome<void>>& first) {
        auto opened = open_child();
        const bool sound = opened.ok();
        first.set_value(std::move(opened));
        if (!sound) return;
        while (true) {
            listen();
            const auto at_work = front();
            close_child();
            if (stopping()) break;
            ++deaths_;
            // What was at work may have been cancelled, and then another request is the front.
            if (front() != at_work)
                deaths_in_a_row_ = 0;
            else if (++deaths_in_a_row_ >= options_.max_deaths)
                give_up_front();
            if (!restart()) break;
        }
        close_child();
        refuse_all(frames::RefusalReason::kCancelled, "the worker client was closed");
    }

    /// Starts children until one is up; false when the client is being destroyed.
    bool restart() {
        while (!stopping()) {
            std::this_thread::sleep_for(kRestartPause * (deaths_in_a_row_ + 1));
            auto opened = open_child();
            if (opened.ok()) return true;
            close_child();
            if (opened.error().kind == ErrorKind::kUnreachable && ++deaths_in_a_row_ < options_.max_deaths) {
                ++deaths_;  // died while starting
                continue;
            }
            deaths_in_a_row_ = 0;
            refuse_all(unsound_ ? frames::RefusalReason::kUnsound : frames::RefusalReason::kInternal,
                       "the worker cannot be started again: " + opened.error().what);
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        }
        return false;
    }

    Outcome<void> open_child() {
        ASSAY_ASSIGN(ProcessOptions process, process_of(options_, {"--serve"}));
        ASSAY_ASSIGN(auto ends, frames::socket_pair());
        process.descriptors = {{ends.second.number(), kWorkerSocket}};
        ASSAY_ASSIGN(auto child, Process::spawn(process));
        pid_ = child.pid();
        process_ = std::move(child);
        ends.second =
            frames::Descriptor();  // the child holds the only other end, so its death shows as an end
        frames::Channel channel(std::move(ends.first));
        if (may_hang_) {
            ASSAY_TRY(channel.limit_silence(
                std::chrono::duration_cast<std::chrono::milliseconds>(options_.least_patience)));
        }
        {
            const std::lock_guard lock(mutex_);
            channel_.emplace(std::move(channel));
            if (stopping_) ::shutdown(channel_->number(), SHUT_RDWR);
        }
        ASSAY_TRY(greet());
        ASSAY_TRY(reopen_job());
        const std::lock_guard lock(mutex_);
        ready_ = true;
        send_front();
        return {};
    }

    Outcome<void> greet() {
        unsound_ = hung_ = false;
        if (!waits(kSelfTestPatience)) return died_while_starting();
        auto envelope = receive();
        if (!envelope.ok()) return died_while_starting();
        const auto* hello = std::get_if<frames::Hello>(&envelope->message);
        if (hello == nullptr) {
            unsound_ = is_unsound(envelope->message);
            const auto* refusal = std::get_if<frames::Refusal>(&envelope->message);
            if (refusal != nullptr) return base::failed(to_error(*refusal));
            return fail(ErrorKind::kPreflight, "the worker did not begin with Hello", "run `assay doctor`");
        }
        if (hello->version != frames::kProtocolVersion) {
            return fail(ErrorKind::kPreflight,
                        "the worker speaks version " + std::to_string(hello->version) +
                            " of the frames, we speak " + std::to_string(frames::kProtocolVersion),
                        "assay and assay-worker must come from the same build");
        }
        if (hello->self_test != frames::self_test_golden()) {
            unsound_ = true;
            return fail(ErrorKind::kPreflight,
                        "the worker's self-test gives " + hello->self_test.brief() + " instead of " +
                            frames::self_test_golden().brief() +
                            ": this machine or build computes other bits and may not train",
                        "rebuild from a clean folder; if it stays, test this machine's memory and processor");
        }
        const std::lock_guard lock(mutex_);
        hello_ = *hello;
        return {};
    }

    Outcome<void> reopen_job() {
        if (!job_) return {};
        ASSAY_TRY(channel_->send({kReopen, job_->message, job_->bulk}));
        if (!waits(WorkerPatience::kUnknown)) return died_while_starting();
        auto envelope = receive();
        if (!envelope.ok()) return died_while_starting();
        if (const auto* refusal = std::get_if<frames::Refusal>(&envelope->message)) {
            return fail(ErrorKind::kFailure, "the job cannot be opened again: " + refusal->text,
                        refusal->fix);
        }
        return {};
    }

    base::Failed<base::Error> died_while_starting() {
        const std::string ended = to_text(process_->kill());
        return fail(ErrorKind::kUnreachable,
                    hung_ ? "the worker hung while it started" : "the worker died while it started: " + ended,
                    "run assay-worker --self-test by itself to see why");
    }

    /// Reads frames until the child is gone, garbles one or hangs.
    void listen() {
        refuse_cancelled();
        while (true) {
            const auto silence = waits(std::nullopt);
            if (!silence) return;
            const auto work = at_work();
            auto envelope = receive();
            if (!envelope.ok()) return;
            if (work) learn(*work, frames::kind_of(envelope->message), *silence);
            if (!handle(std::move(envelope).value())) return;
        }
    }

    /// A frame of the child, which sends one or is gone. A child that stops in a frame hangs.
    Outcome<frames::Envelope> receive() {
        auto envelope = channel_->receive();
        const bool ended = !envelope.ok() && envelope.error().kind != ErrorKind::kFailure;
        if (ended && may_hang_ && !stopping()) hung_ = !process_->wait(kDying);
        return envelope;
    }

    struct AtWork {
        WorkerRequestId id;
        frames::FrameKind kind;
    };
    /// The request at work, once it was sent.
    std::optional<AtWork> at_work() const {
        const std::lock_guard lock(mutex_);
        if (queue_.empty() || !queue_.front().sent) return std::nullopt;
        return AtWork{queue_.front().id, frames::kind_of(queue_.front().message)};
    }

    void learn(const AtWork& work, frames::FrameKind frame, WorkerPatience::Duration silence) {
        if (learned_ != work.id) patience_.begin(work.kind);
        learned_ = work.id;
        patience_.heard(work.kind, frame, silence);
    }

    /// Waits for a frame, or for the child's end. Returns how long the request at work was silent, rounded
    /// up to a look; nothing when the child hangs: it was silent for `limit`, or for as long as the request
    /// at work may be. Counts only time in which this process runs: one that was stopped with its child does
    /// not end it.
    std::optional<WorkerPatience::Duration> waits(std::optional<WorkerPatience::Duration> limit) {
        WorkerPatience::Duration silent{0};
        pollfd frame{channel_->number(), POLLIN, 0};
        while (true) {
            const int ready = ::poll(&frame, 1, static_cast<int>(kLook.count()));
            if (ready > 0 || (ready < 0 && errno != EINTR)) return silent + kLook;
            if (ready < 0 || !may_hang_) continue;
            const auto most = limit ? limit : limit_at_work();
            silent = most ? silent + kLook : WorkerPatience::Duration::zero();
            if (!most || silent < *most) continue;
            hung_ = true;
            return std::nullopt;
        }
    }

    /// For how long the request at work may be silent. Nothing: for ever, as where there is none.
    std::optional<WorkerPatience::Duration> limit_at_work() const {
        const auto work = at_work();
        return work ? std::optional(patience_.limit(work->kind)) : std::nullopt;
    }

    std::optional<WorkerRequestId> front() const {
        const std::lock_guard lock(mutex_);
        return queue_.empty() ? std::nullopt : std::optional(queue_.front().id);
    }

    /// False when the frame belongs to no request at work: the child is not to be trusted any further.
    bool handle(frames::Envelope envelope) {
        WorkerHandler handler;
        WorkerEvent event = event_of(envelope.request, std::move(envelope.message));
        event.bulk = std::move(envelope.bulk);
        {
            const std::lock_guard lock(mutex_);
            if (queue_.empty() || !queue_.front().sent || queue_.front().id != event.request) return false;
            Pending& front = queue_.front();
            if (std::holds_alternative<frames::Pulse>(event.message)) return true;  // is for waits() alone
            handler = front.handler;
            if (const auto* boundary = std::get_if<frames::Boundary>(&event.message)) {
                deaths_in_a_row_ = 0;
                remember(front, *boundary, event.bulk);
            }
            if (event.last) finish_front(event);
        }
        handler(std::move(event));
        refuse_cancelled();
        return true;
    }

    WorkerEvent event_of(WorkerRequestId id, frames::Message message) const {
        WorkerEvent event{id, std::move(message), {}, false};
        event.last = frames::is_final(event.message);
        event.device = options_.device.empty() ? "cpu" : options_.device;
        event.spoiled = is_unsound(event.message);
        return event;
    }
    WorkerEvent refusal_event(WorkerRequestId id, frames::RefusalReason reason, std::string text) const {
        return event_of(id, frames::Refusal{reason, std::move(text), {}});
    }

    /// From now on the request, if it has to be sent again, goes on from this boundary.
    static void remember(Pending& pending, const frames::Boundary& boundary,
                         const std::vector<frames::SharedDescriptor>& state) {
        auto* train = std::get_if<frames::Train>(&pending.message);
        if (train == nullptr) return;
        // The base state stays, and what the slot carries. A state that it was resumed from has as many
        // files.
        if (!pending.before_state) {
            const std::size_t resumed = train->resume ? std::min(state.size(), pending.bulk.size()) : 0;
            pending.before_state = pending.bulk.size() - resumed;
        }
        pending.bulk.resize(*pending.before_state);
        train->resume = boundary.so_far;
        pending.bulk.insert(pending.bulk.end(), state.begin(), state.end());
    }

    void finish_front(const WorkerEvent& event) {
        deaths_in_a_row_ = 0;
        if (std::holds_alternative<frames::Opened>(event.message)) {
            job_ = std::move(queue_.front());
            job_->handler = nullptr;
            const base::Bytes spec = base::encode(std::get<frames::OpenJob>(job_->message).spec);
            patience_.open({spec.begin(), spec.end()});
        }
        queue_.pop_front();
        send_front();
    }

    /// REQUIRES the lock.
    void send_front() {
        if (!ready_ || queue_.empty() || queue_.front().sent || queue_.front().cancelled) return;
        Pending& front = queue_.front();
        front.sent = true;
        // A failure to send shows as the end of the stream in listen(). A child that takes no more in the
        // middle of a frame would not show otherwise.
        if (!channel_->send({front.id, front.message, front.bulk}).ok())
            ::shutdown(channel_->number(), SHUT_RDWR);
    }

    void close_child() {
        {
            const std::lock_guard lock(mutex_);
            ready_ = false;
            channel_.reset();
            for (Pending& pending : queue_) pending.sent = false;
        }
        pid_ = 0;
        if (process_) process_->kill();
        process_.reset();
        refuse_cancelled();
    }

    void refuse_cancelled() {
        while (true) {
            Pending pending;
            {
                const std::lock_guard lock(mutex_);
                if (queue_.empty() || !queue_.front().cancelled || queue_.front().sent) return;
                pending = std::move(queue_.front());
                queue_.pop_front();
                send_front();
            }
            pending.handler(refusal_event(pending.id, frames::RefusalReason::kCancelled, "cancelled"));
        }
    }

    /// The request at work when the worker died too often is refused; those behind it get their turn.
    void give_up_front() {
        Pending pending;
        {
            const std::lock_guard lock(mutex_);
            deaths_in_a_row_ = 0;
            if (queue_.empty()) return;
            pending = std::move(queue_.front());
            queue_.pop_front();
        }
        std::string text =
            "the worker died " + std::to_string(options_.max_deaths) + " times in a row on this request";
        if (hung_) text += ", the last time by our hand: it hung";
        pending.handler(refusal_event(pending.id, frames::RefusalReason::kInternal, std::move(text)));
    }

    void refuse_all(frames::RefusalReason reason, const std::string& text) {
        std::deque<Pending> refused;
        {
            const std::lock_guard lock(mutex_);
            refused.swap(queue_);
        }
        for (Pending& pending : refused) pending.handler(refusal_event(pending.id, reason, text));
    }

    bool stopping() const {
        const std::lock_guard lock(mutex_);
        return stopping_;
    }

    const WorkerOptions options_;
    const bool may_hang_ = may_hang(options_);
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Pending> queue_;  // the front is the request at work
    std::optional<Pending> job_;
    std::optional<frames::Channel> channel_;
    frames::Hello hello_;
    WorkerRequestId next_id_ = 1;
    bool ready_ = false;
    bool stopping_ = false;
    std::optional<Process> process_;  // the thread's alone
    unsigned deaths_in_a_row_ = 0;    // the thread's alone
    WorkerPatience patience_;         // the thread's alone
    WorkerRequestId learned_ = 0;     // the thread's alone: whose frames patience_ heard last
    bool hung_ = false;               // the thread's alone: the child that was started last hung
    bool unsound_ = false;            // the thread's alone: the child that was started last has other bits
    std::atomic<unsigned> deaths_ = 0;
    std::atomic<pid_t> pid_ = 0;
    std::thread thread_;
};

WorkerProcess::WorkerProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WorkerProcess::~WorkerProcess() = default;

Outcome<std::unique_ptr<WorkerProcess>> WorkerProcess::start(WorkerOptions options) {
    auto impl = std::make_unique<Impl>(std::move(options));
    ASSAY_TRY(impl->start());
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(impl)));
}

WorkerRequestId WorkerProcess::submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                                      WorkerHandler handler) {
    return impl_->submit(std::move(request), std::move(bulk), std::move(handler));
}
void WorkerProcess::cancel(WorkerRequestId request) { impl_->cancel(request); }
frames::Hello WorkerProcess::hello() const { return impl_->hello(); }
pid_t WorkerProcess::pid() const { return impl_->pid(); }
unsigned WorkerProcess::deaths() const { return impl_->deaths(); }
std::uint64_t WorkerProcess::socket_bytes() {
    const frames::SocketBytes bytes = frames::socket_bytes();
    return bytes.sent + bytes.received;
}

}  // namespace assay::node
