// SPDX-License-Identifier: Apache-2.0
// Gives clients and servers errors as gRPC status and back. Internal to node/rpc.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

grpc::Status to_status(const base::Error& error);

/// What a client tells its user. Text from the other side is cut to 512 bytes and cleaned of control
/// characters: it may be hostile.
base::Error to_error(const grpc::Status& status, const std::string& address);

/// For a call that is not admitted.
grpc::Status too_many_calls();
/// Whether it is that one; other messages have its code as well.
bool is_too_many_calls(const grpc::Status& status);

/// At most 512 bytes of `text`, control characters made spaces: a peer's words, for people.
std::string cleaned(std::string text);

/// `text` as an error for an answer that breaks the protocol.
base::Failed<base::Error> bad_answer(const std::string& address, const std::string& text);

}  // namespace assay::node
