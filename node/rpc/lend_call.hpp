// SPDX-License-Identifier: Apache-2.0
// Gives a blob server LendCall, the call that a holder opens that accepts no connection. Internal to
// node/rpc.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <string>

#include "assay.pb.h"
#include "node/rpc/open_calls.hpp"
#include "node/rpc/outward.hpp"
#include "node/rpc/outward_line.hpp"

namespace assay::node {

/// Challenges the caller to prove its key, then carries questions and answers, one at a time: the next
/// question waits until the last one was sent and its answer has come. Holds no thread in between. A message
/// that the caller sends unasked is not read before the next question, and then does not count as its answer.
/// Deletes itself at its end.
class LendCall final : public grpc::ServerBidiReactor<v1::LendAnswer, v1::LendAsk>, public OpenCall {
public:
    /// `desk`: null when no such calls are accepted.
    LendCall(OpenCalls& calls, OutwardDesk* desk, grpc::CallbackServerContext& context);
    /// Begins; returns what the service's method must return.
    LendCall* start();
    void cut() override;

private:
    void OnWriteDone(bool ok) override { one_done(ok); }
    void OnReadDone(bool ok) override { one_done(ok); }
    void OnCancel() override { cut(); }
    void OnDone() override;

    void send(const v1::LendAsk& question);
    void one_done(bool ok);
    void on_hello();
    void end(const grpc::Status& status);

    OpenCalls& calls_;
    OutwardDesk* desk_;
    grpc::CallbackServerContext& context_;
    bool admitted_ = false;
    std::string challenge_;
    base::PublicKey node_;
    std::shared_ptr<OutwardLine> line_;  ///< once the caller is known
    v1::LendAsk question_;
    v1::LendAnswer answer_;

    std::mutex mutex_;  ///< guards what follows
    int out_ = 0;       ///< gRPC operations under way: the question, its answer
    bool failed_ = false;
    bool ended_ = false;  ///< Finish() was called, or is about to be
};

}  // namespace assay::node
