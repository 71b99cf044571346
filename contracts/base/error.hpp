// SPDX-License-Identifier: Apache-2.0
// Error is what a person is told when something outside the pure rules fails. Rules use enums of their own.
#pragma once

#include <string>
#include <utility>

#include "contracts/base/result.hpp"

namespace assay::base {

/// Why a command failed; its exit code is this number (docs/reference/exit-codes.md). Frozen numbers: scripts
/// rely on them.
enum class ErrorKind : int {
    kFailure = 1,        ///< anything that has no kind of its own
    kUsage = 2,          ///< wrong flags, wrong configuration, a job file that breaks a rule
    kNotFound = 3,       ///< the named job, miner, file or key does not exist
    kUnreachable = 4,    ///< a peer or the ledger node did not answer, or not in time
    kKey = 5,            ///< a key file cannot be read or opened, or the key may not do this
    kRejected = 6,       ///< the ledger refused the transaction
    kVerification = 7,   ///< a check failed: bits, a hash, a signature, a sum
    kPreflight = 8,      ///< this machine cannot do it: devices, memory, a failed self-test
    kInterrupted = 130,  ///< SIGINT
};

/// `what` says what was wrong and where; `fix` says what to do next (may be empty).
struct Error {
    ErrorKind kind = ErrorKind::kFailure;
    std::string what;
    std::string fix;
};

template <class T>
using Outcome = Result<T, Error>;

inline Failed<Error> fail(ErrorKind kind, std::string what, std::string fix = {}) {
    return failed(Error{kind, std::move(what), std::move(fix)});
}

}  // namespace assay::base
