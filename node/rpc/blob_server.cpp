// SPDX-License-Identifier: Apache-2.0
// BlobService over gRPC: conversions only.
#include "assay.grpc.pb.h"
#include "node/rpc/description.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/lend_call.hpp"
#include "node/rpc/listener.hpp"
#include "node/rpc/reactors.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

/// One disk reads for everybody, and hashing a chunk takes a core for a millisecond.
constexpr int kBlobReaders = 4;

grpc::Status not_an_id() { return {grpc::StatusCode::INVALID_ARGUMENT, "a blob id has 32 bytes"}; }

// A blob from a chunk on. Each chunk is read when the one before was taken: a slow client holds one chunk of
// memory and no thread.
class FetchCall final : public WriteCall<v1::Chunk> {
public:
    FetchCall(OpenCalls& calls, FairPool& pool, BlobService& service, grpc::CallbackServerContext& context,
              const v1::FetchRequest& request)
        : WriteCall(calls, context, CallKind::kTransfer),
          pool_(pool),
          service_(service),
          id_(wire_hash(request.id())),
          next_(request.first_chunk()) {}

private:
    void prepare() override {
        if (!id_) return end(not_an_id());
        pool_.add(caller().name, [this] {
            bool more = false;
            const auto read = service_.fetch(*id_, next_, [&](std::uint64_t index, base::ByteView bytes) {
                more = true;
                message_.set_index(index);
                message_.set_data(wire_text(bytes));
                return false;
            });
            if (!read) return end(to_status(read.error()));
            if (!more) return end(grpc::Status::OK);
            ++next_;
            send();
        });
    }

    FairPool& pool_;
    BlobService& service_;
    std::optional<BlobId> id_;
    std::uint64_t next_;
};

class BlobCalls final : public v1::Blobs::CallbackService, public Adapter {
public:
    BlobCalls(BlobService& service, const ServerLimits& limits, OutwardDesk* desk)
        : service_(service), desk_(desk), calls_(limits) {}

    grpc::Service& service() override { return *this; }
    void stop() override { calls_.stop(); }

    grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context,
                                       const v1::DescribeRequest* request,
                                       v1::DescribeResponse* out) override {
        return answer(calls_, readers_, *context, [this, request, out] {
            const auto id = wire_hash(request->id());
            if (!id) return not_an_id();
            auto description = service_.describe(*id);
            if (!description) return to_status(description.error());
            write_description(*description, *out);
            return grpc::Status::OK;
        });
    }

    grpc::ServerWriteReactor<v1::Chunk>* Fetch(grpc::CallbackServerContext* context,
                                               const v1::FetchRequest* request) override {
        // Deletes itself when it is over.
        return (new FetchCall(calls_, readers_, service_, *context, *request))->start();
    }

    grpc::ServerBidiReactor<v1::LendAnswer, v1::LendAsk>* Lend(
        grpc::CallbackServerContext* context) override {
        // Deletes itself when it is over.
        return (new LendCall(calls_, desk_, *context))->start();
    }

private:
    BlobService& service_;
    OutwardDesk* desk_;
    OpenCalls calls_;
    FairPool readers_{kBlobReaders};
};

}  // namespace

base::Outcome<std::unique_ptr<RpcServer>> serve_blobs(BlobService& service, const ServerOptions& options,
                                                      OutwardDesk* desk) {
    return listen(std::make_unique<BlobCalls>(service, options.limits, desk), options, "blobs");
}

}  // namespace assay::node
