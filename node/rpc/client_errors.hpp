// SPDX-License-Identifier: Apache-2.0
// Gives blob clients the meaning of a holder's answer. Internal to node/rpc.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "assay.pb.h"
#include "node/seams/blob_service.hpp"

namespace assay::node {

/// Why a holder gave nothing, with the FetchFault.
base::Failed<FetchFailure> by_status(const grpc::Status& status, const std::string& holder);

/// kFailure for a list of leaves that is cut short.
FetchOutcome<BlobDescription> to_description(const v1::DescribeResponse& response, const std::string& holder);

}  // namespace assay::node
