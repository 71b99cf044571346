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

namespace {

class SpdLog final : public Log {
public:
    void write(LogLevel level, std::string_view text) override { spdlog::log(number_of(level), "{}", text); }

private:
    static spdlog::level::level_enum number_of(LogLevel level) {
        switch (level) {
            case LogLevel::kDebug: return spdlog::level::debug;
            case LogLevel::kInfo: return spdlog::level::info;
            case LogLevel::kWarn: return spdlog::level::warn;
            case LogLevel::kError: return spdlog::level::err;
        }
        return spdlog::level::err;
    }
};

}  // namespace

Log& process_log() {
    static SpdLog log;
    return log;
}

void log_debug(std::string_view text) { process_log().debug(text); }
void log_info(std::string_view text) { process_log().info(text); }
void log_warn(std::string_view text) { process_log().warn(text); }
void log_error(std::string_view text) { process_log().error(text); }
void log_error(const base::Error& error) { process_log().error(error); }

}  // namespace assay::node
