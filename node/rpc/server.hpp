// SPDX-License-Identifier: Apache-2.0
// The gRPC listeners: control (ledger) and bulk (blobs) have ports, quotas and limits of their own, so that a
// flood on one leaves the other alone. Compression is off in both directions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "node/rpc/tls.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

struct ServerLimits {
    std::uint64_t memory_bytes = 64ULL << 20;  ///< of all connections together
    int threads = 96;                          ///< a subscription holds one
    int streams_per_connection = 32;
    int receive_bytes = 1 << 20;  ///< one message
    int streams = 64;             ///< subscriptions and transfers at once
};

struct ServerOptions {
    std::string listen = "127.0.0.1:0";  ///< host:port; anything but loopback needs `tls`
    std::optional<TlsFiles> tls;
    ServerLimits limits;
};

/// A running server; serves until destroyed or stopped. The service must outlive it.
class RpcServer {
public:
    virtual ~RpcServer() = default;
    /// The port that is listened on: the chosen one when 0 was asked for.
    [[nodiscard]] virtual std::uint16_t port() const = 0;
    /// "host:port" as a client on this machine would write it.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Ends calls in progress within a second and returns; idempotent.
    virtual void stop() = 0;
};

/// kUsage: not host:port, or not loopback and without TLS files. kFailure: the port is taken, the files
/// cannot be read.
base::Outcome<std::unique_ptr<RpcServer>> serve_ledger(LedgerService& service, const ServerOptions& options);
base::Outcome<std::unique_ptr<RpcServer>> serve_blobs(BlobService& service, const ServerOptions& options);

}  // namespace assay::node
