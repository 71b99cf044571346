// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/reactors.hpp"

namespace assay::node {
namespace {

class AnswerReactor final : public grpc::ServerUnaryReactor, public OpenCall {
public:
    AnswerReactor(OpenCalls& calls, grpc::CallbackServerContext& context)
        : OpenCall(CallKind::kAnswer, caller_of(context)), calls_(calls), context_(context) {}

    void start(FairPool& pool, std::function<grpc::Status()> work) {
        admitted_ = calls_.admit(*this);
        if (!admitted_) return Finish(too_many_calls());
        pool.add(caller().name, [this, work = std::move(work)] {
            const grpc::Status status = cut_ ? grpc::Status::CANCELLED : work();
            handed_out();
            Finish(status);
        });
    }

    void cut() override {
        cut_ = true;
        context_.TryCancel();
    }

private:
    void OnCancel() override { cut_ = true; }
    void OnDone() override {
        if (admitted_) calls_.leave(*this);
        delete this;
    }

    OpenCalls& calls_;
    grpc::CallbackServerContext& context_;
    bool admitted_ = false;
    std::atomic<bool> cut_ = false;
};

}  // namespace

grpc::ServerUnaryReactor* answer(OpenCalls& calls, FairPool& pool, grpc::CallbackServerContext& context,
                                 std::function<grpc::Status()> work) {
    auto* const call = new AnswerReactor(calls, context);  // deletes itself in OnDone
    call->start(pool, std::move(work));
    return call;
}

}  // namespace assay::node
