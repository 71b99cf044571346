// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/protobuf_log.hpp"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <mutex>
#include <string_view>

namespace assay::node {

namespace {
void write_grpc_error(gpr_log_func_args* line) {
    if (std::string_view(line->message).starts_with("No match found for server name")) return;
    std::fprintf(stderr, "grpc: %s\n", line->message);
}
}  // namespace

void mute_protobuf_log() {
    static std::once_flag muted;
    std::call_once(muted, [] {
        google::protobuf::SetLogHandler(nullptr);
        gpr_set_log_function(write_grpc_error);
    });
}

}  // namespace assay::node
