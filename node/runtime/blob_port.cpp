// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/fetch_lanes.hpp"
#include "node/runtime/ledger_link.hpp"

namespace assay::node {
namespace {

// Threads wait for peers most of the time. Bidding has its own threads, so that a slow holder of blobs for
// bidding holds up no work.
constexpr std::size_t kForWork = 48;
constexpr std::size_t kForBidding = 8;

/// What a holder serves. Says once that chunks of a blob come: when the second is given, the first was
/// checked and stored.
class Arriving final : public BlobService {
public:
    Arriving(std::unique_ptr<BlobService> holder, std::function<void()> arrives)
        : holder_(std::move(holder)), arrives_(std::move(arrives)) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override { return holder_->describe(id); }
    FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) override {
        return holder_->fetch(id, first_chunk, [&](std::uint64_t index, base::ByteView chunk) {
            if (++chunks_ == 2) arrives_();
            return handler(index, chunk);
        });
    }

private:
    std::unique_ptr<BlobService> holder_;
    std::function<void()> arrives_;
    std::uint64_t chunks_ = 0;
};

class LoopBlobPort final : public BlobPort {
public:
    LoopBlobPort(BlobStore& store, ConnectFor connect, Loop& loop, OutwardDesk* desk, OutwardLinks* links)
        : store_(store), connect_(std::move(connect)), loop_(loop), desk_(desk), links_(links) {}

    void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
               std::vector<Endpoint> holders) override {
        if (store_.has(id)) return loop_.post(RoleEvent(BlobFetched{request, id, {}}));
        FetchLanes& lanes = terms.pin == Pin::kEvictable ? bidding_ : work_;
        lanes.add(lane_of(terms, holders),
                  [this, request, id, terms, holders = std::move(holders)](const std::stop_token& stop) {
                      fetch_now(request, id, terms, holders, stop);
                  });
    }

    void lend_to(const std::vector<OutwardPeer>& peers) override {
        if (links_ != nullptr) links_->lend_to(peers);
    }
    void admit(const std::set<base::PublicKey>& nodes) override {
        if (desk_ != nullptr) desk_->admit(nodes);
    }

private:
    /// Of one purpose, one party's blobs come one after the other; nobody else's wait for them.
    static std::string lane_of(const FetchTerms& terms, const std::vector<Endpoint>& holders) {
        const std::string whose =
            terms.owed_by.is_zero() ? (holders.empty() ? Endpoint{} : holders.back()) : terms.owed_by.hex();
        return std::to_string(static_cast<int>(terms.traffic)) + " " + whose;
    }

    void fetch_now(RequestId request, const BlobId& id, const FetchTerms& terms,
                   const std::vector<Endpoint>& holders, const std::stop_token& stop) {
        const auto connect_to = [&](const Endpoint& holder) {
            const auto node = outward_node(holder);
            if (node && desk_ != nullptr) return desk_->holder(*node, terms.traffic);
            return connect_(holder, terms.traffic);
        };
        const ConnectHolder connect =
            [&](const Endpoint& holder) -> base::Outcome<std::unique_ptr<BlobService>> {
            // Who owes the blob, and is asked first for a part of it.
            const bool owes = holder == holders.back();
            if (owes) loop_.post(RoleEvent(BlobAsked{request}));
            ASSAY_ASSIGN(auto service, connect_to(holder));
            if (!owes) return service;
            return std::unique_ptr<BlobService>(std::make_unique<Arriving>(
                std::move(service), [&] { loop_.post(RoleEvent(BlobArriving{request})); }));
        };
        loop_.post(RoleEvent(
            BlobFetched{request, id, fetch_blob(store_, id, holders, connect, stop, nullptr, terms)}));
    }

    BlobStore& store_;
    ConnectFor connect_;
    Loop& loop_;
    OutwardDesk* desk_;
    OutwardLinks* links_;
    FetchLanes work_{kForWork};
    FetchLanes bidding_{kForBidding};
};

}  // namespace

std::unique_ptr<BlobPort> make_blob_port(BlobStore& store, ConnectFor connect, Loop& loop, OutwardDesk* desk,
                                         OutwardLinks* links) {
    return std::make_unique<LoopBlobPort>(store, std::move(connect), loop, desk, links);
}

}  // namespace assay::node
