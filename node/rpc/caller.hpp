// SPDX-License-Identifier: Apache-2.0
// Gives call limits the name and the address of who calls. Internal to node/rpc.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace assay::node {

/// Two names, because either alone can be multiplied: limits hold for both.
struct Caller {
    /// The certificate under TLS. On loopback without TLS the connection: several honest roles share one
    /// address there, and each has one connection.
    std::string name;
    std::string
        address;  ///< without the port; of IPv6 the first 64 bits, which one subscriber gets as a whole
};

/// `peer` as gRPC writes it ("ipv4:127.0.0.1:7400", "ipv6:%5B::1%5D:7400"); `certificate` in PEM, empty
/// without TLS.
Caller caller_of(const std::string& peer, const std::string& certificate);
Caller caller_of(const grpc::CallbackServerContext& context);

}  // namespace assay::node
