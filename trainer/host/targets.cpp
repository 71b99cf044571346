// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/targets.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include "trainer/host/machine.hpp"

namespace assay::trainer {

namespace {
constexpr std::string_view kEmulatedGpu = "cuda-host";

constexpr std::array kFastestFirst = {Target::kAmx,  Target::kVnni, Target::kAvx512, Target::kAvxVnni,
                                      Target::kAvx2, Target::kNeon, Target::kScalar};

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

base::Outcome<Target> parse_word(std::string_view word) {
    for (const Target target : kFastestFirst) {
        if (word != to_text(target)) continue;
        if (machine_has(target)) return target;
        return base::fail(base::ErrorKind::kPreflight,
                          "ASSAY_TARGETS names " + std::string(word) + ", which this machine lacks",
                          "use some of: " + joined(machine_targets()));
    }
    return base::fail(base::ErrorKind::kUsage,
                      "ASSAY_TARGETS: no target is called '" + std::string(word) + "'",
                      "use some of: " + joined(machine_targets()));
}
}  // namespace

std::string_view to_text(Target target) {
    switch (target) {
        case Target::kScalar: return "scalar";
        case Target::kNeon: return "neon";
        case Target::kAvx2: return "avx2";
        case Target::kAvxVnni: return "avxvnni";
        case Target::kAvx512: return "avx512";
        case Target::kVnni: return "vnni";
        case Target::kAmx: return "amx";
    }
    return "?";
}

std::vector<std::string> machine_targets() {
    std::vector<std::string> words;
    for (const Target target : kFastestFirst) {
        if (machine_has(target)) words.emplace_back(to_text(target));
    }
    return words;
}

base::Outcome<Target> choose_target(std::string_view restriction) {
    if (restriction.empty()) {
        for (const Target target : kFastestFirst) {
            if (machine_has(target)) return target;
        }
    }
    Target best = Target::kScalar;
    while (true) {
        const std::size_t comma = restriction.find(',');
        ASSAY_ASSIGN(const Target named, parse_word(restriction.substr(0, comma)));
        if (named > best) best = named;
        if (comma == std::string_view::npos) return best;
        restriction.remove_prefix(comma + 1);
    }
}

std::string targets_from_environment() {
    const char* value = std::getenv("ASSAY_TARGETS");
    return value == nullptr || value == kEmulatedGpu ? std::string() : std::string(value);
}

std::string device_from_environment() {
    const char* value = std::getenv("ASSAY_TARGETS");
    return std::string(value != nullptr && value == kEmulatedGpu ? kEmulatedGpu : "cpu");
}

base::Outcome<int> threads_from_environment() {
    const char* value = std::getenv("ASSAY_THREADS");
    if (value == nullptr || *value == '\0') return 1;
    const std::string_view text(value);
    int threads = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || threads < 1 || threads > 256) {
        return base::fail(base::ErrorKind::kUsage,
                          "ASSAY_THREADS: '" + std::string(text) + "' is not allowed",
                          "use a number from 1 to 256");
    }
    return threads;
}

}  // namespace assay::trainer
