// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/protobuf_log.hpp"

#include <google/protobuf/stubs/logging.h>

#include <mutex>

namespace assay::node {

void mute_protobuf_log() {
    static std::once_flag muted;
    std::call_once(muted, [] { google::protobuf::SetLogHandler(nullptr); });
}

}  // namespace assay::node
