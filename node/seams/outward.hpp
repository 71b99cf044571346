// SPDX-License-Identifier: Apache-2.0
// Gives roles and clients the endpoint of a party that accepts no connection, such as one behind a home
// router's address translation. Others ask it over calls that it opens itself (node/rpc/outward.hpp).
#pragma once

#include <optional>
#include <string_view>

#include "contracts/base/sign.hpp"
#include "node/seams/blob_service.hpp"

namespace assay::node {

/// The node key under a name that no resolver knows (RFC 6761): "HEX.outward.invalid:1". The ledger takes it
/// as any "host:port".
Endpoint outward_endpoint(const base::PublicKey& node);

/// The node key that the endpoint names; nothing for every other endpoint.
std::optional<base::PublicKey> outward_node(std::string_view endpoint);

/// A peer to which a party that accepts no connection opens a call.
struct OutwardPeer {
    base::PublicKey node;
    Endpoint endpoint;
    friend auto operator<=>(const OutwardPeer&, const OutwardPeer&) = default;
};

}  // namespace assay::node
