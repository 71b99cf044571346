// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/lend_call.hpp"

#include <utility>

#include "node/rpc/errors.hpp"
#include "node/rpc/reactors.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {

LendCall::LendCall(OpenCalls& calls, OutwardDesk* desk, grpc::CallbackServerContext& context)
    : OpenCall(CallKind::kSubscription, caller_of(context)), calls_(calls), desk_(desk), context_(context) {}

LendCall* LendCall::start() {
    admitted_ = calls_.admit(*this);
    if (!admitted_) {
        end(too_many_calls());
    } else if (desk_ == nullptr) {
        end({grpc::StatusCode::PERMISSION_DENIED, "nobody here asks holders over calls of theirs"});
    } else {
        challenge_ = desk_->challenge();
        v1::LendAsk question;
        question.set_challenge(challenge_);
        send(question);
    }
    return this;
}

void LendCall::send(const v1::LendAsk& question) {
    {
        const std::lock_guard lock(mutex_);
        if (ended_ || failed_) return;
        question_ = question;
        out_ = 2;
        handed_out();
    }
    StartWrite(&question_);
    StartRead(&answer_);
}

void LendCall::one_done(bool ok) {
    {
        const std::lock_guard lock(mutex_);
        failed_ = failed_ || !ok;
        if (--out_ > 0) return;
    }
    taken();
    bool failed = false;
    {
        const std::lock_guard lock(mutex_);
        failed = failed_;
    }
    if (failed) return end({grpc::StatusCode::UNAVAILABLE, "the call was ended"});
    if (!line_) return on_hello();
    line_->answered(std::exchange(answer_, {}));
}

void LendCall::on_hello() {
    if (!answer_.has_hello()) {
        return end({grpc::StatusCode::INVALID_ARGUMENT, "a holder's call begins with its node key"});
    }
    const v1::LendHello hello = answer_.hello();
    const auto known = desk_->check(hello.node(), hello.signature(), challenge_);
    if (!known.ok()) return end(to_status(known.error()));
    std::copy(hello.node().begin(), hello.node().end(), node_.bytes.begin());
    // Neither is called after OnDone() has told the line that the call is over.
    line_ = std::make_shared<OutwardLine>([this](const v1::LendAsk& question) { send(question); },
                                          [this] { cut(); });
    desk_->open(node_, line_);
}

void LendCall::cut() {
    bool finish = false;
    {
        const std::lock_guard lock(mutex_);
        failed_ = true;
        finish = out_ == 0 && !std::exchange(ended_, ended_ || out_ == 0);
    }
    if (finish) return Finish({grpc::StatusCode::UNAVAILABLE, "the call was ended by the server"});
    context_.TryCancel();  // what is out comes back, and ends the call
}

void LendCall::end(const grpc::Status& status) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(ended_, true)) return;
    }
    Finish(status);
}

void LendCall::OnDone() {
    if (line_) {
        desk_->close(node_, line_);
        line_->broken();
    }
    if (admitted_) calls_.leave(*this);
    delete this;
}

}  // namespace assay::node
