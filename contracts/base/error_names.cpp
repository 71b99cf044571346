// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/error_names.hpp"

namespace assay::base {

std::string_view to_text(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::kFailure: return "failure";
        case ErrorKind::kUsage: return "usage";
        case ErrorKind::kNotFound: return "not-found";
        case ErrorKind::kUnreachable: return "unreachable";
        case ErrorKind::kKey: return "key";
        case ErrorKind::kRejected: return "rejected";
        case ErrorKind::kVerification: return "verification-failed";
        case ErrorKind::kPreflight: return "preflight-failed";
        case ErrorKind::kInterrupted: return "interrupted";
    }
    return "failure";
}

}  // namespace assay::base
