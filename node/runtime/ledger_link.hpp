// SPDX-License-Identifier: Apache-2.0
// Gives roles the real ports: blocking clients on their own threads, whose answers come as events on the
// loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "contracts/base/error.hpp"
#include "node/blob/blob_store.hpp"
#include "node/blob/fetch.hpp"
#include "node/rpc/outward.hpp"
#include "node/runtime/loop.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Bytes of blocks that may wait for a role. It executes most blocks more slowly than its port fetches them:
/// without a limit, a role that is far behind would have the whole chain in memory.
inline constexpr std::size_t kBlocksQueuedMax = std::size_t{64} << 20;

/// Submissions keep the order in which they were requested, because nonces follow it; reads do not wait for
/// them. A broken subscription is resumed after one second, as often as it breaks, with LedgerLost for each
/// break. While blocks of more than `queued_max` bytes wait for the role, the port has no subscription and
/// asks for no block; it goes on when half of them are taken. The subscription ends with the loop.
/// `service` and `loop` must outlive the port; its destructor waits for the call in progress.
std::unique_ptr<LedgerPort> make_ledger_port(LedgerService& service, Loop& loop,
                                             std::size_t queued_max = kBlocksQueuedMax);

/// Makes the client of one holder; its bytes count as `traffic`.
using ConnectFor =
    std::function<base::Outcome<std::unique_ptr<BlobService>>(const Endpoint&, Traffic traffic)>;

/// Fetches into `store`. While threads are left, a slow holder holds up only the blobs that it owes itself,
/// and only those of one kind of traffic.
/// `desk` and `links`: for parties that accept no connection (node/rpc/outward.hpp); each may be null. They
/// outlive the port.
std::unique_ptr<BlobPort> make_blob_port(BlobStore& store, ConnectFor connect, Loop& loop,
                                         OutwardDesk* desk = nullptr, OutwardLinks* links = nullptr);

/// Files in `folder` (created when missing, mode 0700).
base::Outcome<std::unique_ptr<DiskPort>> make_disk_port(const std::filesystem::path& folder);

}  // namespace assay::node
