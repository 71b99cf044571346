// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/card_budget.hpp"

#include "trainer/step/memory_text.hpp"

namespace assay::trainer::cuda {

base::Outcome<std::uint64_t> card_budget(const std::string& name, std::uint64_t given, std::uint64_t free,
                                         std::uint64_t total) {
    constexpr std::uint64_t kReserved = 16;  // a sixteenth
    if (given > total) {
        return base::fail(
            base::ErrorKind::kPreflight,
            name + " has " + memory_text(total) + ", less than the " + memory_text(given) + " given",
            "lower --device-memory");
    }
    const std::string found = name + " has " + memory_text(free) + " free, of " + memory_text(total);
    if (given > free) {
        return base::fail(base::ErrorKind::kPreflight,
                          found + ", less than the " + memory_text(given) + " given",
                          "end what else uses the card, or lower --device-memory");
    }
    if (given != 0) return given;
    const std::uint64_t reserved = total / kReserved;
    if (free > reserved) return free - reserved;
    return base::fail(base::ErrorKind::kPreflight, found,
                      "end what else uses the card, or use another device");
}

}  // namespace assay::trainer::cuda
