// SPDX-License-Identifier: Apache-2.0
// Gives servers and clients BlobService, what a holder of blobs offers, independent of the transport. A
// client believes no holder: it checks the leaf hashes against the blob's id, and every chunk against its
// leaf hash.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "node/seams/fetch_end.hpp"
#include "node/seams/traffic.hpp"

namespace assay::node {

/// Merkle root over the blob's 1 MiB chunks (contracts/base/blob_id.hpp).
using BlobId = base::Hash256;

struct BlobDescription {
    std::uint64_t size = 0;             ///< bytes
    std::vector<base::Hash256> leaves;  ///< leaf hash of each chunk, in order
    std::vector<bool> held = {};        ///< for each chunk whether the holder has it; empty: it has all
};

/// Whether peers can have the chunks of an unfinished download.
enum class Showing : std::uint8_t { kHidden, kShown };

/// Part number `mine` of a blob that `of` parties store together (node/blob/parts.hpp).
struct BlobShare {
    std::uint32_t mine = 0;
    std::uint32_t of = 1;
    friend bool operator==(const BlobShare&, const BlobShare&) = default;
};

/// Whether a blob may be dropped to make room.
enum class Pin : std::uint8_t { kPinned, kEvictable };

/// Whether peers can have a blob that is here. To them, a withheld blob looks like one that is not here.
enum class Serving : std::uint8_t { kServed, kWithheld };

/// What is known of a blob before it is fetched, and what it is fetched for.
struct FetchTerms {
    std::optional<std::uint64_t> size;  ///< bytes; a blob described with another size is refused
    std::optional<std::uint64_t> most;  ///< bytes; a blob described with more is refused
    Pin pin = Pin::kPinned;             ///< how the blob is stored
    Traffic traffic = Traffic::kData;   ///< what its bytes count as
    /// The party that owes it, if the ledger names one. Any party can name another's blob as its own. So
    /// attempts are counted by party: when one does not serve, the other is not at fault, and its fetch is
    /// not held up.
    base::PublicKey owed_by = {};
    /// For a blob that several parties store: the part to fetch from the last holder, which owes the blob.
    /// The rest comes from the other holders, and they get from us what is here.
    std::optional<BlobShare> share = {};
    /// After `patience`, a holder that gives less than one chunk in each `pace` is left for the next holder.
    /// The last holder is never left for being slow.
    std::chrono::milliseconds patience{20'000};
    std::chrono::milliseconds pace{2'000};
};

/// Return false to stop the transfer. `chunk` lives for the call only.
using ChunkHandler = std::function<bool(std::uint64_t index, base::ByteView chunk)>;

/// Thread-safe. Errors: kNotFound (does not hold it), kUnreachable, kVerification, kFailure.
class BlobService {
public:
    virtual ~BlobService() = default;
    virtual FetchOutcome<BlobDescription> describe(const BlobId& id) = 0;
    /// Calls `handler` with the chunks from `first_chunk` on, in order. Succeeds when all were delivered or
    /// the handler returned false.
    virtual FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) = 0;
};

/// Where blobs can be had: "host:port" of a peer's blob service, as registered on the ledger.
using Endpoint = std::string;

}  // namespace assay::node
