// SPDX-License-Identifier: Apache-2.0
// Gives servers and clients LedgerService, what a ledger node offers, independent of the transport. The
// ledger node implements it in process (node/runtime/ledger_node.hpp); the gRPC client implements it for a
// node elsewhere (node/rpc/ledger_client.hpp). Receipts and headers, which a caller must not take on trust,
// arrive as the signed bytes themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::node {

using base::Bytes;
using base::ByteView;
using base::Outcome;

/// What became of a transaction. A refusal is a reply, not an Error: the ledger did answer.
struct SubmitReply {
    bool accepted = false;
    /// Number of the reason (contracts/rules/state/reasons.hpp); 0 when accepted. A newer node may give a
    /// number that this version does not know (contracts::refusal_of()).
    std::uint32_t reason = 0;
    std::string reason_text;   ///< the reason's name, for people: decide by the number; empty when accepted
    std::uint64_t height = 0;  ///< block that holds the transaction; 0 when refused
    Bytes receipt;             ///< encoded signed inclusion receipt; empty when refused
};

/// One key of the state. `height` and `state_root` say which state was read.
struct StateValue {
    std::uint64_t height = 0;
    base::Hash256 state_root;
    std::optional<Bytes> value;  ///< nothing when the key is absent
    Bytes proof;  ///< encoded ledger::StateProof of presence or absence under `state_root`; empty for the
                  ///< history
};

/// A page of keys under a prefix, ascending. Pages of one scan may be of different heights: callers compare
/// them.
struct StatePage {
    std::uint64_t height = 0;
    base::Hash256 state_root;
    std::vector<std::pair<Bytes, Bytes>> entries;
    std::optional<Bytes> next;  ///< ScanRequest::from for the next page; nothing after the last
};

struct ScanRequest {
    Bytes prefix;
    Bytes from;                 ///< first key wanted, inclusive; empty: from the beginning of the prefix
    std::uint32_t limit = 256;  ///< at most this many entries; the server lowers it to kScanPageMax
};

/// The most entries of a page, and the most bytes; a page of one entry may hold more bytes.
inline constexpr std::uint32_t kScanPageMax = 1024;
inline constexpr std::size_t kScanBytesMax = 512 * 1024;
/// The most that scan_all takes of a node, over all its attempts: pages, and bytes of one result (each entry
/// with 64 more). An honest page has kScanPageMax entries or, two together, more than kScanBytesMax.
inline constexpr std::size_t kScanAllPagesMax = 4096;
inline constexpr std::size_t kScanAllBytesMax = std::size_t{256} << 20;
/// The most bytes of an encoded block.
inline constexpr std::size_t kBlockBytesMax = std::size_t{16} << 20;

/// One block as followers see it: the encoded signed header and the encoded list of events.
struct BlockNotice {
    std::uint64_t height = 0;
    Bytes header;
    Bytes events;
};

struct LedgerStatus {
    std::string chain_id;
    std::uint64_t height = 0;
    base::Hash256 state_root;
    base::PublicKey sequencer;
    std::string version;  ///< of the node's program
};

/// Return false to end the subscription.
using BlockHandler = std::function<bool(const BlockNotice&)>;

/// Thread-safe. Every call blocks until it is answered or its deadline passes. Errors have kind kUnreachable
/// (no answer in time), kNotFound, kUsage (malformed request) or kFailure.
class LedgerService {
public:
    virtual ~LedgerService() = default;

    /// Returns once the transaction is in a block that is on disk, or is refused.
    virtual Outcome<SubmitReply> submit(ByteView signed_transaction) = 0;
    /// Returns a record of the state, or a row of the history (contracts/rules/job/history.hpp). A row of the
    /// history has no proof; the state keeps only its hash.
    virtual Outcome<StateValue> get(ByteView key) = 0;
    virtual Outcome<StatePage> scan(const ScanRequest& request) = 0;
    /// The encoded block of that height; kNotFound above the tip.
    virtual Outcome<Bytes> block(std::uint64_t height) = 0;
    virtual Outcome<LedgerStatus> status() = 0;
    /// Calls `handler` on this thread with every block from `from_height` on, in order and without gaps, past
    /// blocks first. Returns success when `handler` returned false or `stop` was requested, else the error.
    virtual Outcome<void> subscribe(std::uint64_t from_height, std::stop_token stop,
                                    const BlockHandler& handler) = 0;
};

/// Reads all entries under a prefix, page by page. Starts again when the height changed between pages, so
/// that the result is of one state. kFailure after 16 restarts. kVerification for what no honest node gives:
/// more than kScanAllPagesMax pages or kScanAllBytesMax bytes, an empty page that is not the last, keys that
/// are not ascending or not under the prefix, a page that leads back.
Outcome<StatePage> scan_all(LedgerService& ledger, ByteView prefix);

}  // namespace assay::node
