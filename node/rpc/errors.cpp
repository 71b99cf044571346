// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/errors.hpp"

#include <algorithm>

namespace assay::node {
namespace {

using base::Error;
using base::ErrorKind;

grpc::StatusCode code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::kUsage: return grpc::StatusCode::INVALID_ARGUMENT;
        case ErrorKind::kNotFound: return grpc::StatusCode::NOT_FOUND;
        case ErrorKind::kUnreachable:
        case ErrorKind::kInterrupted: return grpc::StatusCode::UNAVAILABLE;
        case ErrorKind::kKey: return grpc::StatusCode::PERMISSION_DENIED;
        case ErrorKind::kRejected: return grpc::StatusCode::FAILED_PRECONDITION;
        case ErrorKind::kVerification: return grpc::StatusCode::DATA_LOSS;
        case ErrorKind::kFailure:
        case ErrorKind::kPreflight: break;
    }
    return grpc::StatusCode::INTERNAL;
}

ErrorKind kind_of(grpc::StatusCode code) {
    switch (code) {
        case grpc::StatusCode::INVALID_ARGUMENT: return ErrorKind::kUsage;
        case grpc::StatusCode::NOT_FOUND: return ErrorKind::kNotFound;
        case grpc::StatusCode::PERMISSION_DENIED:
        case grpc::StatusCode::UNAUTHENTICATED: return ErrorKind::kKey;
        case grpc::StatusCode::FAILED_PRECONDITION: return ErrorKind::kRejected;
        case grpc::StatusCode::DATA_LOSS: return ErrorKind::kVerification;
        default: return ErrorKind::kFailure;
    }
}

}  // namespace

std::string cleaned(std::string text) {
    text.resize(std::min<std::size_t>(text.size(), 512));
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return text;
}

grpc::Status to_status(const Error& error) {
    // The fix travels after a newline; `what` has none.
    std::string what = error.what;
    std::replace(what.begin(), what.end(), '\n', ' ');
    return {code_of(error.kind), error.fix.empty() ? what : what + "\n" + error.fix};
}

grpc::Status too_many_calls() {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls in progress from this caller, or in all"};
}

bool is_too_many_calls(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
           status.error_message() == too_many_calls().error_message();
}

Error to_error(const grpc::Status& status, const std::string& address) {
    const std::string message = status.error_message();
    switch (status.error_code()) {
        case grpc::StatusCode::UNAVAILABLE:
            return {ErrorKind::kUnreachable, "no answer from " + address + " (" + cleaned(message) + ")",
                    "check that the node runs there, that the address is right, and that both ends have TLS "
                    "files "
                    "(--tls-cert, --tls-key, --tls-ca) or neither has"};
        case grpc::StatusCode::DEADLINE_EXCEEDED:
            return {ErrorKind::kUnreachable, address + " did not answer in time",
                    "check that the node runs there and is not overloaded, then try again"};
        case grpc::StatusCode::CANCELLED:
            return {ErrorKind::kUnreachable, "the call to " + address + " was broken off", "try again"};
        case grpc::StatusCode::RESOURCE_EXHAUSTED:
            return {ErrorKind::kUnreachable, address + " is too busy (" + cleaned(message) + ")",
                    "try again in a moment"};
        case grpc::StatusCode::UNIMPLEMENTED:
            return {ErrorKind::kUnreachable, "what listens on " + address + " does not offer this service",
                    "check the port: ledger and blob services have one each"};
        default: break;
    }
    const std::size_t cut = message.find('\n');
    Error error{kind_of(status.error_code()), cleaned(message.substr(0, cut)), {}};
    if (error.what.empty()) error.what = address + " failed to answer";
    if (cut != std::string::npos) error.fix = cleaned(message.substr(cut + 1));
    return error;
}

base::Failed<Error> bad_answer(const std::string& address, const std::string& text) {
    return base::fail(ErrorKind::kVerification, address + " gave an answer that cannot be right: " + text,
                      "do not use this node; ask another one");
}

}  // namespace assay::node
