// SPDX-License-Identifier: Apache-2.0
// A node that takes what an owner's command signed, and answers as a test wants.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "contracts/rules/state/reasons.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"

namespace assay::test {

/// A node before a ledger node: all answers are that node's, but those to submissions are the test's.
class SilentNode final : public node::LedgerService {
public:
    /// What becomes of the `count`th submission, from 1 on.
    using Submit = std::function<base::Outcome<node::SubmitReply>(int count, base::ByteView transaction)>;

    explicit SilentNode(const std::string& behind)
        : behind_(node::connect_ledger({.address = behind, .deadline = std::chrono::seconds(30)}).value()),
          server_(node::serve_ledger(*this, {}).value()) {}
    ~SilentNode() override { server_->stop(); }
    [[nodiscard]] std::string address() const { return server_->address(); }
    void on_submit(Submit submit) {
        submissions_ = 0;
        submit_ = std::move(submit);
    }
    /// Answers no read once something was submitted.
    void fall_silent_after_submission() { falls_silent_ = true; }
    [[nodiscard]] int submissions() const { return submissions_; }
    base::Outcome<node::SubmitReply> execute(base::ByteView transaction) {
        return behind_->submit(transaction);
    }

    base::Outcome<node::SubmitReply> submit(base::ByteView transaction) override {
        return submit_(++submissions_, transaction);
    }
    base::Outcome<node::StateValue> get(base::ByteView key) override {
        if (is_silent()) return gone();
        return behind_->get(key);
    }
    base::Outcome<node::StatePage> scan(const node::ScanRequest& request) override {
        if (is_silent()) return gone();
        return behind_->scan(request);
    }
    base::Outcome<base::Bytes> block(std::uint64_t height) override { return behind_->block(height); }
    base::Outcome<node::LedgerStatus> status() override { return behind_->status(); }
    base::Outcome<void> subscribe(std::uint64_t from, std::stop_token stop,
                                  const node::BlockHandler& handler) override {
        return behind_->subscribe(from, std::move(stop), handler);
    }

private:
    [[nodiscard]] bool is_silent() const { return falls_silent_ && submissions_ > 0; }
    static base::Failed<base::Error> gone() {
        return base::fail(base::ErrorKind::kUnreachable, "the ledger node is gone");
    }

    std::unique_ptr<node::LedgerService> behind_;
    std::atomic<bool> falls_silent_ = false;
    std::atomic<int> submissions_ = 0;
    Submit submit_;
    std::unique_ptr<node::RpcServer> server_;
};

inline base::Failed<base::Error> broken_off() {
    return base::fail(base::ErrorKind::kUnreachable, "the ledger node is stopping");
}

inline node::SubmitReply refused_for(contracts::Reason reason) {
    return {false, static_cast<std::uint32_t>(reason), std::string(contracts::to_text(reason)), 0, {}};
}

}  // namespace assay::test
