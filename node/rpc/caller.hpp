// SPDX-License-Identifier: Apache-2.0
// Gives call limits Caller, the name and the address of a caller. Internal to node/rpc.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace assay::node {

/// Name and address, because a caller can multiply either one; limits hold for both.
struct Caller {
    /// With TLS the certificate. On loopback without TLS the connection, because several honest roles share
    /// one address there, and each has one connection.
    std::string name;
    std::string address;  ///< without the port; for IPv6 the first 64 bits, since one subscriber gets all
                          ///< addresses below them
};

/// `peer` as gRPC writes it ("ipv4:127.0.0.1:7400", "ipv6:%5B::1%5D:7400"); `certificate` in PEM, empty
/// without TLS.
Caller caller_of(const std::string& peer, const std::string& certificate);
Caller caller_of(const grpc::CallbackServerContext& context);

}  // namespace assay::node
