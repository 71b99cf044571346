// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "node/runtime/ledger_link.hpp"
#include "node/runtime/strand_thread.hpp"

namespace assay::node {
namespace {

constexpr std::size_t kForBidding = 2;  ///< threads for work; the one after them is for bidding

class BlobAdapter final : public BlobPort {
public:
    BlobAdapter(BlobStore& store, ConnectFor connect, Loop& loop)
        : store_(store), connect_(std::move(connect)), loop_(loop) {}

    void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
               std::vector<Endpoint> holders) override {
        if (store_.has(id)) return loop_.post(RoleEvent(BlobFetched{request, id, {}}));
        // The same blob always goes to the same thread: asked for twice, it is fetched once. What is only
        // looked at before bidding has a thread and a download of its own: whoever serves it slowly holds up
        // no work.
        const std::size_t thread = terms.pin == Pin::kEvictable ? kForBidding : id.bytes[0] % kForBidding;
        threads_[thread].add(
            [this, request, id, terms, holders = std::move(holders)](const std::stop_token& stop) {
                const ConnectHolder connect = [&](const Endpoint& holder) {
                    return connect_(holder, terms.traffic);
                };
                loop_.post(RoleEvent(BlobFetched{
                    request, id, fetch_blob(store_, id, holders, connect, stop, nullptr, terms)}));
            });
    }

private:
    BlobStore& store_;
    ConnectFor connect_;
    Loop& loop_;
    std::array<StrandThread, kForBidding + 1> threads_;
};

}  // namespace

std::unique_ptr<BlobPort> make_blob_port(BlobStore& store, ConnectFor connect, Loop& loop) {
    return std::make_unique<BlobAdapter>(store, std::move(connect), loop);
}

}  // namespace assay::node
