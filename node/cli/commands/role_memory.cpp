// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/role_memory.hpp"

#include <cstdlib>

#include "node/runtime/log.hpp"
#include "node/runtime/machine_memory.hpp"
#include "trainer/step/memory_budget.hpp"
#include "trainer/step/memory_text.hpp"

namespace assay::node {

std::uint64_t default_role_memory(std::uint64_t machine, std::size_t devices) {
    constexpr std::uint64_t kParts = 8, kForSteps = 3;
    return machine / kParts * kForSteps / devices;
}

base::Outcome<std::uint64_t> role_memory(const std::string& flag, std::size_t devices) {
    if (!flag.empty()) return trainer::parse_memory_limit(flag);
    ASSAY_ASSIGN(const std::uint64_t given, trainer::memory_from_environment());
    // ASSAY_MEMORY=0 is a choice of no limit, too.
    const char* const set = std::getenv("ASSAY_MEMORY");
    if (set != nullptr && *set != '\0') return given;
    return default_role_memory(memory_of_machine(), devices);
}

base::Outcome<void> limit_memory(WorkerOptions& worker, const std::string& flag, std::size_t devices) {
    ASSAY_ASSIGN(const std::uint64_t bytes, role_memory(flag, devices));
    worker.memory = bytes == 0 ? "0" : std::to_string(bytes) + "B";
    if (bytes == 0) return {};
    log_info("a worker may take " + trainer::memory_text(bytes) +
             " of the machine's memory (--memory says otherwise)");
    return {};
}

}  // namespace assay::node
