// SPDX-License-Identifier: Apache-2.0
// Gives clients their channels, all set up alike. Internal to node/rpc.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>

#include "node/rpc/client.hpp"

namespace assay::node {

/// Whether a channel may share its connection with others to the same address.
enum class Connection : std::uint8_t { kShared, kOwn };

base::Outcome<std::shared_ptr<grpc::Channel>> open_channel(const ClientOptions& options,
                                                           Connection connection = Connection::kShared);

void set_deadline(grpc::ClientContext& context, std::chrono::milliseconds from_now);

}  // namespace assay::node
