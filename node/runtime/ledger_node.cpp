// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/ledger_node.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "contracts/base/codec.hpp"
#include "contracts/rules/state/tables.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/engine/embedded.hpp"
#include "ledger/store/posix_disk.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

// What the service promises of a page is what the application gives.
static_assert(kScanPageMax == ledger::kRangeRecordsMax && kScanBytesMax == ledger::kRangeBytesMax);

base::Failed<base::Error> stopping() {
    return fail(ErrorKind::kUnreachable, "the ledger node is stopping",
                "wait until it runs again, then ask anew");
}

// One thread owns the chain and the engine; whoever wants something of them hands in a function. The rest is
// waiting: for blocks (subscribers) and for answers (callers).
class Node final : public LedgerNode {
public:
    explicit Node(LedgerNodeOptions options)
        : options_(std::move(options)),
          provider_(ledger::leveldb_provider(ledger::Layout(options_.home.string()).index)) {}

    ~Node() override {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
        server_.reset();
    }

    Outcome<void> open(const base::SecretKey& key, const ledger::StateMachine& machine) {
        ledger::ChainOptions chain_options;
        chain_options.log.min_free_bytes = options_.min_free_bytes;
        ASSAY_ASSIGN(chain_,
                     ledger::Chain::open(disk_, *provider_, machine, options_.home.string(), chain_options));
        // The embedded engine orders alone: opening the chain refused any other set.
        const base::PublicKey sequencer = chain_->sequencer();
        if (sequencer != key.public_key()) {
            return fail(ErrorKind::kKey,
                        "this key is not the sequencer's of the chain '" + chain_->genesis().chain_id + "'",
                        "give the key " + sequencer.brief() + "…, which the genesis file names");
        }
        ledger::EmbeddedOptions engine;
        engine.block_interval_ms = options_.block_interval_ms;
        engine_ = std::make_unique<ledger::EmbeddedEngine>(*chain_, key, clock_, engine);
        height_ = chain_->height();
        engine_->subscribe([this](const ledger::Committed& block) {
            {
                const std::lock_guard lock(mutex_);
                height_ = block.header.height;
            }
            blocks_.notify_all();
        });
        thread_ = std::thread([this] { run(); });
        ASSAY_ASSIGN(server_, serve_ledger(*this, options_.server));
        return {};
    }

    [[nodiscard]] std::string address() const override { return server_->address(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return chain_->notes(); }

    Outcome<SubmitReply> submit(ByteView signed_transaction) override {
        // The promise is shared with the engine: it may answer after this node has begun to stop.
        auto promise = std::make_shared<std::promise<Outcome<SubmitReply>>>();
        auto future = promise->get_future();
        const bool taken = add([this, promise, bytes = base::to_bytes(signed_transaction)]() mutable {
            engine_->submit(std::move(bytes), [promise](const Outcome<ledger::Answer>& answer) {
                promise->set_value(reply_of(answer));
            });
        });
        promise.reset();  // or a submission that is dropped with the queue would wait for ever
        if (!taken) return stopping();
        return wait_for(future);
    }

    Outcome<StateValue> get(ByteView key) override {
        return on_strand<StateValue>([this, key]() -> Outcome<StateValue> {
            const std::string path = contracts::is_of_history(key) ? "history" : "state";
            ASSAY_ASSIGN(ledger::QueryAnswer answer,
                         chain_->application().query({path, base::to_bytes(key), 0}));
            return StateValue{answer.height, answer.app_hash, std::move(answer.value),
                              answer.proof ? base::encode(*answer.proof) : Bytes{}};
        });
    }

    Outcome<StatePage> scan(const ScanRequest& request) override {
        return on_strand<StatePage>([this, request]() -> Outcome<StatePage> {
            const ledger::RangeQuery range{request.prefix, request.from, request.limit};
            ASSAY_ASSIGN(const ledger::QueryAnswer answer,
                         chain_->application().query({"range", base::encode(range), 0}));
            auto page = base::decode<ledger::RangeAnswer>(answer.value.value());
            ASSAY_CHECK(page.ok());  // our own encoding
            return StatePage{answer.height, answer.app_hash, std::move(page->records), std::move(page->next)};
        });
    }

    Outcome<Bytes> block(std::uint64_t height) override {
        return on_strand<Bytes>([this, height]() -> Outcome<Bytes> {
            if (height == 0 || height > chain_->height()) {
                return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height) + " yet",
                            "the tip is at height " + std::to_string(chain_->height()));
            }
            ASSAY_ASSIGN(const ledger::Block found, chain_->block(height));
            return base::encode(found);
        });
    }

    Outcome<LedgerStatus> status() override {
        return on_strand<LedgerStatus>([this]() -> Outcome<LedgerStatus> {
            const ledger::Genesis& genesis = chain_->genesis();
            const ledger::ApplicationInfo info = chain_->application().info();
            return LedgerStatus{genesis.chain_id, info.height, info.app_hash, chain_->sequencer(),
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
            ASSAY_ASSIGN(const ledger::Block found, chain_->block(height));
            ASSAY_ASSIGN(const ledger::BlockResults results, chain_->results(height));
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

    // False when the node stops: the work was dropped.
    bool add(std::function<void()> work) {
        {
            const std::lock_guard lock(mutex_);
            if (stopped_) return false;
            queue_.push_back(std::move(work));
        }
        wake_.notify_one();
        return true;
    }

    template <class T>
    Outcome<T> wait_for(std::future<Outcome<T>>& future) {
        try {
            return future.get();
        } catch (const std::future_error&) {  // dropped with the queue or with the engine
            return stopping();
        }
    }

    // `read` may use the caller's arguments: the caller waits here until it ran or was dropped.
    template <class T, class Read>
    Outcome<T> on_strand(Read read) {
        auto promise = std::make_shared<std::promise<Outcome<T>>>();
        auto future = promise->get_future();
        if (!add([promise, read] { promise->set_value(read()); })) return stopping();
        promise.reset();  // the queue holds the only one, so that dropping it wakes us
        return wait_for(future);
    }

    void run() {
        while (true) {
            const auto pause = engine_->tick();
            if (!pause) return end(&pause.error());
            std::deque<std::function<void()>> work;
            {
                std::unique_lock lock(mutex_);
                const auto ready = [this] { return stopped_ || !queue_.empty(); };
                if (*pause) {
                    wake_.wait_for(lock, std::chrono::milliseconds(**pause), ready);
                } else {
                    wake_.wait(lock, ready);
                }
                if (stopped_) break;
                work.swap(queue_);
            }
            for (auto& item : work) item();
        }
        end(nullptr);
    }

    void end(const base::Error* why) {
        std::deque<std::function<void()>> dropped;
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
            dropped.swap(queue_);
        }
        blocks_.notify_all();
        dropped.clear();
        engine_.reset();  // drops the waiting submissions
        if (why != nullptr && options_.on_stopped) options_.on_stopped(*why);
    }

    LedgerNodeOptions options_;
    ledger::PosixDisk disk_;
    ledger::SystemEngineClock clock_;
    std::unique_ptr<ledger::KeyValueProvider> provider_;
    std::unique_ptr<ledger::Chain> chain_;
    std::unique_ptr<ledger::EmbeddedEngine> engine_;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable_any blocks_;
    std::deque<std::function<void()>> queue_;
    std::uint64_t height_ = 0;
    bool stopped_ = false;

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
