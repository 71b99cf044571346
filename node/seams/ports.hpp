// SPDX-License-Identifier: Apache-2.0
// Gives a role's core its ports, everything that it may do outside itself. No call blocks; answers come back
// as events (event.hpp) that carry the request's id. The simulator and the real process implement the same
// interfaces.
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
    /// Reads every entry under the prefix, all at one height.
    virtual void scan(RequestId request, Bytes prefix) = 0;
    /// Delivers blocks from `from_height` on for as long as the role lives. Called at most once.
    virtual void subscribe(std::uint64_t from_height) = 0;
    /// Ends the subscription, and begins it again from `from_height` after `delay_ms`. Later blocks that were
    /// already under way may still arrive first. REQUIRES subscribe().
    virtual void subscribe_again(std::uint64_t from_height, std::uint64_t delay_ms) = 0;
};

/// Answers: BlobAsked and then BlobArriving, each at most once, then BlobFetched. For a blob already in the
/// store the answer comes at once.
class BlobPort {
public:
    virtual ~BlobPort() = default;
    virtual void fetch(RequestId request, const BlobId& id, const FetchTerms& terms,
                       std::vector<Endpoint> holders) = 0;
    /// For a party that accepts no connection: opens calls to these peers, and again when they break. From
    /// now on these peers, and no others, can ask it over them for the blobs that it serves.
    virtual void lend_to(const std::vector<OutwardPeer>& /*peers*/) {}
    /// Lets these nodes, and no others, open such calls to this party from now on.
    virtual void admit(const std::set<base::PublicKey>& /*nodes*/) {}
};

/// Small files of a role, for what must survive a crash (secrets of a commit, the progress of a job). Names
/// are single path components of [a-z0-9._-]; the adapter keeps them in one folder.
class DiskPort {
public:
    virtual ~DiskPort() = default;
    /// Writes all or nothing; the content is on disk when it returns. A failure must end the process, because
    /// the role would rely on a file that is not stored.
    virtual Outcome<void> write(std::string_view name, ByteView content) = 0;
    /// Nothing when there is no such file.
    virtual Outcome<std::optional<Bytes>> read(std::string_view name) = 0;
    virtual Outcome<void> remove(std::string_view name) = 0;
    /// Names of the files that begin with `prefix`, ascending, including files that an earlier process wrote.
    virtual Outcome<std::vector<std::string>> names(std::string_view prefix) = 0;
};

/// The worker, which computes width() requests at a time. All devices take part in OpenJob. Answers:
/// WorkerAnswered.
class WorkerPort {
public:
    virtual ~WorkerPort() = default;
    virtual void submit(RequestId request, worker::Message message,
                        std::vector<worker::SharedDescriptor> bulk) = 0;
    /// Cancels the request, which still gets its last answer, usually a kCancelled refusal.
    virtual void cancel(RequestId request) = 0;
    /// Number of devices that have the open job, or of all that are in use before there is one. Each takes
    /// one request at a time. Changes when a job is opened, and when a device is put out of use.
    [[nodiscard]] virtual std::size_t width() const { return 1; }
};

/// All that a role gets. The references outlive the role.
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
