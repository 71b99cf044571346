// SPDX-License-Identifier: Apache-2.0
// Gives processes blobs of holders that accept no connection: the holder opens a call, and the called process
// asks it over that call. The called process authenticates the holder by its node key, and verifies its
// answers like any other holder's.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "node/rpc/tls.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/clock.hpp"
#include "node/seams/log.hpp"
#include "node/seams/outward.hpp"

namespace assay::node {

/// Domain of the signature over the called node's key and its challenge.
inline constexpr std::string_view kOutwardDomain = "assay/outward/v1";

class OutwardLine;

/// The calls that holders have opened to this process, by node key. Thread-safe.
class OutwardDesk {
public:
    /// `me`: our node key, for which callers must have signed.
    OutwardDesk(std::string chain_id, const base::PublicKey& me, Random& random);

    /// Lets these nodes, and no others, open calls from now on. Cuts open calls of others.
    void admit(const std::set<base::PublicKey>& nodes);
    /// Returns a client that asks `node` for blobs; kUnreachable while it has no call open. An answer that
    /// takes longer than `patience` ends the call.
    base::Outcome<std::unique_ptr<BlobService>> holder(
        const base::PublicKey& node, Traffic traffic,
        std::chrono::milliseconds patience = std::chrono::milliseconds(10'000));

    // For the server of the calls.
    std::string challenge();
    /// Succeeds when `node` may open a call and signed this challenge for us; else kKey, which says what
    /// failed.
    [[nodiscard]] base::Outcome<void> check(const std::string& node, const std::string& signature,
                                            const std::string& challenge) const;
    /// Takes a new call of `node`. If it has another call open, that one is cut.
    void open(const base::PublicKey& node, const std::shared_ptr<OutwardLine>& line);
    void close(const base::PublicKey& node, const std::shared_ptr<OutwardLine>& line);

private:
    std::string chain_id_;
    base::PublicKey me_;
    Random& random_;
    mutable std::mutex mutex_;
    std::set<base::PublicKey> admitted_;
    std::map<base::PublicKey, std::shared_ptr<OutwardLine>> lines_;
};

struct OutwardOptions {
    std::string chain_id;
    std::optional<TlsFiles> tls;
    std::chrono::milliseconds pause{250};  ///< before a call is opened again; doubled up to `pause_most`
    std::chrono::milliseconds pause_most{16'000};
};

/// The holder's side: keeps one call open to each peer and answers from `store`. Every argument outlives it.
class OutwardLinks {
public:
    OutwardLinks(BlobService& store, const base::SecretKey& key, Log& log, OutwardOptions options);
    ~OutwardLinks();

    /// Keeps calls open to these peers, and no others, from now on. Does not block. Not thread-safe.
    void lend_to(const std::vector<OutwardPeer>& peers);

private:
    class Link;
    BlobService& store_;
    const base::SecretKey& key_;
    Log& log_;
    OutwardOptions options_;
    std::map<OutwardPeer, std::unique_ptr<Link>> links_;
    std::vector<std::unique_ptr<Link>> ended_;  ///< ended links that may still have a thread
};

}  // namespace assay::node
