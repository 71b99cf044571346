// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "assay.grpc.pb.h"
#include "contracts/base/blob_id.hpp"
#include "node/rpc/channel.hpp"
#include "node/rpc/client_errors.hpp"
#include "node/rpc/description.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/traffic.hpp"
#include "node/rpc/wire.hpp"
#include "node/seams/outward.hpp"

namespace assay::node {
namespace {

// Cancels a call when nothing has arrived for a while. A deadline would not do: a large blob over a thin
// line may take hours and still move.
class StallTimer {
public:
    StallTimer(grpc::ClientContext& context, std::chrono::milliseconds patience)
        : thread_([this, &context, patience](const std::stop_token& stop) {
              std::unique_lock lock(mutex_);
              while (!stop.stop_requested()) {
                  moved_ = false;
                  const bool woken = wake_.wait_for(lock, stop, patience, [this] { return moved_; });
                  if (stop.stop_requested()) return;
                  if (woken) continue;
                  stalled_ = true;
                  context.TryCancel();
                  return;
              }
          }) {}
    void moved() {
        {
            const std::lock_guard lock(mutex_);
            moved_ = true;
        }
        wake_.notify_one();
    }
    [[nodiscard]] bool stalled() const { return stalled_; }

private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool moved_ = false;
    std::atomic<bool> stalled_ = false;
    std::jthread thread_;
};

/// Whether this process could open nothing now: what it cannot reach says nothing about who is there.
bool out_of_descriptors() {
    const int probe = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (probe >= 0) {
        (void)::close(probe);
        return false;
    }
    return errno == EMFILE || errno == ENFILE;
}

class GrpcBlobs final : public BlobService {
public:
    GrpcBlobs(ClientOptions options, const std::shared_ptr<grpc::Channel>& channel)
        : options_(std::move(options)), stub_(v1::Blobs::NewStub(channel)) {}

    FetchOutcome<BlobDescription> describe(const BlobId& id) override {
        grpc::ClientContext context;
        set_deadline(context, options_.deadline);
        v1::DescribeRequest request;
        request.set_id(wire_text(id.view()));
        v1::DescribeResponse response;
        count_sent(options_.traffic, request.ByteSizeLong());
        const grpc::Status status = stub_->Describe(&context, request, &response);
        if (!status.ok()) return by_status(status, options_.address);
        count_received(options_.traffic, response.ByteSizeLong());
        return to_description(response, options_.address);
    }

    FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) override {
        grpc::ClientContext context;
        v1::FetchRequest request;
        request.set_id(wire_text(id.view()));
        request.set_first_chunk(first_chunk);
        StallTimer timer(context, options_.stall_timeout);
        count_sent(options_.traffic, request.ByteSizeLong());
        const auto reader = stub_->Fetch(&context, request);
        v1::Chunk chunk;
        while (reader->Read(&chunk)) {
            timer.moved();
            count_received(options_.traffic, chunk.ByteSizeLong());
            if (chunk.index() != first_chunk || chunk.data().size() > base::kBlobChunk) {
                context.TryCancel();
                return bad_answer(options_.address, "a chunk that was not asked for");
            }
            if (!handler(first_chunk, base::as_bytes(chunk.data()))) {
                context.TryCancel();
                return {};
            }
            ++first_chunk;
        }
        const grpc::Status status = reader->Finish();
        if (timer.stalled()) {
            return base::fail(base::ErrorKind::kUnreachable,
                              options_.address + " sent nothing for " +
                                  std::to_string(options_.stall_timeout.count()) +
                                  " ms in the middle of a blob",
                              "try another holder");
        }
        if (!status.ok()) return by_status(status, options_.address);
        return {};
    }

private:
    ClientOptions options_;
    std::unique_ptr<v1::Blobs::Stub> stub_;
};

}  // namespace

base::Failed<FetchFailure> by_status(const grpc::Status& status, const std::string& address) {
    FetchFault fault = FetchFault::kNotServed;
    // The holder's limits and our own clients' quota are told by the same code.
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) fault = FetchFault::kBusy;
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE && out_of_descriptors())
        fault = FetchFault::kOwnMachine;
    return base::failed(FetchFailure(to_error(status, address), fault));
}

FetchOutcome<BlobDescription> to_description(const v1::DescribeResponse& response,
                                             const std::string& holder) {
    BlobDescription description;
    description.size = response.size();
    const base::ByteView leaves = base::as_bytes(response.leaves());
    if (leaves.size() % 32 != 0) return bad_answer(holder, "a leaf list that is cut short");
    for (std::size_t at = 0; at < leaves.size(); at += 32) {
        description.leaves.push_back(base::hash_from(leaves.subspan(at, 32)));
    }
    auto held = read_held(response.held(), description.leaves.size());
    if (!held) return bad_answer(holder, "a list of chunks that is not of this blob");
    description.held = *std::move(held);
    return description;
}

base::Outcome<std::unique_ptr<BlobService>> connect_blobs(const ClientOptions& options) {
    if (const auto node = outward_node(options.address)) {
        return base::fail(base::ErrorKind::kUnreachable,
                          "node " + node->brief() + " accepts no connection and opens none to us",
                          "the verifiers of its job have its blobs");
    }
    ASSAY_ASSIGN(const auto channel, open_channel(options, ChannelUse::kPeer));
    return std::unique_ptr<BlobService>(std::make_unique<GrpcBlobs>(options, channel));
}

}  // namespace assay::node
