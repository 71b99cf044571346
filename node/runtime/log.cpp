// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace assay::node {

base::Outcome<void> start_log(std::string_view level, std::string_view program) {
    const std::string name(level);
    const auto number = spdlog::level::from_str(name);
    if (number == spdlog::level::off && name != "off") {
        return base::fail(base::ErrorKind::kUsage, "'" + name + "' is not a log level",
                          "use trace, debug, info, warn, error or off");
    }
    auto logger = std::make_shared<spdlog::logger>(std::string(program),
                                                   std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v", spdlog::pattern_time_type::utc);
    logger->set_level(number);
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
    return {};
}

void log_debug(std::string_view text) { spdlog::debug("{}", text); }
void log_info(std::string_view text) { spdlog::info("{}", text); }
void log_warn(std::string_view text) { spdlog::warn("{}", text); }
void log_error(std::string_view text) { spdlog::error("{}", text); }
void log_error(const base::Error& error) {
    spdlog::error("{}{}{}", error.what, error.fix.empty() ? "" : "; ", error.fix);
}

}  // namespace assay::node
