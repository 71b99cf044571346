// SPDX-License-Identifier: Apache-2.0
// LedgerService over gRPC: conversions only.
#include <algorithm>

#include "assay.grpc.pb.h"
#include "node/rpc/block_feed.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/lent_copies.hpp"
#include "node/rpc/listener.hpp"
#include "node/rpc/reactors.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

/// The service answers on a strand of its own: more threads would wait for it together.
constexpr int kLedgerReaders = 4;
/// A submission holds one until its block is on disk. Apart from the readers, so that neither waits for the
/// other.
constexpr int kSubmitters = 64;
/// A block has 4 MiB and little more: whoever needs longer holds memory and gets nowhere.
constexpr std::chrono::minutes kLongestBlock{2};

using LentBlocks = LentCopies<Bytes>;
using LentNotices = LentCopies<BlockNotice>;

// One block, read once, sent in pieces.
class BlockCall final : public WriteCall<v1::Piece> {
public:
    BlockCall(OpenCalls& calls, FairPool& pool, LedgerService& service, LentBlocks& lent,
              grpc::CallbackServerContext& context, std::uint64_t height)
        : WriteCall(calls, context, CallKind::kTransfer, kLongestBlock),
          pool_(pool),
          service_(service),
          lent_(lent),
          height_(height) {}

private:
    void prepare() override {
        if (block_) return next_piece();
        pool_.add(caller().name, [this] {
            auto block = lent_.borrow(
                height_, caller().address, [this] { return read(); },
                [](const Bytes& bytes) { return bytes.size(); });
            if (!block) return end(to_status(block.error()));
            if (*block == nullptr) return end(too_many_calls());
            block_ = *std::move(block);
            next_piece();
        });
    }
    Outcome<LentBlocks::Copy> read() {
        ASSAY_ASSIGN(Bytes bytes, service_.block(height_));
        return std::make_shared<const Bytes>(std::move(bytes));
    }
    void next_piece() {
        const ByteView rest = ByteView(*block_).subspan(sent_);
        if (rest.empty()) return end(grpc::Status::OK);
        const ByteView part = rest.first(std::min(rest.size(), kPieceBytes));
        sent_ += part.size();
        message_.set_data(wire_text(part));
        send();
    }

    FairPool& pool_;
    LedgerService& service_;
    LentBlocks& lent_;
    std::uint64_t height_;
    LentBlocks::Copy block_;
    std::size_t sent_ = 0;
};

// Every block from a height on. Between blocks it is an entry in the feed's list and nothing else.
class SubscribeCall final : public WriteCall<v1::BlockPart>, public BlockWaiter {
public:
    SubscribeCall(OpenCalls& calls, FairPool& pool, BlockFeed& feed, LentNotices& lent,
                  grpc::CallbackServerContext& context, std::uint64_t from_height)
        : WriteCall(calls, context, CallKind::kSubscription),
          pool_(pool),
          feed_(feed),
          lent_(lent),
          next_(std::max<std::uint64_t>(from_height, 1)) {
        // Headers now, so that the client knows that it is subscribed before the first block.
        StartSendInitialMetadata();
    }

private:
    void prepare() override {
        if (notice_) return next_part();
        wait([this] { feed_.wait(*this, next_); });
    }
    bool stop_waiting() override { return feed_.forget(*this); }
    void block_here() override {
        pool_.add(caller().name, [this] {
            auto notice = lent_.borrow(
                next_, caller().address, [this] { return feed_.read(next_); },
                [](const BlockNotice& block) { return block.header.size() + block.events.size(); });
            if (!notice) return end(to_status(notice.error()));
            if (*notice == nullptr) return end(too_many_calls());
            notice_ = *std::move(notice);
            ++next_;
            message_.set_header(wire_text(notice_->header));
            next_part();
        });
    }
    void feed_ended(const base::Error& why) override { end(to_status(why)); }

    void next_part() {
        const ByteView rest = ByteView(notice_->events).subspan(sent_);
        const ByteView piece = rest.first(std::min(rest.size(), kPieceBytes));
        message_.set_height(notice_->height);
        message_.set_events(wire_text(piece));
        message_.set_last(piece.size() == rest.size());
        if (sent_ > 0) message_.clear_header();
        sent_ += piece.size();
        if (message_.last()) {
            notice_.reset();
            sent_ = 0;
        }
        send();
    }

    FairPool& pool_;
    BlockFeed& feed_;
    LentNotices& lent_;
    std::uint64_t next_;
    LentNotices::Copy notice_;  ///< of which parts are left to send
    std::size_t sent_ = 0;
};

class LedgerCalls final : public v1::Ledger::CallbackService, public Adapter {
public:
    LedgerCalls(LedgerService& service, const ServerLimits& limits)
        : service_(service),
          calls_(limits),
          feed_(service),
          lent_blocks_(limits.blocks),
          lent_notices_(limits.blocks) {}

    grpc::Service& service() override { return *this; }
    void stop() override {
        calls_.stop();
        feed_.stop();
    }

    using Context = grpc::CallbackServerContext;

    grpc::ServerUnaryReactor* Submit(Context* context, const v1::SubmitRequest* request,
                                     v1::SubmitResponse* out) override {
        return answer(calls_, submitters_, *context, [this, request, out] {
            auto reply = service_.submit(base::as_bytes(request->transaction()));
            if (!reply) return to_status(reply.error());
            out->set_accepted(reply->accepted);
            out->set_reason(reply->reason);
            out->set_reason_text(reply->reason_text);
            out->set_height(reply->height);
            out->set_receipt(wire_text(reply->receipt));
            return grpc::Status::OK;
        });
    }

    grpc::ServerUnaryReactor* Get(Context* context, const v1::GetRequest* request,
                                  v1::GetResponse* out) override {
        return answer(calls_, readers_, *context, [this, request, out] {
            auto reply = service_.get(base::as_bytes(request->key()));
            if (!reply) return to_status(reply.error());
            out->set_height(reply->height);
            out->set_state_root(wire_text(reply->state_root.view()));
            if (reply->value) out->set_value(wire_text(*reply->value));
            out->set_proof(wire_text(reply->proof));
            return grpc::Status::OK;
        });
    }

    grpc::ServerUnaryReactor* Scan(Context* context, const v1::ScanRequest* request,
                                   v1::ScanResponse* out) override {
        return answer(calls_, readers_, *context, [this, request, out] {
            auto page = service_.scan({.prefix = base::to_bytes(base::as_bytes(request->prefix())),
                                       .from = base::to_bytes(base::as_bytes(request->from())),
                                       .limit = std::min(request->limit(), kScanPageMax)});
            if (!page) return to_status(page.error());
            out->set_height(page->height);
            out->set_state_root(wire_text(page->state_root.view()));
            for (const auto& [key, value] : page->entries) {
                v1::Entry* entry = out->add_entries();
                entry->set_key(wire_text(key));
                entry->set_value(wire_text(value));
            }
            if (page->next) out->set_next(wire_text(*page->next));
            return grpc::Status::OK;
        });
    }

    grpc::ServerUnaryReactor* Status(Context* context, const v1::StatusRequest*,
                                     v1::StatusResponse* out) override {
        return answer(calls_, readers_, *context, [this, out] {
            auto status = service_.status();
            if (!status) return to_status(status.error());
            out->set_chain_id(status->chain_id);
            out->set_height(status->height);
            out->set_state_root(wire_text(status->state_root.view()));
            out->set_sequencer(wire_text(status->sequencer.view()));
            out->set_version(status->version);
            return grpc::Status::OK;
        });
    }

    // Both delete themselves when they are over.
    grpc::ServerWriteReactor<v1::Piece>* GetBlock(Context* context,
                                                  const v1::GetBlockRequest* request) override {
        return (new BlockCall(calls_, readers_, service_, lent_blocks_, *context, request->height()))
            ->start();
    }
    grpc::ServerWriteReactor<v1::BlockPart>* Subscribe(Context* context,
                                                       const v1::SubscribeRequest* request) override {
        return (new SubscribeCall(calls_, readers_, feed_, lent_notices_, *context, request->from_height()))
            ->start();
    }

private:
    LedgerService& service_;
    OpenCalls calls_;
    BlockFeed feed_;
    LentBlocks lent_blocks_;
    LentNotices lent_notices_;
    FairPool readers_{kLedgerReaders};
    FairPool submitters_{kSubmitters};
};

}  // namespace

base::Outcome<std::unique_ptr<RpcServer>> serve_ledger(LedgerService& service, const ServerOptions& options) {
    return listen(std::make_unique<LedgerCalls>(service, options.limits), options, "ledger");
}

}  // namespace assay::node
