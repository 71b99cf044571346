// SPDX-License-Identifier: Apache-2.0
// Gives code that runs a command of this program the error that the command printed at its end
// (assay.error/v1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::node {

struct PrintedError {
    std::string message;
    std::string fix;
    std::uint32_t reason = 0;  ///< the ledger's reason; 0: the ledger did not refuse
    std::string reason_name;
};

/// The last line of a command's error stream, if it is an assay.error/v1 object.
std::optional<PrintedError> printed_error(std::string_view said);

/// Why a command ended, from its error stream, for the caller's own error: the message of its error, or else
/// the end of what it wrote. Never empty.
std::string why_it_ended(std::string_view said);

}  // namespace assay::node
