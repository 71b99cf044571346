// SPDX-License-Identifier: Apache-2.0
// BlobService over gRPC: conversions only.
#include "assay.grpc.pb.h"
#include "node/rpc/errors.hpp"
#include "node/rpc/listener.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

grpc::Status not_an_id() { return {grpc::StatusCode::INVALID_ARGUMENT, "a blob id has 32 bytes"}; }

class BlobAdapter final : public v1::Blobs::Service {
public:
    BlobAdapter(BlobService& service, std::shared_ptr<Streams> streams)
        : service_(service), streams_(std::move(streams)) {}

    grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest* request,
                          v1::DescribeResponse* out) override {
        const auto id = wire_hash(request->id());
        if (!id) return not_an_id();
        auto description = service_.describe(*id);
        if (!description) return to_status(description.error());
        out->set_size(description->size);
        for (const base::Hash256& leaf : description->leaves)
            out->mutable_leaves()->append(wire_text(leaf.view()));
        return grpc::Status::OK;
    }

    grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                       grpc::ServerWriter<v1::Chunk>* writer) override {
        const auto id = wire_hash(request->id());
        if (!id) return not_an_id();
        Streams::Guard guard(*streams_, *context);
        if (!guard.admitted()) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many transfers"};
        bool broken = false;
        const auto sent =
            service_.fetch(*id, request->first_chunk(), [&](std::uint64_t index, base::ByteView bytes) {
                v1::Chunk chunk;
                chunk.set_index(index);
                chunk.set_data(wire_text(bytes));
                guard.writing();
                broken = !writer->Write(chunk) || guard.token().stop_requested();
                guard.written();
                return !broken;
            });
        if (!sent) return to_status(sent.error());
        return broken ? grpc::Status::CANCELLED : grpc::Status::OK;
    }

private:
    BlobService& service_;
    std::shared_ptr<Streams> streams_;
};

}  // namespace

base::Outcome<std::unique_ptr<RpcServer>> serve_blobs(BlobService& service, const ServerOptions& options) {
    auto streams = std::make_shared<Streams>(options.limits.streams);
    return listen({std::make_unique<BlobAdapter>(service, streams), streams}, options, "blobs");
}

}  // namespace assay::node
