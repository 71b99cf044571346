// SPDX-License-Identifier: Apache-2.0
// Gives clients and servers errors as gRPC status and back. Internal to node/rpc.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

grpc::Status to_status(const base::Error& error);

/// The error that a client shows to its user. Text from the other side may be hostile, so it is cut to 512
/// bytes and cleaned of control characters.
base::Error to_error(const grpc::Status& status, const std::string& address);

/// For a call that is not admitted.
grpc::Status too_many_calls();
/// Whether `status` is that of too_many_calls(); other messages have the same code.
bool is_too_many_calls(const grpc::Status& status);

/// A peer's text for people: at most 512 bytes, with control characters made spaces.
std::string cleaned(std::string text);

/// `text` as an error for an answer that breaks the protocol.
base::Failed<base::Error> bad_answer(const std::string& address, const std::string& text);

}  // namespace assay::node
