// SPDX-License-Identifier: Apache-2.0
// Gives whoever runs a command of this program what it said it ended with: assay.error/v1, read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::node {

struct PrintedError {
    std::string message;
    std::string fix;
    std::uint32_t reason = 0;  ///< of the ledger; 0: it did not refuse
    std::string reason_name;
};

/// The last line of what a command wrote to its error stream, when that is an assay.error/v1 object.
std::optional<PrintedError> printed_error(std::string_view said);

/// What a command said on its error stream, for the error of whoever ran it: the message of its error, or
/// else the end of what it wrote. Never empty.
std::string why_it_ended(std::string_view said);

}  // namespace assay::node
