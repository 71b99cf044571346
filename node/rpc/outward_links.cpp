// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>

#include "assay.grpc.pb.h"
#include "node/rpc/channel.hpp"
#include "node/rpc/description.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/outward.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

void refuse(v1::LendAnswer& answer, const base::Error& error) {
    const grpc::Status status = to_status(error);
    answer.mutable_refusal()->set_code(static_cast<std::uint32_t>(status.error_code()));
    answer.mutable_refusal()->set_text(status.error_message());
}

void give_description(BlobService& store, const v1::DescribeRequest& request, v1::LendAnswer& answer) {
    const auto id = wire_hash(request.id());
    if (!id) return refuse(answer, {base::ErrorKind::kUsage, "a blob id has 32 bytes", {}});
    const auto description = store.describe(*id);
    if (!description.ok()) return refuse(answer, description.error());
    write_description(*description, *answer.mutable_description());
}

void give_chunk(BlobService& store, const v1::FetchRequest& request, v1::LendAnswer& answer) {
    const auto id = wire_hash(request.id());
    if (!id) return refuse(answer, {base::ErrorKind::kUsage, "a blob id has 32 bytes", {}});
    const auto given =
        store.fetch(*id, request.first_chunk(), [&](std::uint64_t index, base::ByteView bytes) {
            answer.mutable_chunk()->set_index(index);
            answer.mutable_chunk()->set_data(wire_text(bytes));
            return false;
        });
    if (!given.ok()) return refuse(answer, given.error());
    if (!answer.has_chunk()) refuse(answer, {base::ErrorKind::kNotFound, "the blob ends before", {}});
}

}  // namespace

// One peer, one thread, one call at a time.
class OutwardLinks::Link {
public:
    Link(OutwardLinks& links, OutwardPeer peer)
        : links_(links),
          peer_(std::move(peer)),
          thread_([this](const std::stop_token& stop) { run(stop); }) {}

    void stop() { thread_.request_stop(); }
    [[nodiscard]] bool over() const { return over_; }

private:
    void run(const std::stop_token& stop) {
        std::chrono::milliseconds pause = links_.options_.pause;
        while (!stop.stop_requested()) {
            const bool asked = one_call(stop);
            pause = asked ? links_.options_.pause : std::min(2 * pause, links_.options_.pause_most);
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, stop, pause, [] { return false; });
        }
        over_ = true;
    }

    // True when the peer took us for who we are.
    bool one_call(const std::stop_token& stop) {
        const auto channel =
            open_channel({.address = peer_.endpoint, .tls = links_.options_.tls}, ChannelUse::kPeer);
        if (!channel.ok()) {
            tell(channel.error().what);
            return false;
        }
        const auto stub = v1::Blobs::NewStub(*channel);
        grpc::ClientContext context;
        const std::stop_callback on_stop(stop, [&context] { context.TryCancel(); });
        const auto call = stub->Lend(&context);
        bool greeted = false;
        bool asked = false;
        v1::LendAsk question;
        while (call->Read(&question)) {
            v1::LendAnswer answer;
            if (question.has_challenge() && !greeted && question.challenge().size() == 32) {
                greet(question.challenge(), *answer.mutable_hello());
                greeted = true;
            } else if (question.has_describe() && greeted) {
                give_description(links_.store_, question.describe(), answer);
                asked = true;
            } else if (question.has_chunk() && greeted) {
                give_chunk(links_.store_, question.chunk(), answer);
            } else {
                context.TryCancel();
                break;
            }
            if (!call->Write(answer)) break;
        }
        const grpc::Status status = call->Finish();
        if (!stop.stop_requested()) tell(to_error(status, peer_.endpoint).what);
        return asked;
    }

    void greet(const std::string& challenge, v1::LendHello& hello) const {
        base::Bytes message = base::to_bytes(peer_.node.view());
        message.insert(message.end(), challenge.begin(), challenge.end());
        const auto signature = links_.key_.sign(kOutwardDomain, links_.options_.chain_id, message);
        hello.set_node(wire_text(links_.key_.public_key().view()));
        hello.set_signature(wire_text(signature.bytes));
    }

    void tell(const std::string& what) {
        if (what == said_) return;
        said_ = what;
        links_.log_.info("the call to verifier " + peer_.node.brief() + " ended: " + what +
                         "; it is opened again");
    }

    OutwardLinks& links_;
    OutwardPeer peer_;
    std::string said_;
    std::atomic<bool> over_ = false;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;  // last: it uses everything above
};

OutwardLinks::OutwardLinks(BlobService& store, const base::SecretKey& key, Log& log, OutwardOptions options)
    : store_(store), key_(key), log_(log), options_(std::move(options)) {}

OutwardLinks::~OutwardLinks() {
    for (const auto& [peer, link] : links_) link->stop();
}

void OutwardLinks::lend_to(const std::vector<OutwardPeer>& peers) {
    std::erase_if(ended_, [](const auto& link) { return link->over(); });
    for (auto link = links_.begin(); link != links_.end();) {
        if (std::find(peers.begin(), peers.end(), link->first) != peers.end()) {
            ++link;
            continue;
        }
        link->second->stop();
        ended_.push_back(std::move(link->second));
        link = links_.erase(link);
    }
    for (const OutwardPeer& peer : peers) {
        auto& link = links_[peer];
        if (!link) link = std::make_unique<Link>(*this, peer);
    }
}

}  // namespace assay::node
