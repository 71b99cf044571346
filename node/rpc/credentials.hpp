// SPDX-License-Identifier: Apache-2.0
// Gives clients and servers TLS files as gRPC credentials, and the rule that only loopback goes without.
// Internal to node/rpc.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <optional>

#include "node/rpc/tls.hpp"

namespace assay::node {

/// kUsage: `host` is not loopback and there are no files. kKey: a file cannot be read, or others can read
/// the private key.
base::Outcome<std::shared_ptr<grpc::ServerCredentials>> server_credentials(
    const std::string& host, const std::optional<TlsFiles>& tls);
base::Outcome<std::shared_ptr<grpc::ChannelCredentials>> client_credentials(
    const std::string& host, const std::optional<TlsFiles>& tls);
/// For a call of a process to its own server: the certificate must be the authority's, whatever it names. A
/// server that listens at 0.0.0.0 is called there, which no certificate names.
base::Outcome<std::shared_ptr<grpc::ChannelCredentials>> own_server_credentials(
    const std::optional<TlsFiles>& tls);

}  // namespace assay::node
