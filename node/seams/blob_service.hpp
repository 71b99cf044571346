// SPDX-License-Identifier: Apache-2.0
// Gives servers and clients what a holder of blobs offers, free of any transport. Nothing a holder says is
// believed: the leaf hashes must hash to the blob's id, and every chunk to its leaf hash.
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
    std::vector<bool> held = {};        ///< of each chunk, while some are not there yet; empty: all are
};

/// Whether peers are given the chunks of an unfinished download.
enum class Showing : std::uint8_t { kHidden, kShown };

/// Part `mine` of `of`, of a blob that so many store together (node/blob/parts.hpp).
struct BlobShare {
    std::uint32_t mine = 0;
    std::uint32_t of = 1;
    friend bool operator==(const BlobShare&, const BlobShare&) = default;
};

/// Whether a blob may be dropped to make room.
enum class Pin : std::uint8_t { kPinned, kEvictable };

/// Whether a blob that is here is given to peers. One that is withheld is to them as one that is not here.
enum class Serving : std::uint8_t { kServed, kWithheld };

/// What is known of a blob before it is fetched, and what it is fetched for.
struct FetchTerms {
    std::optional<std::uint64_t> size;  ///< bytes; of a blob described with another size nothing is taken
    std::optional<std::uint64_t> most;  ///< bytes; of a blob described with more nothing is taken
    Pin pin = Pin::kPinned;             ///< that it is stored with
    Traffic traffic = Traffic::kData;   ///< what its bytes count as
    /// Who owes it, where the ledger says so. Any party can name another's blob as its own: what one of them
    /// does not give is no fault of the other, and holds up nothing that the other gives.
    base::PublicKey owed_by = {};
    /// Of a blob that others store too: the part to take of the last holder, who owes it. The rest is taken
    /// of the others, who are given what is here in turn.
    std::optional<BlobShare> share = {};
    /// A holder that gives less than a chunk in each `pace` is left for the next, after `patience` at least.
    /// The last holder is left at no pace.
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
    /// Calls `handler` with the chunks from `first_chunk` on, in order; success when all were delivered or
    /// the handler said false.
    virtual FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) = 0;
};

/// Where blobs can be had: "host:port" of a peer's blob service, as registered on the ledger.
using Endpoint = std::string;

}  // namespace assay::node
