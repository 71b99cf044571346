// SPDX-License-Identifier: Apache-2.0
// Keeps Protocol Buffers from writing to standard error. Internal to node/rpc.
#pragma once

namespace assay::node {

/// The library writes a line to standard error for each message that does not parse, such as a text that is
/// not UTF-8, so a peer could fill the log. Such a message is an error of its call, and the caller reports
/// it. May be called any number of times; thread-safe.
void mute_protobuf_log();

}  // namespace assay::node
