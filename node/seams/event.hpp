// SPDX-License-Identifier: Apache-2.0
// Gives roles and their adapters RoleEvent, everything that can happen to a role. Adapters turn what happens
// outside into events and post them to one strand (node/runtime/loop.hpp). There the role takes them one at a
// time with `step`, or several that came together with `step_all`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/worker/frames.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/clock.hpp"
#include "node/seams/fetch_end.hpp"
#include "node/seams/ledger_service.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::node {

/// Joins an answer to its question. The core chooses it; ports only hand it back.
using RequestId = std::uint64_t;

/// First event a role gets, once.
struct Started {};

struct TimerFired {
    TimerId id = 0;
};

/// A block of the subscription, in order and without gaps. It is the encoded block itself
/// (LedgerService::block): a role believes no summary and executes every block (node/roles/follower.hpp).
struct BlockSeen {
    std::uint64_t height = 0;
    Bytes block;
};

/// The subscription broke; the port reconnects by itself and continues after the last block it delivered.
struct LedgerLost {
    base::Error why;
};

struct SubmitDone {
    RequestId request = 0;
    Outcome<SubmitReply> reply;
};

struct StateRead {
    RequestId request = 0;
    Outcome<StateValue> reply;
};

struct StateScanned {
    RequestId request = 0;
    Outcome<StatePage> reply;
};

/// The holder that owes the blob, the last one named, is now being asked for it. Until then the fetch waited
/// for a thread or for other holders. Some fetches end before this event.
struct BlobAsked {
    RequestId request = 0;
};

/// A chunk from the holder that owes the blob has been checked and stored, and more are coming.
struct BlobArriving {
    RequestId request = 0;
};

/// The blob is in the local store and verified, or `result` is the reason why not.
struct BlobFetched {
    RequestId request = 0;
    BlobId id;
    FetchEnd result;
};

/// One frame of a worker's answer (contracts/worker/frames.hpp). With `last` the request is over, and the
/// message is the answer or a Refusal. A worker that dies is restarted by its port (node/worker).
struct WorkerAnswered {
    RequestId request = 0;
    worker::Message message;
    std::vector<worker::SharedDescriptor> bulk;
    bool last = false;
    /// The device that this answer comes from; the worker's port gives each device its own name.
    std::string device;
    /// The device computes wrong bits (DeviceUnsound). `message` is then a Refusal.
    bool spoiled = false;
};

/// A device of the worker computes other bits than the law. Nothing that it ever gave counts.
struct DeviceUnsound {
    std::string device;
};

/// The process was asked to end (SIGINT, SIGTERM). The role finishes what must not be left half done, then
/// stops.
struct StopRequested {};

using RoleEvent =
    std::variant<Started, TimerFired, BlockSeen, LedgerLost, SubmitDone, StateRead, StateScanned, BlobAsked,
                 BlobArriving, BlobFetched, WorkerAnswered, DeviceUnsound, StopRequested>;

/// A role's core. It uses no threads, clocks, files or sockets, only the ports of ports.hpp.
class Role {
public:
    virtual ~Role() = default;
    virtual void step(const RoleEvent& event) = 0;
    /// Takes several events that came together, in order. A role whose plan is a function of its state may
    /// plan once for all of them.
    virtual void step_all(std::span<const RoleEvent> events) {
        for (const RoleEvent& event : events) step(event);
    }
};

}  // namespace assay::node
