// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_process.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "contracts/worker/self_test.hpp"
#include "node/runtime/process.hpp"
#include "node/wire/channel.hpp"
#include "node/worker/request_queue.hpp"
#include "node/worker/taken_frames.hpp"
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

/// One thread spawns children, sends to them, reads and restarts them. Callers queue their requests, so that
/// no child can make them wait. A child dies with the thread that spawned it (PR_SET_PDEATHSIG), so that
/// thread lives as long as this.
class WorkerProcess::Impl {
public:
    Impl(WorkerOptions options, frames::Wakeup wakeup)
        : options_(std::move(options)), queue_(std::move(wakeup)), patience_(options_.least_patience) {}

    Outcome<void> start() {
        std::promise<Outcome<void>> first;
        auto started = first.get_future();
        thread_ = std::thread([this, &first] { run(first); });
        return started.get();
    }

    ~Impl() {
        queue_.close();
        {
            const std::lock_guard lock(mutex_);
            if (channel_) ::shutdown(channel_->number(), SHUT_RDWR);
        }
        if (thread_.joinable()) thread_.join();
        if (process_ && !end_child()) process_->abandon();
    }

    RequestQueue& queue() { return queue_; }
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
            const auto died_at = at_work();
            close_child();
            if (queue_.closed()) break;
            ++deaths_;
            // What was at work may have been cancelled, and then another request is the first.
            if (!died_at || front_id() != died_at->id)
                deaths_in_a_row_ = 0;
            else if (++deaths_in_a_row_ >= options_.max_deaths)
                give_up_front();
            if (!restart()) break;
        }
        close_child();
        while (queue_.front() != nullptr)
            refuse_all(frames::RefusalReason::kCancelled, "the worker client was closed");
    }

    /// Starts children until one is up; false when the client is being destroyed.
    bool restart() {
        while (!queue_.closed()) {
            if (is_stuck()) {
                refuse_all(frames::RefusalReason::kLost, stuck_text(),
                           "the kernel's log (dmesg) may say why; a restart of the machine ends it");
                queue_.await_request();
                continue;
            }
            std::this_thread::sleep_for(kRestartPause * (deaths_in_a_row_ + 1));
            auto opened = open_child();
            if (opened.ok()) return true;
            close_child();
            if (queue_.closed() || is_stuck()) continue;
            if (opened.error().kind == ErrorKind::kUnreachable && ++deaths_in_a_row_ < options_.max_deaths) {
                ++deaths_;  // died while starting
                continue;
            }
            deaths_in_a_row_ = 0;
            refuse_all(unsound_ ? frames::RefusalReason::kUnsound : frames::RefusalReason::kInternal,
                       "the worker cannot be started again: " + opened.error().what);
            queue_.await_request();
        }
        return false;
    }

    Outcome<void> open_child() {
        ASSAY_ASSIGN(ProcessOptions process, process_of(options_, {"--serve"}));
        ASSAY_ASSIGN(auto ends, frames::socket_pair());
        process.descriptors = {{ends.second.number(), kWorkerSocket}};
        ASSAY_ASSIGN(auto child, Process::spawn(process));
        pid_ = child.pid();
        process_.emplace(std::move(child));
        ++children_;
        ending_ = false;
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
            if (queue_.closed()) ::shutdown(channel_->number(), SHUT_RDWR);
        }
        ASSAY_TRY(greet());
        return reopen_job();
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

    /// Does nothing where the next request opens another job: the open one may be what cannot be opened
    /// again.
    Outcome<void> reopen_job() {
        const QueuedRequest* const next = queue_.front();
        const bool opens_another = next != nullptr &&
                                   std::holds_alternative<frames::OpenJob>(next->message) &&
                                   !queue_.is_cancelled(*next);
        if (!job_ || opens_another) return {};
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
        const auto ended = end_child();
        return fail(ErrorKind::kUnreachable,
                    !ended  ? stuck_text()
                    : hung_ ? "the worker hung while it started"
                            : "the worker died while it started: " + to_text(*ended),
                    "run assay-worker --self-test by itself to see why");
    }

    /// How the child ended; nothing when the kernel does not end it. Waits only once for that.
    std::optional<ExitStatus> end_child() {
        if (!ending_) process_->signal(options_.kill_signal);
        const auto patience = ending_ ? std::chrono::milliseconds(0) : options_.kill_patience;
        ending_ = true;
        return process_->wait(patience);
    }
    /// Whether the last child was ended and is still there.
    bool is_stuck() { return process_ && !process_->poll(); }
    std::string stuck_text() const {
        return "process " + std::to_string(process_->pid()) +
               " of the worker cannot be ended: it waits inside a driver";
    }

    /// Reads frames until the child is gone, garbles one or hangs.
    void listen() {
        while (true) {
            send_due();
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
        if (ended && may_hang_ && !queue_.closed()) hung_ = !process_->wait(kDying);
        return envelope;
    }

    struct AtWork {
        WorkerRequestId id;
        frames::FrameKind kind;
    };
    /// The request at work, once it was sent.
    std::optional<AtWork> at_work() const {
        const QueuedRequest* const work = queue_.front();
        if (work == nullptr || !work->sent) return std::nullopt;
        return AtWork{work->id, frames::kind_of(work->message)};
    }

    void learn(const AtWork& work, frames::FrameKind frame, WorkerPatience::Duration silence) {
        if (learned_ != work.id) patience_.begin(work.kind);
        learned_ = work.id;
        patience_.heard(work.kind, frame, silence);
    }

    /// Waits for a frame, or for the child's end. Returns how long the request at work was silent, rounded
    /// up to a look; nothing when the child hangs: it was silent for `limit`, or for as long as the request
    /// at work may be. Where there is no `limit`, sends what callers ask for meanwhile. Counts only time in
    /// which this process runs: one that was stopped with its child does not end it.
    std::optional<WorkerPatience::Duration> waits(std::optional<WorkerPatience::Duration> limit) {
        WorkerPatience::Duration silent{0};
        auto look_ends = std::chrono::steady_clock::now() + kLook;
        while (true) {
            const Woken woken = wait_until(look_ends, limit.has_value());
            if (woken == Woken::kByChild) return silent + kLook;
            if (woken == Woken::kByCaller) send_due();
            // Callers who wake it all the time end no look early, and keep none from ending.
            const auto now = std::chrono::steady_clock::now();
            if (now < look_ends) continue;
            look_ends = now + kLook;
            if (!may_hang_) continue;
            const auto most = limit ? limit : limit_at_work();
            silent = most ? silent + kLook : WorkerPatience::Duration::zero();
            if (!most || silent < *most) continue;
            hung_ = true;
            return std::nullopt;
        }
    }

    enum class Woken { kByChild, kByCaller, kByNobody };
    /// Waits until `end` at most. kByNobody also when a signal came.
    Woken wait_until(std::chrono::steady_clock::time_point end, bool by_child_alone) const {
        std::array<pollfd, 2> watched{
            {{channel_->number(), POLLIN, 0}, {queue_.wakeup().number(), POLLIN, 0}}};
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        const int ready = ::poll(watched.data(), by_child_alone ? 1 : 2,
                                 static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (ready == 0 || (ready < 0 && errno == EINTR)) return Woken::kByNobody;
        if (ready < 0 || watched[0].revents != 0) return Woken::kByChild;  // reading shows what is wrong
        queue_.wakeup().clear();
        return Woken::kByCaller;
    }

    /// For how long the request at work may be silent. Nothing: for ever, as where there is none.
    std::optional<WorkerPatience::Duration> limit_at_work() const {
        const auto work = at_work();
        return work ? std::optional(patience_.limit(work->kind)) : std::nullopt;
    }

    std::optional<WorkerRequestId> front_id() const {
        const QueuedRequest* const first = queue_.front();
        return first == nullptr ? std::nullopt : std::optional(first->id);
    }

    /// False when the frame belongs to no request at work: the child is not to be trusted any further.
    bool handle(frames::Envelope envelope) {
        WorkerEvent event = event_of(envelope.request, std::move(envelope.message));
        event.bulk = std::move(envelope.bulk);
        QueuedRequest* const work = queue_.front();
        if (work == nullptr || !work->sent || work->id != event.request) return false;
        if (!frames::are_kept(event.bulk, work->bulk)) return false;
        if (std::holds_alternative<frames::Pulse>(event.message)) return true;  // is for waits() alone
        const WorkerHandler handler = work->handler;
        if (const auto* boundary = std::get_if<frames::Boundary>(&event.message)) {
            deaths_in_a_row_ = 0;
            remember(*work, *boundary, event.bulk);
            event.held = taken_.hold({work->id, children_});
        }
        if (event.last) finish_front(event);
        handler(std::move(event));
        return true;
    }

    WorkerEvent event_of(WorkerRequestId id, frames::Message message) const {
        WorkerEvent event{id, std::move(message), {}, false};
        event.last = frames::is_final(event.message);
        event.device = options_.device.empty() ? "cpu" : options_.device;
        event.spoiled = is_unsound(event.message);
        return event;
    }
    WorkerEvent refusal_event(WorkerRequestId id, frames::RefusalReason reason, std::string text,
                              std::string fix = {}) const {
        return event_of(id, frames::Refusal{reason, std::move(text), std::move(fix)});
    }

    /// From now on the request, if it has to be sent again, goes on from this boundary.
    static void remember(QueuedRequest& pending, const frames::Boundary& boundary,
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
        QueuedRequest done = queue_.take_front();
        if (!std::holds_alternative<frames::Opened>(event.message)) return;
        job_ = std::move(done);
        job_->handler = nullptr;
        const base::Bytes spec = base::encode(std::get<frames::OpenJob>(job_->message).spec);
        patience_.open({spec.begin(), spec.end()});
    }

    /// Sends the request whose turn it is, or that it is cancelled. A failure to send shows as the end of the
    /// stream in listen(): a child that takes no more in the middle of a frame would not show otherwise.
    void send_due() {
        send_taken();
        refuse_cancelled();
        QueuedRequest* const due = queue_.front();
        if (due == nullptr) return;
        const bool cancel = due->sent && !due->cancel_sent && queue_.is_cancelled(*due);
        if (due->sent && !cancel) return;
        due->sent = true;
        due->cancel_sent = cancel;
        const auto sent = cancel ? channel_->send({due->id, frames::Cancel{}, {}})
                                 : channel_->send({due->id, due->message, due->bulk});
        if (!sent.ok()) ::shutdown(channel_->number(), SHUT_RDWR);
    }

    /// Of a request that is answered, or of a child that is gone, nobody waits for it.
    void send_taken() {
        for (const TakenFrames::Held& frame : taken_.take()) {
            const QueuedRequest* const work = queue_.front();
            if (frame.child != children_ || work == nullptr || !work->sent || work->id != frame.request)
                continue;
            if (!channel_->send({frame.request, frames::Taken{}, {}}).ok())
                ::shutdown(channel_->number(), SHUT_RDWR);
        }
    }

    void close_child() {
        {
            const std::lock_guard lock(mutex_);
            channel_.reset();
        }
        if (QueuedRequest* const work = queue_.front()) work->sent = work->cancel_sent = false;
        pid_ = 0;
        if (process_ && end_child()) process_.reset();
        refuse_cancelled();
    }

    /// Those whose turn it is; the others wait for theirs.
    void refuse_cancelled() {
        while (const QueuedRequest* const next = queue_.front()) {
            if (next->sent || !queue_.is_cancelled(*next)) return;
            const QueuedRequest pending = queue_.take_front();
            pending.handler(refusal_event(pending.id, frames::RefusalReason::kCancelled, "cancelled"));
        }
    }

    /// The request at work when the worker died too often is refused; those behind it get their turn.
    void give_up_front() {
        deaths_in_a_row_ = 0;
        if (queue_.front() == nullptr) return;
        const QueuedRequest pending = queue_.take_front();
        std::string text =
            "the worker died " + std::to_string(options_.max_deaths) + " times in a row on this request";
        if (hung_) text += ", the last time by our hand: it hung";
        pending.handler(refusal_event(pending.id, frames::RefusalReason::kInternal, std::move(text)));
    }

    /// Those that are there. Handlers may submit others meanwhile.
    void refuse_all(frames::RefusalReason reason, const std::string& text, const std::string& fix = {}) {
        for (const QueuedRequest& request : queue_.take_all())
            request.handler(refusal_event(request.id, reason, text, fix));
    }

    const WorkerOptions options_;
    const bool may_hang_ = may_hang(options_);
    RequestQueue queue_;  // its first is the request at work
    TakenFrames taken_{queue_.wakeup()};
    unsigned children_ = 0;  // the thread's alone: that were started
    mutable std::mutex mutex_;
    frames::Hello hello_;                     // under mutex_
    std::optional<frames::Channel> channel_;  // is put in and taken out under mutex_; else the thread's alone
    std::optional<QueuedRequest> job_;        // the thread's alone: the open one
    std::optional<Process> process_;          // the thread's alone: running, or one that cannot be ended
    bool ending_ = false;                     // the thread's alone: process_ was told to end
    unsigned deaths_in_a_row_ = 0;            // the thread's alone
    WorkerPatience patience_;                 // the thread's alone
    WorkerRequestId learned_ = 0;             // the thread's alone: whose frames patience_ heard last
    bool hung_ = false;                       // the thread's alone: the child that was started last hung
    bool unsound_ = false;  // the thread's alone: the child that was started last has other bits
    std::atomic<unsigned> deaths_ = 0;
    std::atomic<pid_t> pid_ = 0;
    std::thread thread_;
};

WorkerProcess::WorkerProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WorkerProcess::~WorkerProcess() = default;

Outcome<std::unique_ptr<WorkerProcess>> WorkerProcess::start(WorkerOptions options) {
    ASSAY_ASSIGN(auto wakeup, frames::Wakeup::create());
    auto impl = std::make_unique<Impl>(std::move(options), std::move(wakeup));
    ASSAY_TRY(impl->start());
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(impl)));
}

WorkerRequestId WorkerProcess::submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                                      WorkerHandler handler) {
    return impl_->queue().push(std::move(request), std::move(bulk), std::move(handler));
}
void WorkerProcess::cancel(WorkerRequestId request) { impl_->queue().cancel(request); }
frames::Hello WorkerProcess::hello() const { return impl_->hello(); }
pid_t WorkerProcess::pid() const { return impl_->pid(); }
unsigned WorkerProcess::deaths() const { return impl_->deaths(); }
std::uint64_t WorkerProcess::socket_bytes() {
    const frames::SocketBytes bytes = frames::socket_bytes();
    return bytes.sent + bytes.received;
}

}  // namespace assay::node
