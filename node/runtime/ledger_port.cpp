// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <mutex>

#include "node/runtime/ledger_link.hpp"
#include "node/runtime/queued_bytes.hpp"
#include "node/runtime/strand_thread.hpp"

namespace assay::node {
namespace {

constexpr auto kReconnectAfter = std::chrono::seconds(1);

class LoopLedgerPort final : public LedgerPort {
public:
    LoopLedgerPort(LedgerService& service, Loop& loop, std::size_t queued_max)
        : service_(service), loop_(loop), queued_(queued_max) {}

    void submit(RequestId request, Bytes signed_transaction) override {
        submissions_.add([this, request, bytes = std::move(signed_transaction)](const std::stop_token&) {
            loop_.post(RoleEvent(SubmitDone{request, service_.submit(bytes)}));
        });
    }
    void get(RequestId request, Bytes key) override {
        reads_.add([this, request, key = std::move(key)](const std::stop_token&) {
            loop_.post(RoleEvent(StateRead{request, service_.get(key)}));
        });
    }
    void scan(RequestId request, Bytes prefix) override {
        reads_.add([this, request, prefix = std::move(prefix)](const std::stop_token&) {
            loop_.post(RoleEvent(StateScanned{request, scan_all(service_, prefix)}));
        });
    }
    void subscribe(std::uint64_t from_height) override { subscribe_again(from_height, 0); }
    void subscribe_again(std::uint64_t from_height, std::uint64_t delay_ms) override {
        subscription_.request_stop();
        subscription_ = std::stop_source();
        blocks_.add([this, from_height, delay_ms, mine = subscription_](const std::stop_token& all) mutable {
            const auto end = [&mine] { mine.request_stop(); };
            const std::stop_callback with_all(all, end);
            const std::stop_callback with_loop(loop_.stopped(), end);
            follow(from_height, std::chrono::milliseconds(delay_ms), mine.get_token());
        });
    }

private:
    void follow(std::uint64_t height, std::chrono::milliseconds delay, const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any wake;
        if (delay.count() > 0) {
            std::unique_lock lock(mutex);
            wake.wait_for(lock, stop, delay, [] { return false; });
        }
        while (!stop.stop_requested()) {
            base::Error trouble{base::ErrorKind::kUnreachable, "the ledger node ended the subscription", {}};
            bool full = false;
            const auto ended = service_.subscribe(height, stop, [&](const BlockNotice& notice) {
                full = queued_.full();
                if (full) return false;
                auto block = service_.block(notice.height);
                if (!block) {
                    trouble = block.error();
                    return false;
                }
                if (stop.stop_requested()) return false;
                auto counted = queued_.add(sizeof(RoleEvent) + block->capacity());
                loop_.post(RoleEvent(BlockSeen{notice.height, *std::move(block)}), std::move(counted));
                height = notice.height + 1;
                return true;
            });
            if (stop.stop_requested()) return;
            if (full) {
                // Without a subscription: the server cuts one whose blocks nobody takes.
                queued_.wait_for_room(stop);
                continue;
            }
            loop_.post(RoleEvent(LedgerLost{ended ? trouble : ended.error()}));
            std::unique_lock lock(mutex);
            wake.wait_for(lock, stop, kReconnectAfter, [] { return false; });
        }
    }

    LedgerService& service_;
    Loop& loop_;
    QueuedBytes queued_;             ///< blocks that the role has not taken
    std::stop_source subscription_;  ///< the running one's
    StrandThread submissions_, reads_, blocks_;
};

}  // namespace

std::unique_ptr<LedgerPort> make_ledger_port(LedgerService& service, Loop& loop, std::size_t queued_max) {
    return std::make_unique<LoopLedgerPort>(service, loop, queued_max);
}

}  // namespace assay::node
