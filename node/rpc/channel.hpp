// SPDX-License-Identifier: Apache-2.0
// Gives clients their channels, all set up alike. Internal to node/rpc.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>

#include "node/rpc/client.hpp"

namespace assay::node {

/// What a channel is for. A peer that declares huge messages gets its streams cut and its connections slowed
/// when the quota of memory that they count against is full, and so does whoever else counts against it.
enum class ChannelUse : std::uint8_t {
    kLedger,    ///< to the node that we follow: all of them share a quota, and connections to one address
    kProbe,     ///< to a health service: a connection of its own, and a quota of all probes
    kOwnProbe,  ///< the same to this process's own server, at an address that its certificate need not name
    kPeer,      ///< to whoever names itself as a holder: a small quota and a connection of its own
};

base::Outcome<std::shared_ptr<grpc::Channel>> open_channel(const ClientOptions& options, ChannelUse use);

/// check_health() of this process's own server.
base::Outcome<void> check_own_health(const ClientOptions& options);

void set_deadline(grpc::ClientContext& context, std::chrono::milliseconds from_now);

}  // namespace assay::node
