// SPDX-License-Identifier: Apache-2.0
// LedgerService over gRPC: conversions only.
#include <algorithm>

#include "assay.grpc.pb.h"
#include "node/rpc/errors.hpp"
#include "node/rpc/listener.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

grpc::Status exhausted() { return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams"}; }

class LedgerAdapter final : public v1::Ledger::Service {
public:
    LedgerAdapter(LedgerService& service, std::shared_ptr<Streams> streams)
        : service_(service), streams_(std::move(streams)) {}

    grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                        v1::SubmitResponse* out) override {
        auto reply = service_.submit(base::as_bytes(request->transaction()));
        if (!reply) return to_status(reply.error());
        out->set_accepted(reply->accepted);
        out->set_reason(reply->reason);
        out->set_reason_text(reply->reason_text);
        out->set_height(reply->height);
        out->set_receipt(wire_text(reply->receipt));
        return grpc::Status::OK;
    }

    grpc::Status Get(grpc::ServerContext*, const v1::GetRequest* request, v1::GetResponse* out) override {
        auto reply = service_.get(base::as_bytes(request->key()));
        if (!reply) return to_status(reply.error());
        out->set_height(reply->height);
        out->set_state_root(wire_text(reply->state_root.view()));
        if (reply->value) out->set_value(wire_text(*reply->value));
        return grpc::Status::OK;
    }

    grpc::Status Scan(grpc::ServerContext*, const v1::ScanRequest* request, v1::ScanResponse* out) override {
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
    }

    grpc::Status GetBlock(grpc::ServerContext* context, const v1::GetBlockRequest* request,
                          grpc::ServerWriter<v1::Piece>* writer) override {
        Streams::Guard guard(*streams_, *context);
        if (!guard.admitted()) return exhausted();
        auto block = service_.block(request->height());
        if (!block) return to_status(block.error());
        for (ByteView rest = *block; !rest.empty();) {
            const ByteView part = rest.first(std::min(rest.size(), kPieceBytes));
            rest = rest.subspan(part.size());
            v1::Piece piece;
            piece.set_data(wire_text(part));
            guard.writing();
            if (!writer->Write(piece)) return grpc::Status::CANCELLED;
            guard.written();
        }
        return grpc::Status::OK;
    }

    grpc::Status Subscribe(grpc::ServerContext* context, const v1::SubscribeRequest* request,
                           grpc::ServerWriter<v1::BlockPart>* writer) override {
        Streams::Guard guard(*streams_, *context);
        if (!guard.admitted()) return exhausted();
        // Headers now, so that the client knows that it is subscribed before the first block.
        writer->SendInitialMetadata();
        const auto ended =
            service_.subscribe(request->from_height(), guard.token(), [&](const BlockNotice& block) {
                guard.writing();
                const bool taken = write_block(*writer, block);
                guard.written();
                return taken;
            });
        if (!ended) return to_status(ended.error());
        return {grpc::StatusCode::UNAVAILABLE, "the subscription ended"};
    }

    grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest*, v1::StatusResponse* out) override {
        auto status = service_.status();
        if (!status) return to_status(status.error());
        out->set_chain_id(status->chain_id);
        out->set_height(status->height);
        out->set_state_root(wire_text(status->state_root.view()));
        out->set_sequencer(wire_text(status->sequencer.view()));
        out->set_version(status->version);
        return grpc::Status::OK;
    }

private:
    static bool write_block(grpc::ServerWriter<v1::BlockPart>& writer, const BlockNotice& block) {
        ByteView rest = block.events;
        v1::BlockPart part;
        part.set_header(wire_text(block.header));
        do {
            const ByteView piece = rest.first(std::min(rest.size(), kPieceBytes));
            rest = rest.subspan(piece.size());
            part.set_height(block.height);
            part.set_events(wire_text(piece));
            part.set_last(rest.empty());
            if (!writer.Write(part)) return false;
            part.clear_header();
        } while (!rest.empty());
        return true;
    }

    LedgerService& service_;
    std::shared_ptr<Streams> streams_;
};

}  // namespace

base::Outcome<std::unique_ptr<RpcServer>> serve_ledger(LedgerService& service, const ServerOptions& options) {
    auto streams = std::make_shared<Streams>(options.limits.streams);
    return listen({std::make_unique<LedgerAdapter>(service, streams), streams}, options, "ledger");
}

}  // namespace assay::node
