// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/ledger_node.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "contracts/base/codec.hpp"
#include "contracts/rules/state/tables.hpp"
#include "ledger/engine/clock.hpp"
#include "ledger/engine/engines.hpp"
#include "ledger/store/block_log.hpp"
#include "ledger/store/layout.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/runtime/loop.hpp"
#include "node/runtime/move_dropper.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

// What the service promises of a page is what the application gives.
static_assert(kScanPageMax == ledger::kRangeRecordsMax && kScanBytesMax == ledger::kRangeBytesMax);
// What a client takes for a block is what the log keeps.
static_assert(kBlockBytesMax == ledger::kMaxBlockBytes);

constexpr std::uint64_t kNanosecondsInMs = 1'000'000;

base::Failed<base::Error> stopping() {
    return fail(ErrorKind::kUnreachable, "the ledger node is stopping",
                "wait until it runs again, then ask anew");
}

// One strand owns the engine; other threads post functions to it. Everything else is waiting, for blocks
// (subscribers) and for answers (callers), on the waiting threads themselves.
/// The machine's clock, or in a drill one that is off.
class OffsetClock final : public ledger::EngineClock {
public:
    explicit OffsetClock(std::int64_t offset_ms) : offset_ms_(offset_ms) {}
    std::uint64_t monotonic_ms() override { return system_.monotonic_ms(); }
    std::uint64_t wall_ms() override {
        return ledger::unix_ms(static_cast<std::int64_t>(system_.wall_ms()) + offset_ms_);
    }

private:
    std::int64_t offset_ms_;
    ledger::SystemEngineClock system_;
};

class Node final : public LedgerNode, private Role {
public:
    explicit Node(LedgerNodeOptions options)
        : options_(std::move(options)),
          provider_(ledger::leveldb_provider(ledger::Layout(options_.home.string()).index)) {}

    ~Node() override {
        stop_answering();
        if (thread_.joinable()) {
            loop_.post([this] { loop_.stop(); });
            thread_.join();
        }
        server_.reset();
    }

    Outcome<void> open(const base::SecretKey& key, const ledger::StateMachine& machine) {
        ledger::EngineParts parts{.home = options_.home.string(),
                                  .disk = disk_,
                                  .provider = *provider_,
                                  .machine = machine,
                                  .key = key,
                                  .clock = clock_,
                                  .block_interval_ms = options_.block_interval_ms,
                                  .log = {},
                                  .accepts_far_clock = options_.accepts_far_clock};
        parts.log.min_free_bytes = options_.min_free_bytes;
        ASSAY_ASSIGN(engine_, ledger::open_engine(options_.engine, parts));
        notes_ = engine_->notes();
        height_ = engine_->application().info().height;
        engine_->subscribe([this](const ledger::Committed& block) {
            {
                const std::lock_guard lock(mutex_);
                height_ = block.header.height;
            }
            blocks_.notify_all();
        });
        loop_.attach(*this);
        thread_ = std::thread([this] { loop_.run(); });
        ASSAY_ASSIGN(server_, serve_ledger(*this, options_.server));
        return {};
    }

    void stop_answering() override {
        refuse_more();
        loop_.post([this] { end(nullptr); });
    }

    [[nodiscard]] std::string address() const override { return server_->address(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

    Outcome<SubmitReply> submit(ByteView signed_transaction) override {
        if (const auto left_out = dropper_.leaves_out(signed_transaction)) {
            if (options_.on_left_out) options_.on_left_out(*left_out);
            return fail(ErrorKind::kUnreachable, "the ledger node gives no answer", "ask again");
        }
        // The promise is shared with the engine: it may answer after this node has begun to stop.
        auto promise = std::make_shared<std::promise<Outcome<SubmitReply>>>();
        auto future = promise->get_future();
        const bool taken = add([this, promise, bytes = base::to_bytes(signed_transaction)]() mutable {
            engine_->submit(std::move(bytes), [promise](const Outcome<ledger::Answer>& answer) {
                promise->set_value(reply_of(answer));
            });
        });
        promise.reset();  // or a submission that is dropped would wait for ever
        if (!taken) return stopping();
        return wait_for(future);
    }

    Outcome<StateValue> get(ByteView key) override {
        return on_strand<StateValue>([this, key]() -> Outcome<StateValue> {
            const std::string path = contracts::is_of_history(key) ? "history" : "state";
            ASSAY_ASSIGN(ledger::QueryAnswer answer,
                         engine_->application().query({path, base::to_bytes(key), 0}));
            return StateValue{answer.height, answer.app_hash, std::move(answer.value),
                              answer.proof ? base::encode(*answer.proof) : Bytes{}};
        });
    }

    Outcome<StatePage> scan(const ScanRequest& request) override {
        return on_strand<StatePage>([this, request]() -> Outcome<StatePage> {
            const ledger::RangeQuery range{request.prefix, request.from, request.limit};
            ASSAY_ASSIGN(const ledger::QueryAnswer answer,
                         engine_->application().query({"range", base::encode(range), 0}));
            auto page = base::decode<ledger::RangeAnswer>(answer.value.value());
            ASSAY_CHECK(page.ok());  // our own encoding
            return StatePage{answer.height, answer.app_hash, std::move(page->records), std::move(page->next)};
        });
    }

    Outcome<Bytes> block(std::uint64_t height) override {
        return on_strand<Bytes>([this, height]() -> Outcome<Bytes> {
            const std::uint64_t tip = engine_->application().info().height;
            if (height == 0 || height > tip) {
                return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height) + " yet",
                            "the tip is at height " + std::to_string(tip));
            }
            ASSAY_ASSIGN(const ledger::Block found, engine_->block(height));
            return base::encode(found);
        });
    }

    Outcome<LedgerStatus> status() override {
        return on_strand<LedgerStatus>([this]() -> Outcome<LedgerStatus> {
            const ledger::Genesis& genesis = engine_->genesis();
            const ledger::ApplicationInfo info = engine_->application().info();
            return LedgerStatus{genesis.chain_id, info.height, info.app_hash, engine_->validator(),
                                options_.version};
        });
    }

    Outcome<void> subscribe(std::uint64_t from_height, std::stop_token stop,
                            const BlockHandler& handler) override {
        for (std::uint64_t next = std::max<std::uint64_t>(from_height, 1);; ++next) {
            {
                std::unique_lock lock(mutex_);
                const bool ready = blocks_.wait(lock, stop, [&] { return stopped_ || height_ >= next; });
                if (!ready) return {};
                if (stopped_) return stopping();
            }
            ASSAY_ASSIGN(const BlockNotice notice, notice_of(next));
            if (stop.stop_requested() || !handler(notice)) return {};
        }
    }

private:
    Outcome<BlockNotice> notice_of(std::uint64_t height) {
        return on_strand<BlockNotice>([this, height]() -> Outcome<BlockNotice> {
            ASSAY_ASSIGN(const ledger::Block found, engine_->block(height));
            ASSAY_ASSIGN(const ledger::BlockResults results, engine_->results(height));
            return BlockNotice{height, base::encode(std::make_pair(found.header, found.signature)),
                               base::encode(results)};
        });
    }

    static Outcome<SubmitReply> reply_of(const Outcome<ledger::Answer>& outcome) {
        if (!outcome) return base::failed(outcome.error());
        const ledger::Answer& answer = *outcome;
        // A block holds accepted transactions only, so a receipt is of one.
        if (answer) {
            return SubmitReply{.accepted = true,
                               .reason = 0,
                               .reason_text = {},
                               .height = answer->height,
                               .receipt = base::encode(*answer)};
        }
        return SubmitReply{.accepted = false,
                           .reason = static_cast<std::uint32_t>(answer.error()),
                           .reason_text = std::string(contracts::to_text(answer.error())),
                           .height = 0,
                           .receipt = {}};
    }

    // False when the node stops: the work was dropped. Work that is posted and then finds the node stopping
    // is dropped too.
    bool add(std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        if (stopped_) return false;
        loop_.post([this, work = std::move(work)] {
            if (is_stopping()) return;
            work();
            tick_soon();
        });
        return true;
    }

    template <class T>
    Outcome<T> wait_for(std::future<Outcome<T>>& future) {
        try {
            return future.get();
        } catch (const std::future_error&) {  // dropped, by the strand or with the engine
            return stopping();
        }
    }

    // `read` may use the caller's arguments: the caller waits here until it ran or was dropped.
    template <class T, class Read>
    Outcome<T> on_strand(Read read) {
        auto promise = std::make_shared<std::promise<Outcome<T>>>();
        auto future = promise->get_future();
        if (!add([promise, read] { promise->set_value(read()); })) return stopping();
        promise.reset();  // the strand holds the only one, so that dropping it wakes us
        return wait_for(future);
    }

    bool is_stopping() {
        const std::lock_guard lock(mutex_);
        return stopped_;
    }

    // The strand's own events: its start, and the timer at which the engine asked to be called.
    void step(const RoleEvent&) override { tick_soon(); }

    // Behind what is posted already, so that transactions that came together stand in one block.
    void tick_soon() {
        if (std::exchange(tick_posted_, true)) return;
        loop_.post([this] {
            tick_posted_ = false;
            tick();
        });
    }

    void tick() {
        if (!engine_ || is_stopping()) return;
        const auto pause = engine_->tick();
        if (!pause) return end(&pause.error());
        tell_if_held();
        if (next_tick_) loop_.timers().cancel(*std::exchange(next_tick_, std::nullopt));
        if (*pause) next_tick_ = loop_.timers().at(system_clock().mono_ns() + **pause * kNanosecondsInMs);
    }

    void tell_if_held() {
        const std::string why = engine_->held_up();
        std::string kind = why.substr(0, why.find(':'));
        if (held_by_ != kind && options_.on_held) options_.on_held(why);
        held_by_ = std::move(kind);
    }

    void refuse_more() {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        blocks_.notify_all();
    }

    void end(const base::Error* why) {
        refuse_more();
        engine_.reset();  // drops the waiting submissions
        if (why != nullptr && options_.on_stopped) options_.on_stopped(*why);
    }

    LedgerNodeOptions options_;
    ledger::PosixDisk disk_;
    OffsetClock clock_{options_.clock_offset_ms};
    std::unique_ptr<ledger::KeyValueProvider> provider_;
    std::unique_ptr<ledger::LedgerEngine> engine_;
    std::vector<std::string> notes_;

    // Of the strand alone.
    bool tick_posted_ = false;
    std::string held_by_;  // what on_held was told last
    std::optional<TimerId> next_tick_;

    MoveDropper dropper_{options_.drops_moves_of};

    std::mutex mutex_;
    std::condition_variable_any blocks_;
    std::uint64_t height_ = 0;
    bool stopped_ = false;

    Loop loop_;
    std::thread thread_;
    std::unique_ptr<RpcServer> server_;
};

}  // namespace

Outcome<std::unique_ptr<LedgerNode>> LedgerNode::start(const LedgerNodeOptions& options,
                                                       const base::SecretKey& key,
                                                       const ledger::StateMachine& machine) {
    auto node = std::make_unique<Node>(options);
    ASSAY_TRY(node->open(key, machine));
    return std::unique_ptr<LedgerNode>(std::move(node));
}

}  // namespace assay::node
