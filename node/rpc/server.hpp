// SPDX-License-Identifier: Apache-2.0
// Gives nodes and roles the gRPC listeners: control (ledger) and bulk (blobs) have separate ports, quotas
// and limits, so that a flood on one does not affect the other. Compression is off in both directions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "node/rpc/tls.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// The most calls of one kind in progress. `per_caller` holds for a certificate, or on loopback for a
/// connection; `per_address` for all callers of an address. It takes four full addresses to fill a server.
struct CallLimits {
    int total = 256;
    int per_address = 64;
    int per_caller = 16;
};

/// The most bytes of blocks that calls are sending. What several calls send counts once, for all and for each
/// address. It takes four full addresses to fill a server.
struct ByteLimits {
    std::uint64_t total = 128ULL << 20;
    std::uint64_t per_address = 32ULL << 20;
};

struct ServerLimits {
    std::uint64_t memory_bytes = 64ULL << 20;  ///< for all connections together
    int streams_per_connection = 32;
    int receive_bytes = 1 << 20;  ///< one message
    CallLimits answers{.total = 512, .per_address = 128, .per_caller = 32};
    CallLimits transfers{.total = 256, .per_address = 64, .per_caller = 16};  ///< blocks, blobs
    /// Under TLS all processes of one home are one caller, and each of them has a subscription.
    CallLimits subscriptions{.total = 512, .per_address = 128, .per_caller = 128};
    ByteLimits blocks{};  ///< whole blocks, and as many bytes of what subscriptions send
    /// A client is cut off when it takes no message for this long while one waits for it.
    std::chrono::milliseconds stall{30'000};
};

struct ServerOptions {
    std::string listen = "127.0.0.1:0";  ///< host:port; anything but loopback needs `tls`
    std::optional<TlsFiles> tls;
    ServerLimits limits;
};

class OutwardDesk;

/// A running server; serves until destroyed or stopped. The service must outlive it.
class RpcServer {
public:
    virtual ~RpcServer() = default;
    /// The port on which it listens: the one that the system chose if 0 was asked for.
    [[nodiscard]] virtual std::uint16_t port() const = 0;
    /// "host:port" as a client on this machine would write it.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Ends calls in progress within a second and returns; idempotent.
    virtual void stop() = 0;
};

/// kUsage: not host:port, or not loopback and without TLS files. kFailure: the port is taken, the files
/// cannot be read.
base::Outcome<std::unique_ptr<RpcServer>> serve_ledger(LedgerService& service, const ServerOptions& options);
/// `desk`: gets the calls of holders that accept no connection, and outlives the server. Null: such calls are
/// refused.
base::Outcome<std::unique_ptr<RpcServer>> serve_blobs(BlobService& service, const ServerOptions& options,
                                                      OutwardDesk* desk = nullptr);

}  // namespace assay::node
