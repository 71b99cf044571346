// SPDX-License-Identifier: Apache-2.0
// Gives services the two kinds of a call, for gRPC's callback interface. Work runs on a pool (fair_pool.hpp);
// gRPC sends the results without a thread of ours. Internal to node/rpc.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "node/rpc/errors.hpp"
#include "node/rpc/fair_pool.hpp"
#include "node/rpc/open_calls.hpp"

namespace assay::node {

/// One question, one answer. `work` fills the response and returns the status; it runs on `pool`. Returns
/// what the service's method must return.
grpc::ServerUnaryReactor* answer(OpenCalls& calls, FairPool& pool, grpc::CallbackServerContext& context,
                                 std::function<grpc::Status()> work);

/// One question, many messages. The next message is made only when the client has taken the one before.
///
/// At any time one party owes the call its next step: the pool (it prepares), gRPC (it sends a message), or
/// the thing that the call waits for. Only that party may finish the call. cut() finishes only a call that
/// waits; otherwise it leaves a mark that the next step finds.
template <class Message>
class WriteCall : public grpc::ServerWriteReactor<Message>, public OpenCall {
public:
    WriteCall(OpenCalls& calls, grpc::CallbackServerContext& context, CallKind kind,
              Clock::duration longest = Clock::duration::max())
        : OpenCall(kind, caller_of(context), longest), calls_(calls), context_(context) {}

    /// Begins; the call deletes itself when it is over. Returns what the service's method must return.
    grpc::ServerWriteReactor<Message>* start() {
        admitted_ = calls_.admit(*this);
        if (admitted_) {
            prepare();
        } else {
            this->Finish(too_many_calls());
        }
        return this;
    }

    void cut() override { interrupt({grpc::StatusCode::UNAVAILABLE, "the call was ended by the server"}); }

protected:
    /// Has send() or end() called once, now or later, from any thread.
    virtual void prepare() = 0;
    /// Ends the wait. True when the call waited, and will now not be called back: the caller must finish it.
    [[nodiscard]] virtual bool stop_waiting() { return false; }

    /// Sends message_, then prepares the next.
    void send() {
        {
            const std::lock_guard lock(mutex_);
            if (!cut_) {
                writing_ = true;
                handed_out();
            }
        }
        if (cut_now()) return end(*cut_now());
        this->StartWrite(&message_);
    }
    void end(const grpc::Status& status) { this->Finish(cut_now().value_or(status)); }

    /// For prepare(): `begin` makes the call wait; a call that was cut ends instead. Runs under the lock, so
    /// that a cut comes either before (and is found here) or after (and finds the call waiting). The call may
    /// be over when this returns.
    template <class Begin>
    void wait(const Begin& begin) {
        {
            const std::lock_guard lock(mutex_);
            if (!cut_) return begin();
        }
        end(*cut_now());
    }

    Message message_;

private:
    void OnWriteDone(bool ok) final {
        taken();
        {
            const std::lock_guard lock(mutex_);
            writing_ = false;
        }
        if (!ok || cut_now()) return end(grpc::Status::CANCELLED);
        prepare();
    }
    void OnCancel() final { interrupt(grpc::Status::CANCELLED); }
    void OnDone() final {
        if (admitted_) calls_.leave(*this);
        delete this;
    }

    void interrupt(const grpc::Status& status) {
        bool writing = false;
        {
            const std::lock_guard lock(mutex_);
            if (!cut_) cut_ = status;
            writing = writing_;
        }
        if (writing) return context_.TryCancel();  // OnWriteDone follows
        if (stop_waiting()) end(status);
    }
    [[nodiscard]] std::optional<grpc::Status> cut_now() {
        const std::lock_guard lock(mutex_);
        return cut_;
    }

    OpenCalls& calls_;
    grpc::CallbackServerContext& context_;
    bool admitted_ = false;
    std::mutex mutex_;
    bool writing_ = false;
    std::optional<grpc::Status> cut_;
};

}  // namespace assay::node
