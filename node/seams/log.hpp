// SPDX-License-Identifier: Apache-2.0
// Gives roles Log, the lines that they write for the person who runs them. No decision depends on a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::node {

enum class LogLevel : std::uint8_t {
    kDebug,
    kInfo,
    kWarn,   ///< something went wrong, and the role goes on by itself
    kError,  ///< the role gives up a piece of work, or a person must act
};

/// Thread-safe. Takes any text; line breaks inside it stay.
class Log {
public:
    virtual ~Log() = default;
    virtual void write(LogLevel level, std::string_view text) = 0;

    void debug(std::string_view text) { write(LogLevel::kDebug, text); }
    void info(std::string_view text) { write(LogLevel::kInfo, text); }
    void warn(std::string_view text) { write(LogLevel::kWarn, text); }
    void error(std::string_view text) { write(LogLevel::kError, text); }
    /// What, then fix.
    void error(const base::Error& error) {
        write(LogLevel::kError, error.fix.empty() ? error.what : error.what + "; " + error.fix);
    }
};

}  // namespace assay::node
