// SPDX-License-Identifier: Apache-2.0
// Gives each service a gRPC server with every limit set. Internal to node/rpc.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "node/rpc/server.hpp"

namespace assay::node {

/// A gRPC service with its calls in progress.
class Adapter {
public:
    virtual ~Adapter() = default;
    virtual grpc::Service& service() = 0;
    /// Ends every call soon, and admits none from now on.
    virtual void stop() = 0;
};

/// Starts listening; `name` ("ledger", "blobs") names the quota. Errors as in server.hpp.
base::Outcome<std::unique_ptr<RpcServer>> listen(std::unique_ptr<Adapter> adapter,
                                                 const ServerOptions& options, const std::string& name);

}  // namespace assay::node
