// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "assay.grpc.pb.h"
#include "node/rpc/channel.hpp"
#include "node/rpc/errors.hpp"
#include "node/rpc/traffic.hpp"
#include "node/rpc/wire.hpp"

namespace assay::node {
namespace {

class GrpcLedger final : public LedgerService {
public:
    GrpcLedger(ClientOptions options, const std::shared_ptr<grpc::Channel>& channel)
        : options_(std::move(options)), stub_(v1::Ledger::NewStub(channel)) {}

    Outcome<SubmitReply> submit(ByteView signed_transaction) override {
        v1::SubmitRequest request;
        request.set_transaction(wire_text(signed_transaction));
        v1::SubmitResponse response;
        ASSAY_TRY(call(&v1::Ledger::Stub::Submit, request, response));
        if (response.accepted() && response.reason() != 0) {
            return bad_answer(options_.address, "a transaction that was accepted, with a reason against it");
        }
        return SubmitReply{.accepted = response.accepted(),
                           .reason = response.reason(),
                           .reason_text = cleaned(response.reason_text()),
                           .height = response.height(),
                           .receipt = wire_bytes(response.receipt())};
    }

    Outcome<StateValue> get(ByteView key) override {
        v1::GetRequest request;
        request.set_key(wire_text(key));
        v1::GetResponse response;
        ASSAY_TRY(call(&v1::Ledger::Stub::Get, request, response));
        ASSAY_ASSIGN(const base::Hash256 root, root_of(response.state_root()));
        StateValue value{.height = response.height(),
                         .state_root = root,
                         .value = std::nullopt,
                         .proof = wire_bytes(response.proof())};
        if (response.has_value()) value.value = wire_bytes(response.value());
        return value;
    }

    Outcome<StatePage> scan(const ScanRequest& wanted) override {
        v1::ScanRequest request;
        request.set_prefix(wire_text(wanted.prefix));
        request.set_from(wire_text(wanted.from));
        request.set_limit(wanted.limit);
        v1::ScanResponse response;
        ASSAY_TRY(call(&v1::Ledger::Stub::Scan, request, response));
        ASSAY_ASSIGN(const base::Hash256 root, root_of(response.state_root()));
        StatePage page{.height = response.height(), .state_root = root, .entries = {}, .next = std::nullopt};
        Bytes last = wanted.from;
        for (const v1::Entry& entry : response.entries()) {
            Bytes key = wire_bytes(entry.key());
            // Ascending and under the prefix, or a lying node could keep us paging for ever.
            const bool first = page.entries.empty();
            if (key.size() < wanted.prefix.size() ||
                !std::equal(wanted.prefix.begin(), wanted.prefix.end(), key.begin()) ||
                (first ? key < last : key <= last)) {
                return bad_answer(options_.address, "keys out of order or not asked for");
            }
            last = key;
            page.entries.emplace_back(std::move(key), wire_bytes(entry.value()));
        }
        if (response.has_next()) page.next = wire_bytes(response.next());
        if (page.next && *page.next <= last) return bad_answer(options_.address, "a page that leads back");
        return page;
    }

    Outcome<Bytes> block(std::uint64_t height) override {
        v1::GetBlockRequest request;
        request.set_height(height);
        Bytes bytes;
        bool too_large = false;
        const grpc::Status status = again_where_busy([&](grpc::ClientContext& context) {
            count_sent(Traffic::kLedger, request.ByteSizeLong());
            const auto reader = stub_->GetBlock(&context, request);
            v1::Piece piece;
            bytes.clear();
            while (!too_large && reader->Read(&piece)) {
                count_received(Traffic::kLedger, piece.ByteSizeLong());
                too_large = bytes.size() + piece.data().size() > options_.block_bytes_max;
                if (!too_large) bytes.insert(bytes.end(), piece.data().begin(), piece.data().end());
            }
            if (too_large) context.TryCancel();
            return reader->Finish();
        });
        if (too_large) {
            return bad_answer(options_.address,
                              "a block above " + std::to_string(options_.block_bytes_max >> 20U) + " MiB");
        }
        if (!status.ok()) return base::failed(to_error(status, options_.address));
        return bytes;
    }

    Outcome<LedgerStatus> status() override {
        v1::StatusResponse response;
        ASSAY_TRY(call(&v1::Ledger::Stub::Status, v1::StatusRequest{}, response));
        ASSAY_ASSIGN(const base::Hash256 root, root_of(response.state_root()));
        const auto sequencer = wire_hash(response.sequencer());
        if (!sequencer) return bad_answer(options_.address, "a sequencer key that is not 32 bytes");
        return LedgerStatus{.chain_id = response.chain_id(),
                            .height = response.height(),
                            .state_root = root,
                            .sequencer = base::PublicKey{sequencer->bytes},
                            .version = response.version()};
    }

    Outcome<void> subscribe(std::uint64_t from_height, std::stop_token stop,
                            const BlockHandler& handler) override {
        from_height = std::max<std::uint64_t>(from_height, 1);  // the first block there is
        for (int made = 0;; ++made) {
            const std::uint64_t before = from_height;
            ASSAY_ASSIGN(const std::optional<grpc::Status> ended, follow(from_height, stop, handler));
            if (!ended) return {};
            if (from_height > before) made = 0;
            if (!is_too_many_calls(*ended) || made >= kAgain)
                return base::failed(to_error(*ended, options_.address));
            if (!wait_unless(stop, kPause * (1 << made))) return {};
        }
    }

private:
    /// How often a call is made again that a busy node refused, and the first pause; each is twice as long as
    /// the one before.
    static constexpr int kAgain = 4;
    static constexpr auto kPause = std::chrono::milliseconds(100);

    /// One subscription. Raises `height` with every block that the handler took. Returns how the node refused
    /// or broke it, or nothing when the handler or `stop` ended it.
    Outcome<std::optional<grpc::Status>> follow(std::uint64_t& height, const std::stop_token& stop,
                                                const BlockHandler& handler) {
        grpc::ClientContext context;  // no deadline: a subscription lives as long as its reader
        const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
        v1::SubscribeRequest request;
        request.set_from_height(height);
        count_sent(Traffic::kLedger, request.ByteSizeLong());
        const auto reader = stub_->Subscribe(&context, request);
        v1::BlockPart part;
        std::optional<BlockNotice> block;  // of which a part has come
        while (reader->Read(&part)) {
            count_received(Traffic::kLedger, part.ByteSizeLong());
            if (const char* const fault = fault_of(part, height, block)) {
                context.TryCancel();
                return bad_answer(options_.address, fault);
            }
            if (!block) block = BlockNotice{part.height(), wire_bytes(part.header()), {}};
            block->events.insert(block->events.end(), part.events().begin(), part.events().end());
            if (!part.last()) continue;
            if (!handler(*block)) {
                context.TryCancel();
                return std::optional<grpc::Status>();
            }
            block.reset();
            ++height;
        }
        const grpc::Status status = reader->Finish();
        if (stop.stop_requested()) return std::optional<grpc::Status>();
        if (status.ok())
            return base::fail(base::ErrorKind::kUnreachable, options_.address + " ended the subscription");
        return std::optional(status);
    }

    /// What is wrong with a part of the block at `height`; null when nothing is. A block ends: each of its
    /// parts brings events or is the last, and the first alone has the header.
    static const char* fault_of(const v1::BlockPart& part, std::uint64_t height,
                                const std::optional<BlockNotice>& begun) {
        if (part.height() != height) return "a gap in the blocks";
        if (part.header().empty() != begun.has_value()) return "a block without one header";
        if (part.events().empty() && !part.last()) return "a part of a block with nothing in it";
        if (begun && begun->events.size() + part.events().size() > kAnswerBytesMax)
            return "a block above 64 MiB";
        return nullptr;
    }

    /// False when `stop` came first.
    static bool wait_unless(const std::stop_token& stop, std::chrono::milliseconds pause) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        wake.wait_for(lock, stop, pause, [] { return false; });
        return !stop.stop_requested();
    }

    /// A node that has no room for one more call refuses it before it looks at it. Makes the call again then,
    /// up to kAgain times, within one deadline.
    template <class Attempt>
    grpc::Status again_where_busy(const Attempt& attempt) {
        const auto deadline = std::chrono::system_clock::now() + options_.deadline;
        for (int made = 0;; ++made) {
            grpc::ClientContext context;
            context.set_deadline(deadline);
            const grpc::Status status = attempt(context);
            const auto pause = kPause * (1 << made);
            const bool again = is_too_many_calls(status) && made < kAgain &&
                               std::chrono::system_clock::now() + pause < deadline;
            if (!again) return status;
            std::this_thread::sleep_for(pause);
        }
    }

    template <class Method, class Request, class Response>
    Outcome<void> call(Method method, const Request& request, Response& response) {
        const grpc::Status status = again_where_busy([&](grpc::ClientContext& context) {
            count_sent(Traffic::kLedger, request.ByteSizeLong());
            return (stub_.get()->*method)(&context, request, &response);
        });
        if (!status.ok()) return base::failed(to_error(status, options_.address));
        count_received(Traffic::kLedger, response.ByteSizeLong());
        return {};
    }

    Outcome<base::Hash256> root_of(const std::string& bytes) const {
        const auto root = wire_hash(bytes);
        if (!root) return bad_answer(options_.address, "a state root that is not 32 bytes");
        return *root;
    }

    ClientOptions options_;
    std::unique_ptr<v1::Ledger::Stub> stub_;
};

}  // namespace

base::Outcome<std::unique_ptr<LedgerService>> connect_ledger(const ClientOptions& options) {
    ASSAY_ASSIGN(const auto channel, open_channel(options, ChannelUse::kLedger));
    return std::unique_ptr<LedgerService>(std::make_unique<GrpcLedger>(options, channel));
}

}  // namespace assay::node
