// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_options.hpp"

#include <cstdlib>

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

Outcome<std::filesystem::path> find_worker_program(const WorkerOptions& options) {
    std::filesystem::path program = options.program;
    if (program.empty()) {
        if (const char* named = std::getenv("ASSAY_WORKER"); named != nullptr && *named != '\0')
            program = named;
    }
    if (program.empty()) {
        ASSAY_ASSIGN(const auto own, own_program());
        program = own.parent_path() / "assay-worker";
    }
    std::error_code error;
    if (std::filesystem::exists(program, error)) return program;
    return fail(ErrorKind::kNotFound, "no worker program at " + program.string(),
                "build it (make build), or set ASSAY_WORKER to its path");
}

Outcome<ProcessOptions> process_of(const WorkerOptions& options, std::vector<std::string> arguments) {
    ProcessOptions process;
    ASSAY_ASSIGN(process.program, find_worker_program(options));
    process.arguments = std::move(arguments);
    if (!options.device.empty()) {
        process.arguments.emplace_back("--device");
        process.arguments.push_back(options.device);
    }
    process.environment = options.environment;
    const auto name = [&](const char* variable, const std::string& value) {
        if (!value.empty()) process.environment.emplace_back(variable, value);
    };
    if (options.threads != 0) name("ASSAY_THREADS", std::to_string(options.threads));
    if (options.duty != 0) name("ASSAY_DUTY", std::to_string(options.duty));
    name("ASSAY_MEMORY", options.memory);
    name("ASSAY_DEVICE_MEMORY", options.device_memory);
    name("ASSAY_TARGETS", options.targets);
    return process;
}

}  // namespace assay::node
