// SPDX-License-Identifier: Apache-2.0
// Gives a role's core what it may do to the world. No call blocks; answers come back as events (event.hpp)
// that carry the request's id. The simulator and the real process implement the same interfaces.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/seams/event.hpp"
#include "node/seams/log.hpp"
#include "node/seams/outward.hpp"

namespace assay::node {

/// Answers: SubmitDone, StateRead, StateScanned, BlockSeen, LedgerLost.
class LedgerPort {
public:
    virtual ~LedgerPort() = default;
    virtual void submit(RequestId request, Bytes signed_transaction) = 0;
    virtual void get(RequestId request, Bytes key) = 0;
    /// Every entry under the prefix, all of one height.
    virtual void scan(RequestId request, Bytes prefix) = 0;
    /// At most once; blocks from `from_height` on follow for as long as the role lives.
    virtual void subscribe(std::uint64_t from_height) = 0;
    /// Ends the subscription, and begins it again from that height on when `delay_ms` have passed. Later
    /// blocks that were under way may still come before those. REQUIRES subscribe().
    virtual void subscribe_again(std::uint64_t from_height, std::uint64_t delay_ms) = 0;
};

/// Answers: BlobAsked at most once, then BlobFetched. A blob already in the store is answered at once.
class BlobPort {
public:
    virtual ~BlobPort() = default;
    virtual void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
                       std::vector<Endpoint> holders) = 0;
    /// For a party that accepts no connection: from now on these peers, and no others, can ask it for the
    /// blobs that it serves, over calls that it opens and opens again.
    virtual void lend_to(const std::vector<OutwardPeer>& /*peers*/) {}
    /// From now on these nodes, and no others, may open such calls to this party.
    virtual void admit(const std::set<base::PublicKey>& /*nodes*/) {}
};

/// Small files of a role, for what must survive a crash (secrets of a commit, where a job stands). Names
/// are single path components of [a-z0-9._-]; the adapter keeps them in one folder.
class DiskPort {
public:
    virtual ~DiskPort() = default;
    /// All or nothing, and on disk when it returns. A failure here must end the process: what the role
    /// believes it has stored, it has not.
    virtual Outcome<void> write(std::string_view name, ByteView content) = 0;
    /// Nothing when there is no such file.
    virtual Outcome<std::optional<Bytes>> read(std::string_view name) = 0;
    virtual Outcome<void> remove(std::string_view name) = 0;
    /// Names of the files that begin so, ascending: also those that a process before this one wrote.
    virtual Outcome<std::vector<std::string>> names(std::string_view prefix) = 0;
};

/// The worker, which works on width() requests at a time; of OpenJob it is all devices that do. Answers:
/// WorkerAnswered.
class WorkerPort {
public:
    virtual ~WorkerPort() = default;
    virtual void submit(RequestId request, worker::Message message,
                        std::vector<worker::SharedDescriptor> bulk) = 0;
    /// The request still gets its last answer, usually a kCancelled refusal.
    virtual void cancel(RequestId request) = 0;
    /// Devices that have the open job, or, before there is one, all that are in use, each for one request at
    /// a time. It changes when a job is opened, and when a device is put out of use.
    [[nodiscard]] virtual std::size_t width() const { return 1; }
};

/// All a role gets. The references outlive the role.
struct Seams {
    Clock& clock;
    Random& random;
    Timers& timers;
    LedgerPort& ledger;
    BlobPort& blobs;
    DiskPort& disk;
    WorkerPort& worker;
    Log& log;
};

}  // namespace assay::node
