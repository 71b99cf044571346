// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "contracts/base/blob_id.hpp"
#include "node/rpc/client_errors.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/outward.hpp"
#include "node/rpc/outward_line.hpp"
#include "node/rpc/traffic.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

/// How often an answer's patience a question waits for its turn.
constexpr int kTurns = 4;

// A holder, asked over the call that it opened.
class OutwardBlobs final : public BlobService {
public:
    OutwardBlobs(std::shared_ptr<OutwardLine> line, std::string name, Traffic traffic,
                 std::chrono::milliseconds patience)
        : line_(std::move(line)), name_(std::move(name)), traffic_(traffic), patience_(patience) {}

    FetchOutcome<BlobDescription> describe(const BlobId& id) override {
        v1::LendAsk question;
        question.mutable_describe()->set_id(wire_text(id.view()));
        ASSAY_ASSIGN(const v1::LendAnswer answer, ask(question));
        if (!answer.has_description()) return out_of_turn();
        return to_description(answer.description(), name_);
    }

    FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) override {
        ASSAY_ASSIGN(const BlobDescription description, describe(id));
        for (std::uint64_t next = first_chunk; next < description.leaves.size(); ++next) {
            v1::LendAsk question;
            question.mutable_chunk()->set_id(wire_text(id.view()));
            question.mutable_chunk()->set_first_chunk(next);
            ASSAY_ASSIGN(const v1::LendAnswer answer, ask(question));
            if (!answer.has_chunk() || answer.chunk().index() != next ||
                answer.chunk().data().size() > base::kBlobChunk) {
                return out_of_turn();
            }
            if (!handler(next, base::as_bytes(answer.chunk().data()))) return {};
        }
        return {};
    }

private:
    FetchOutcome<v1::LendAnswer> ask(const v1::LendAsk& question) {
        count_sent(traffic_, question.ByteSizeLong());
        ASSAY_ASSIGN(v1::LendAnswer answer, line_->ask(question, patience_));
        count_received(traffic_, answer.ByteSizeLong());
        if (answer.has_refusal()) {
            const v1::LendRefusal& refusal = answer.refusal();
            const bool known = refusal.code() > 0 && refusal.code() <= grpc::StatusCode::UNAUTHENTICATED;
            return by_status(
                {known ? static_cast<grpc::StatusCode>(refusal.code()) : grpc::StatusCode::UNKNOWN,
                 refusal.text()},
                name_);
        }
        return answer;
    }
    base::Failed<FetchFailure> out_of_turn() {
        line_->cut();
        return base::failed(FetchFailure(
            {base::ErrorKind::kVerification, name_ + " gave what was not asked for", "try another holder"}));
    }

    std::shared_ptr<OutwardLine> line_;
    std::string name_;
    Traffic traffic_;
    std::chrono::milliseconds patience_;
};

base::Failed<FetchFailure> no_line(const std::string& why) {
    return base::failed(FetchFailure({base::ErrorKind::kUnreachable, why, "it opens its calls again"}));
}

}  // namespace

FetchOutcome<v1::LendAnswer> OutwardLine::ask(const v1::LendAsk& question,
                                              std::chrono::milliseconds patience) {
    const std::unique_lock turn(turn_, kTurns * patience);
    if (!turn.owns_lock()) {
        return base::failed(FetchFailure({base::ErrorKind::kUnreachable, "the holder's call is in use", {}},
                                         FetchFault::kBusy));
    }
    std::unique_lock lock(mutex_);
    if (!open_) return no_line("the holder's call is over");
    answer_.reset();
    send_(question);
    if (!wake_.wait_for(lock, patience, [this] { return answer_ || !open_; })) {
        if (std::exchange(open_, false)) cut_();
        return no_line("the holder answered nothing for " + std::to_string(patience.count()) + " ms");
    }
    if (!answer_) return no_line("the holder's call ended");
    return *std::exchange(answer_, std::nullopt);
}

void OutwardLine::answered(v1::LendAnswer answer) {
    {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
    }
    wake_.notify_all();
}

void OutwardLine::broken() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    wake_.notify_all();
}

void OutwardLine::cut() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(open_, false)) cut_();
    wake_.notify_all();
}

OutwardDesk::OutwardDesk(std::string chain_id, const base::PublicKey& me, Random& random)
    : chain_id_(std::move(chain_id)), me_(me), random_(random) {}

void OutwardDesk::admit(const std::set<base::PublicKey>& nodes) {
    std::vector<std::shared_ptr<OutwardLine>> strangers;
    {
        const std::lock_guard lock(mutex_);
        admitted_ = nodes;
        for (const auto& [node, line] : lines_) {
            if (!nodes.contains(node)) strangers.push_back(line);
        }
    }
    for (const auto& line : strangers) line->cut();
}

base::Outcome<std::unique_ptr<BlobService>> OutwardDesk::holder(const base::PublicKey& node, Traffic traffic,
                                                                std::chrono::milliseconds patience) {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(node);
    if (found == lines_.end()) {
        return base::fail(base::ErrorKind::kUnreachable,
                          "node " + node.brief() + " accepts no connection and has no call open here",
                          "it opens one once it knows that we work for its job");
    }
    return std::unique_ptr<BlobService>(
        std::make_unique<OutwardBlobs>(found->second, "node " + node.brief(), traffic, patience));
}

std::string OutwardDesk::challenge() {
    std::array<std::uint8_t, 32> bytes{};
    const std::lock_guard lock(mutex_);
    random_.fill(bytes);
    return wire_text(bytes);
}

base::Outcome<void> OutwardDesk::check(const std::string& node, const std::string& signature,
                                       const std::string& challenge) const {
    base::PublicKey key;
    base::Signature signed_by;
    if (node.size() != key.bytes.size() || signature.size() != signed_by.bytes.size()) {
        return base::fail(base::ErrorKind::kUsage, "a holder's call begins with a node key and a signature");
    }
    std::copy(node.begin(), node.end(), key.bytes.begin());
    std::copy(signature.begin(), signature.end(), signed_by.bytes.begin());
    {
        const std::lock_guard lock(mutex_);
        if (!admitted_.contains(key)) {
            return base::fail(base::ErrorKind::kKey, "node " + key.brief() + " is a stranger here",
                              "a verifier takes calls of the miners of its jobs");
        }
    }
    base::Bytes message = base::to_bytes(me_.view());
    message.insert(message.end(), challenge.begin(), challenge.end());
    if (!base::verify(key, signed_by, kOutwardDomain, chain_id_, message)) {
        return base::fail(base::ErrorKind::kKey, "the signature is not of node " + key.brief());
    }
    return {};
}

void OutwardDesk::open(const base::PublicKey& node, const std::shared_ptr<OutwardLine>& line) {
    std::shared_ptr<OutwardLine> before;
    {
        const std::lock_guard lock(mutex_);
        before = admitted_.contains(node) ? std::exchange(lines_[node], line) : line;
    }
    if (before) before->cut();
}

void OutwardDesk::close(const base::PublicKey& node, const std::shared_ptr<OutwardLine>& line) {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(node);
    if (found != lines_.end() && found->second == line) lines_.erase(found);
}

}  // namespace assay::node
