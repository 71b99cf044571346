// SPDX-License-Identifier: Apache-2.0
// Operands that try the exact-integer products, and the machines that this processor can run them on.
#pragma once

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "trainer/cpu/integer/machines.hpp"
#include "trainer/host/machine.hpp"

namespace assay::trainer::integer::test {

using Values = std::vector<float>;

struct Named {
    std::string name;
    const Machine* machine = nullptr;
};

/// The AMX machine on tiles in plain C++ (emulated_amx.cpp). REQUIRES AVX-512.
const Machine& emulated_amx_machine();

/// Every machine of this processor. The variable ASSAY_MACHINE names one that is to run alone, for emulators
/// that are slow; a processor without it fails.
inline std::vector<Named> machines() {
    std::vector<Named> all{{"plain", &plain_machine()}};
#if defined(__aarch64__)
    all.push_back({"neon", &neon_machine()});
    if (has_dot_products()) all.push_back({"neon dot", &neon_dot_machine()});
#elif defined(__x86_64__)
    if (machine_has(Target::kAvx2)) all.push_back({"avx2", &avx2_machine()});
    if (machine_has(Target::kAvxVnni)) all.push_back({"avxvnni", &avx_vnni_machine()});
    if (machine_has(Target::kAvx512)) all.push_back({"avx512", &avx512_machine()});
    if (machine_has(Target::kVnni)) all.push_back({"vnni-runs", &vnni_runs_machine()});
    if (machine_has(Target::kVnni)) all.push_back({"vnni-bytes", &vnni_bytes_machine()});
    if (machine_has(Target::kAvx512)) all.push_back({"emulated amx", &emulated_amx_machine()});
    if (machine_has(Target::kAmx)) all.push_back({"amx", &amx_machine()});
#endif
    if (const char* only = std::getenv("ASSAY_MACHINE")) {
        std::erase_if(all, [&](const Named& named) { return named.name != only; });
        REQUIRE(all.size() == 1);
    }
    return all;
}

inline float wild(std::mt19937& random) {
    std::normal_distribution<float> normal;
    const float x = normal(random);
    switch (random() % 16) {
        case 0: return 0.0F;
        case 1: return -0.0F;
        case 2: return std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x807fffffU);  // subnormal
        case 3: return std::ldexp(x, static_cast<int>(random() % 200) - 100);
        case 4: return std::ldexp(x, 120);
        case 5: return static_cast<float>(static_cast<int>(random() % 17) - 8) * 0.5F;  // ties
        default: return x;
    }
}

/// Numbers of one of several kinds: wild ones, ordinary ones, subnormal ones, full digits, few that are not
/// 0.
inline Values numbers(std::mt19937& random, std::size_t count) {
    Values out(count);
    const auto kind = random() % 6;
    const float full = random() % 2 == 0 ? 32639.0F : 8355711.0F;
    for (float& x : out) {
        x = wild(random);
        if (kind == 0) x = static_cast<float>(random() % 100000) / 50000.0F - 1.0F;
        if (kind == 1) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x80003fffU);
        if (kind == 2) x = random() % 2 == 0 ? full : -full;
        if (kind == 3 && random() % 8 != 0) x = 0.0F;
    }
    return out;
}

inline bool same(const Values& a, const Values& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
        if (!both_nan && std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
            UNSCOPED_INFO("element " << i << ": " << a[i] << " against " << b[i]);
            return false;
        }
    }
    return true;
}

}  // namespace assay::trainer::integer::test
