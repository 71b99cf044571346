// SPDX-License-Identifier: Apache-2.0
// Keeps Protocol Buffers from writing to standard error. Internal to node/rpc.
#pragma once

namespace assay::node {

/// The library writes a line of its own for a message that does not parse, such as a text that is not UTF-8,
/// and a peer can have as many of those written as it likes. What does not parse is an error of the call, and
/// whoever made it says so. Any number of calls; thread-safe.
void mute_protobuf_log();

}  // namespace assay::node
