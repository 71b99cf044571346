// SPDX-License-Identifier: Apache-2.0
// Gives blob clients what a holder's answer means. Internal to node/rpc.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "assay.pb.h"
#include "node/seams/blob_service.hpp"

namespace assay::node {

/// Why a holder gave nothing, and whose doing that is.
base::Failed<FetchFailure> by_status(const grpc::Status& status, const std::string& holder);

/// kFailure for a list of leaves that is cut short.
FetchOutcome<BlobDescription> to_description(const v1::DescribeResponse& response, const std::string& holder);

}  // namespace assay::node
