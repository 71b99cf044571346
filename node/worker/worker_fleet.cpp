// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_fleet.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace assay::node {

using base::ErrorKind;
using base::fail;
using frames::Refusal;
using frames::RefusalReason;

namespace {

using SteadyClock = std::chrono::steady_clock;

// A process that dies once is started again; more would take time in which another device can do the work.
constexpr unsigned kMaxDeaths = 2;
constexpr unsigned kMaxFailures = 2;  // in a row, in other work than training

// A device and what is at work on it.
struct Seat {
    std::string device;
    std::unique_ptr<WorkerProcess> worker;
    bool out = false;
    bool opened = false;                     // has the open job
    bool unsound = false;                    // computes other bits: nothing that it gives counts
    unsigned failures = 0;                   // in a row
    std::optional<double> step_ns;           // the least that a step of the open job took
    std::optional<WorkerRequestId> request;  // at work, by the fleet's number
    WorkerRequestId inner = 0;               // the same by the worker's
    bool trains = false;
    std::optional<SteadyClock::time_point> stepped_at;
};

struct Waiting {
    WorkerRequestId id = 0;
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
    WorkerHandler handler;
};

// An OpenJob that went to all.
struct FleetOpening {
    WorkerHandler handler;
    std::size_t open = 0;  // seats that have not answered
    std::optional<WorkerEvent> best;
};

}  // namespace

class WorkerFleet::Impl {
public:
    explicit Impl(FleetOptions options) : options_(std::move(options)) {}
    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        // Their requests are refused from their threads, which use the rest.
        for (Seat& seat : seats_) seat.worker.reset();
        for (Waiting& waiting : waiting_)
            refuse(waiting, RefusalReason::kCancelled, "the worker client was closed");
    }

    base::Outcome<void> start() {
        std::vector<std::future<base::Outcome<std::unique_ptr<WorkerProcess>>>> starting;
        for (const std::string& device : options_.devices) {
            WorkerOptions one = options_.worker;
            one.device = device;
            if (options_.devices.size() > 1) one.max_deaths = std::min(one.max_deaths, kMaxDeaths);
            starting.push_back(std::async(std::launch::async, [one] { return WorkerProcess::start(one); }));
        }
        std::optional<base::Error> first;
        for (std::size_t i = 0; i < starting.size(); ++i) {
            auto worker = starting[i].get();
            if (worker.ok()) {
                seats_.emplace_back();
                seats_.back().device = options_.devices[i];
                seats_.back().worker = std::move(worker).value();
                continue;
            }
            if (!first) first = worker.error();
            tell({worker.error().kind,
                  "device " + options_.devices[i] + " is refused: " + worker.error().what,
                  worker.error().fix});
        }
        if (seats_.empty() && first) return base::failed(*first);
        return {};
    }

    WorkerRequestId submit(frames::Message message, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) {
        const std::lock_guard lock(mutex_);
        reap();
        const WorkerRequestId id = next_id_++;
        if (std::holds_alternative<frames::OpenJob>(message)) {
            open(id, message, bulk, std::move(handler));
        } else {
            waiting_.push_back({id, std::move(message), std::move(bulk), std::move(handler)});
            dispatch();
        }
        return id;
    }

    void cancel(WorkerRequestId id) {
        std::optional<Waiting> removed;
        {
            const std::lock_guard lock(mutex_);
            for (const Seat& seat : seats_) {
                if (seat.request == id && seat.worker) return seat.worker->cancel(seat.inner);
            }
            const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                            [&](const Waiting& waiting) { return waiting.id == id; });
            if (found == waiting_.end()) return;
            removed = std::move(*found);
            waiting_.erase(found);
        }
        refuse(*removed, RefusalReason::kCancelled, "cancelled");
    }

    std::size_t width() const {
        const std::lock_guard lock(mutex_);
        const auto used = std::count_if(seats_.begin(), seats_.end(), [](const Seat& s) { return !s.out; });
        const auto open =
            std::count_if(seats_.begin(), seats_.end(), [](const Seat& s) { return !s.out && s.opened; });
        return static_cast<std::size_t>(open > 0 ? open : used);
    }

    std::vector<Member> members() const {
        const std::lock_guard lock(mutex_);
        std::vector<Member> all;
        for (const Seat& seat : seats_) {
            if (!seat.out) all.push_back({seat.device, seat.worker->hello()});
        }
        return all;
    }

    bool distrust(const std::string& device, const base::Error& why) {
        {
            const std::lock_guard lock(mutex_);
            const auto seat = std::find_if(seats_.begin(), seats_.end(),
                                           [&](const Seat& one) { return one.device == device; });
            if (seat == seats_.end() || seat->out) return true;
            if (is_last(*seat)) return false;
            seat->out = seat->unsound = true;
            // What it works on may never answer a request to stop; its end does.
            end(std::move(seat->worker));
        }
        tell(put_out(device, why));
        return true;
    }

private:
    static base::Error put_out(const std::string& device, const base::Error& why) {
        return {ErrorKind::kPreflight, "device " + device + " is put out of use: " + why.what, why.fix};
    }
    void tell(const base::Error& what) const {
        if (options_.tell) options_.tell(what);
    }
    static void refuse(const Waiting& waiting, RefusalReason reason, std::string text) {
        waiting.handler({waiting.id, Refusal{reason, std::move(text), {}}, {}, true});
    }

    // Ends a process on a thread of its own: that can take as long as its driver likes, and a handler of its
    // own thread may be the caller. REQUIRES the lock.
    void end(std::unique_ptr<WorkerProcess> worker) {
        ending_.push_back(
            std::async(std::launch::async, [worker = std::move(worker)]() mutable { worker.reset(); }));
    }

    /// REQUIRES the lock, as all below it that say nothing else.
    bool is_last(const Seat& seat) const {
        return std::none_of(seats_.begin(), seats_.end(),
                            [&](const Seat& other) { return &other != &seat && !other.out; });
    }
    /// The last that has the open job, if it has.
    bool is_last_with_job(const Seat& seat) const {
        return seat.opened && std::none_of(seats_.begin(), seats_.end(), [&](const Seat& other) {
                   return &other != &seat && !other.out && other.opened;
               });
    }

    // Of the answers to OpenJob the best: the job is open; else what is to be asked again; else the first.
    static int rank(const WorkerEvent& event) {
        const auto* refusal = std::get_if<Refusal>(&event.message);
        if (refusal == nullptr) return 2;
        const bool again = refusal->reason == RefusalReason::kInternal ||
                           frames::cause_of(refusal->reason) == frames::RefusalCause::kPassing;
        return again ? 1 : 0;
    }

    void open(WorkerRequestId id, const frames::Message& message,
              const std::vector<frames::SharedDescriptor>& bulk, WorkerHandler handler) {
        FleetOpening& opening = openings_[id];
        opening.handler = std::move(handler);
        for (Seat& seat : seats_) {
            if (seat.out) continue;
            seat.opened = false;
            seat.step_ns.reset();
            ++opening.open;
            seat.worker->submit(message, bulk, [this, id, &seat](const WorkerEvent& event) {
                if (event.last) on_opened(id, seat, event);
            });
        }
    }

    /// Without the lock.
    void on_opened(WorkerRequestId id, Seat& seat, const WorkerEvent& event) {
        const auto* refusal = std::get_if<Refusal>(&event.message);
        std::optional<base::Error> told;
        WorkerHandler handler;
        WorkerEvent answer;
        {
            const std::lock_guard lock(mutex_);
            FleetOpening& opening = openings_.at(id);
            const bool gone = seat.out || stopping_;
            if (!gone && refusal == nullptr) seat.opened = true;
            if (!gone && refusal != nullptr && seats_.size() > 1) {
                told = base::Error{ErrorKind::kPreflight,
                                   "device " + seat.device + " does not take the job: " + refusal->text,
                                   refusal->fix};
            }
            if (!opening.best || rank(event) > rank(*opening.best)) opening.best = event;
            if (--opening.open == 0) {
                answer = std::move(*opening.best);
                answer.request = id;
                handler = std::move(opening.handler);
                openings_.erase(id);
            }
            dispatch();
        }
        if (told) tell(*told);
        if (handler) handler(std::move(answer));
    }

    // The fastest free device; one that was never measured goes first, in the order in which they were named.
    Seat* free_seat() {
        const bool any_opened = std::any_of(seats_.begin(), seats_.end(),
                                            [](const Seat& seat) { return !seat.out && seat.opened; });
        Seat* best = nullptr;
        for (Seat& seat : seats_) {
            if (seat.out || seat.request || (any_opened && !seat.opened)) continue;
            if (best == nullptr || seat.step_ns.value_or(0) < best->step_ns.value_or(0)) best = &seat;
        }
        return best;
    }

    void dispatch() {
        while (!waiting_.empty() && !stopping_) {
            Seat* const seat = free_seat();
            if (seat == nullptr) return;
            Waiting next = std::move(waiting_.front());
            waiting_.pop_front();
            seat->request = next.id;
            seat->trains = std::holds_alternative<frames::Train>(next.message);
            seat->stepped_at.reset();
            seat->inner = seat->worker->submit(
                std::move(next.message), std::move(next.bulk),
                [this, seat, id = next.id, handler = std::move(next.handler)](WorkerEvent event) {
                    on_event(*seat, id, std::move(event), handler);
                });
        }
    }

    /// Without the lock.
    void on_event(Seat& seat, WorkerRequestId id, WorkerEvent event, const WorkerHandler& handler) {
        std::optional<base::Error> told;
        {
            const std::lock_guard lock(mutex_);
            if (seat.trains && std::holds_alternative<frames::Progress>(event.message)) measure(seat);
            if (seat.unsound) {
                // What it gives from now on is nobody's.
                if (!event.last) return;
                event = {.request = id,
                         .message = Refusal{RefusalReason::kInternal,
                                            "device " + seat.device + " computes other bits",
                                            {}},
                         .bulk = {},
                         .last = true,
                         .device = seat.device,
                         .spoiled = true};
            } else if (event.last) {
                told = judge(seat, event);
            }
            event.request = id;
            if (event.last) {
                seat.request.reset();
                dispatch();
            }
        }
        if (told) tell(*told);
        handler(std::move(event));
    }

    static void measure(Seat& seat) {
        const auto now = SteadyClock::now();
        if (seat.stepped_at) {
            const std::chrono::duration<double, std::nano> step = now - *seat.stepped_at;
            seat.step_ns = std::min(seat.step_ns.value_or(step.count()), step.count());
        }
        seat.stepped_at = now;
    }

    // Puts the device out where its last answer says so, and makes that one to be asked again.
    std::optional<base::Error> judge(Seat& seat, WorkerEvent& event) {
        const auto* refusal = std::get_if<Refusal>(&event.message);
        const bool gone = refusal != nullptr && (refusal->reason == RefusalReason::kUnsound ||
                                                 refusal->reason == RefusalReason::kLost);
        const bool broken = gone || (refusal != nullptr && refusal->reason == RefusalReason::kInternal);
        if (!broken || stopping_) {
            seat.failures = 0;
            return std::nullopt;
        }
        ++seat.failures;
        const bool at_once = seat.trains || gone;
        const bool needed = !gone && is_last_with_job(seat);
        if (is_last(seat) || needed || (!at_once && seat.failures < kMaxFailures)) return std::nullopt;
        seat.out = true;
        const base::Error why = to_error(*refusal);
        event.message =
            Refusal{RefusalReason::kInternal,
                    "device " + seat.device + " fails: " + why.what + "; another device takes over",
                    {}};
        return put_out(seat.device, why);
    }

    /// Ends the processes of devices that are out of use, once they have answered all.
    void reap() {
        for (Seat& seat : seats_) {
            const bool idle = !seat.request && openings_.empty();
            if (seat.out && idle && seat.worker) end(std::move(seat.worker));
        }
    }

    const FleetOptions options_;
    mutable std::mutex mutex_;
    std::deque<Seat> seats_;  // none goes while the fleet is there: handlers point to them
    std::deque<Waiting> waiting_;
    std::map<WorkerRequestId, FleetOpening> openings_;
    WorkerRequestId next_id_ = 1;
    bool stopping_ = false;
    std::vector<std::future<void>> ending_;  // before all else goes, they have ended
};

WorkerFleet::WorkerFleet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WorkerFleet::~WorkerFleet() = default;

base::Outcome<std::unique_ptr<WorkerFleet>> WorkerFleet::start(FleetOptions options) {
    ASSAY_CHECK(!options.devices.empty());
    auto impl = std::make_unique<Impl>(std::move(options));
    ASSAY_TRY(impl->start());
    return std::unique_ptr<WorkerFleet>(new WorkerFleet(std::move(impl)));
}

WorkerRequestId WorkerFleet::submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                                    WorkerHandler handler) {
    return impl_->submit(std::move(request), std::move(bulk), std::move(handler));
}
void WorkerFleet::cancel(WorkerRequestId request) { impl_->cancel(request); }
frames::Hello WorkerFleet::hello() const { return impl_->members().front().hello; }
std::size_t WorkerFleet::width() const { return impl_->width(); }
std::vector<WorkerFleet::Member> WorkerFleet::members() const { return impl_->members(); }
bool WorkerFleet::distrust(const std::string& device, const base::Error& why) {
    return impl_->distrust(device, why);
}

}  // namespace assay::node
