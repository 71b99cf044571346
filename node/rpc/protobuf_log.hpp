// SPDX-License-Identifier: Apache-2.0
// Keeps Protocol Buffers and gRPC from writing to standard error what any peer can have them write. Internal
// to node/rpc.
#pragma once

namespace assay::node {

/// The library writes a line to standard error for each message that does not parse, such as a text that is
/// not UTF-8, so a peer could fill the log. Such a message is an error of its call, and the caller reports
/// it. gRPC writes one for each handshake that asks for a name which no certificate has, as a server does
/// that asks itself at 0.0.0.0; its other errors are still written. May be called any number of times;
/// thread-safe.
void mute_protobuf_log();

}  // namespace assay::node
