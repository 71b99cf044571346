// SPDX-License-Identifier: Apache-2.0
// Gives processes logging: spdlog on stderr (stdout is data), one line an entry, UTC time.
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "node/seams/log.hpp"

namespace assay::node {

/// Sets up the default logger for the process; `level` is trace, debug, info, warn, error or off.
/// kUsage for another word.
base::Outcome<void> start_log(std::string_view level, std::string_view program);

/// The process's log, for roles; as the functions below.
Log& process_log();

void log_debug(std::string_view text);
void log_info(std::string_view text);
void log_warn(std::string_view text);
void log_error(std::string_view text);
/// what, then fix.
void log_error(const base::Error& error);

}  // namespace assay::node
