// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/floating_point.hpp"

#include <cfenv>
#include <span>

namespace assay::base {

namespace {

struct ModeBit {
    std::uint64_t mask;
    const char* name;
};

// MXCSR, Intel SDM volume 1, 10.2.3. Bits 0 to 5 are flags that any operation sets; they change nothing.
constexpr std::uint64_t kMxcsrMasks = 0x1f80;  // 7 … 12: exceptions masked, as every process starts
constexpr std::uint64_t kMxcsrMode = 0xffc0;
constexpr ModeBit kMxcsrBits[] = {
    {1U << 6U, "DAZ (denormal operands count as zero)"},
    {kMxcsrMasks, "an exception mask is off (a result would end the process)"},
    {3U << 13U, "RC (does not round to nearest even)"},
    {1U << 15U, "FTZ (denormal results become zero)"},
};

// FPCR, Arm DDI 0487. All of these are 0 when a process starts.
constexpr ModeBit kFpcrBits[] = {
    {1U << 0U, "FIZ (denormal operands count as zero)"},
    {1U << 1U, "AH (alternate handling of denormals and NaNs)"},
    {1U << 2U, "NEP (scalar results keep other lanes)"},
    {0x9f00U, "a trap is enabled (a result would end the process)"},  // IOE, DZE, OFE, UFE, IXE, IDE
    {1U << 19U, "FZ16 (half-precision denormals become zero)"},
    {3U << 22U, "RMode (does not round to nearest even)"},
    {1U << 24U, "FZ (denormals become zero)"},
    {1U << 25U, "DN (every NaN becomes the default one)"},
    {1U << 26U, "AHP (alternative half precision)"},
};

std::uint64_t all_of(std::span<const ModeBit> bits) {
    std::uint64_t all = 0;
    for (const ModeBit& bit : bits) all |= bit.mask;
    return all;
}

std::string text_of(std::span<const ModeBit> bits, std::uint64_t faults) {
    std::string text;
    for (const ModeBit& bit : bits) {
        if ((faults & bit.mask) != 0) text += (text.empty() ? "" : ", ") + std::string(bit.name);
    }
    return text;
}

}  // namespace

std::uint64_t mxcsr_faults(std::uint32_t mxcsr) { return (mxcsr ^ kMxcsrMasks) & kMxcsrMode; }
std::uint64_t fpcr_faults(std::uint64_t fpcr) { return fpcr & all_of(kFpcrBits); }
std::string mxcsr_fault_text(std::uint64_t faults) { return text_of(kMxcsrBits, faults); }
std::string fpcr_fault_text(std::uint64_t faults) { return text_of(kFpcrBits, faults); }

std::uint64_t floating_point_faults() {
#if defined(__x86_64__)
    std::uint32_t mode = 0;
    asm volatile("stmxcsr %0" : "=m"(mode));
    return mxcsr_faults(mode);
#elif defined(__aarch64__)
    std::uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return fpcr_faults(mode);
#else
    return std::fegetround() == FE_TONEAREST ? 0 : 1;
#endif
}

Outcome<void> refuse_floating_point(std::uint64_t faults) {
    if (faults == 0) return {};
#if defined(__x86_64__)
    const std::string named = "MXCSR: " + mxcsr_fault_text(faults);
#elif defined(__aarch64__)
    const std::string named = "FPCR: " + fpcr_fault_text(faults);
#else
    const std::string named = "does not round to nearest even";
#endif
    return fail(ErrorKind::kPreflight,
                "the floating-point mode of a thread of this process was changed: " + named,
                "find what changed it (LD_PRELOAD, a library built with -ffast-math) and keep it out of "
                "this process");
}

}  // namespace assay::base
