// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/memory_text.hpp"

#include <array>
#include <cstdio>

namespace assay::trainer {

std::string memory_text(std::uint64_t bytes) {
    constexpr double kKibi = 1024;
    constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
    double number = static_cast<double>(bytes) / kKibi;
    std::size_t unit = 0;
    while (number >= kKibi && unit + 1 < kUnits.size()) {
        number /= kKibi;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", number, kUnits[unit]);
    return text.data();
}

}  // namespace assay::trainer
