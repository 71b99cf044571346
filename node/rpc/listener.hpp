// SPDX-License-Identifier: Apache-2.0
// Inside node/rpc: a gRPC server around one service, with every limit set.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "node/rpc/server.hpp"
#include "node/rpc/streams.hpp"

namespace assay::node {

/// A gRPC service together with its streams.
struct Adapter {
    std::unique_ptr<grpc::Service> service;
    std::shared_ptr<Streams> streams;
};

/// Starts listening; `name` ("ledger", "blobs") names the quota. Errors as in server.hpp.
base::Outcome<std::unique_ptr<RpcServer>> listen(Adapter adapter, const ServerOptions& options,
                                                 const std::string& name);

}  // namespace assay::node
