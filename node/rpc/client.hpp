// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands clients of a ledger node and of a blob holder. Every call has a deadline. When
// nobody answers, the error is kUnreachable, with the address and what to do.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "node/rpc/tls.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/ledger_service.hpp"
#include "node/seams/traffic.hpp"

namespace assay::node {

struct ClientOptions {
    std::string address;                         ///< host:port
    std::optional<TlsFiles> tls;                 ///< needed off loopback
    std::chrono::milliseconds deadline{10'000};  ///< of a call
    std::chrono::milliseconds stall_timeout{
        10'000};                                   ///< of a stream: longest wait for its next message (blobs)
    std::size_t block_bytes_max = kBlockBytesMax;  ///< of one block; a longer answer is no block
    Traffic traffic = Traffic::kData;              ///< what a blob client's bytes count as (traffic.hpp)
};

/// Makes a client; does not connect yet. kUsage when the address is malformed, or off loopback without TLS.
base::Outcome<std::unique_ptr<LedgerService>> connect_ledger(const ClientOptions& options);
base::Outcome<std::unique_ptr<BlobService>> connect_blobs(const ClientOptions& options);

/// Succeeds when the server's health service (grpc.health.v1) answers SERVING.
base::Outcome<void> check_health(const ClientOptions& options);

/// Waits until check_health succeeds. Returns the last error after `patience`.
base::Outcome<void> wait_until_healthy(const ClientOptions& options, std::chrono::milliseconds patience);

}  // namespace assay::node
