// SPDX-License-Identifier: Apache-2.0
#include "node/views/lot_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "contracts/program/limits.hpp"
#include "contracts/program/names.hpp"

namespace assay::node {

namespace {

// A job can ask for every class that a lot may state, and for none beyond.
static_assert(program::kMostSpeedBits == contracts::kMaxSpeedBits);
static_assert(program::kMostMemoryBits == contracts::kMaxMemoryBits);
static_assert(program::kMostNetworkBits == contracts::kMaxNetworkBits);

constexpr double kSpeedUnit = 1'000;  // the ledger counts thousandths of a work unit per height

std::optional<std::uint8_t> bits_in(std::string_view text, std::uint8_t most) {
    std::uint8_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
    if (error != std::errc() || end != text.data() + text.size() || bits > most) return std::nullopt;
    return bits;
}

/// Cuts the text up to the next slash off.
std::string_view next_part(std::string_view& text) {
    const std::size_t slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
    return part;
}

std::optional<contracts::LotClass> class_of(std::string_view text) {
    if (std::count(text.begin(), text.end(), '/') != 3) return std::nullopt;
    const auto profile = program::parse_profile(next_part(text));
    const auto speed = bits_in(next_part(text), contracts::kMaxSpeedBits);
    const auto memory = bits_in(next_part(text), contracts::kMaxMemoryBits);
    const auto network = bits_in(next_part(text), contracts::kMaxNetworkBits);
    if (!profile || !speed || !memory || !network) return std::nullopt;
    return contracts::LotClass{*profile, *speed, *memory, *network};
}

}  // namespace

std::string class_code(const contracts::LotClass& kind) {
    return std::string(program::to_text(kind.profile)) + "/" + std::to_string(kind.speed) + "/" +
           std::to_string(kind.memory) + "/" + std::to_string(kind.network);
}

base::Outcome<contracts::LotClass> parse_class(std::string_view text) {
    if (const auto kind = class_of(text)) return *kind;
    return base::fail(base::ErrorKind::kUsage, "'" + std::string(text) + "' is not a class of lots",
                      "give profile and the bits of speed, memory and network, as in f32/5/5/7; see: assay "
                      "market show");
}

std::string size_words(std::uint8_t bits) {
    if (bits == 0) return "below 1";
    const std::uint64_t first = std::uint64_t{1} << (std::min<unsigned>(bits, 63) - 1);
    return bits == 1 ? "1" : std::to_string(first) + "–" + std::to_string(2 * first - 1);
}

std::string speed_words(std::uint8_t bits) {
    if (bits == 0) return "below 0.001";
    constexpr std::array<const char*, 6> kPowers = {"", " k", " M", " G", " T", " P"};
    double low = std::ldexp(1.0, bits - 1) / kSpeedUnit;
    double high = (std::ldexp(1.0, bits) - 1) / kSpeedUnit;
    std::size_t power = 0;
    for (; high >= kSpeedUnit && power + 1 < kPowers.size(); ++power) {
        low /= kSpeedUnit;
        high /= kSpeedUnit;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.3g–%.3g%s", low, high, kPowers[power]);
    return text.data();
}

std::string class_words(const contracts::LotClass& kind) {
    return std::string(program::to_text(kind.profile)) + ", speed " + std::to_string(kind.speed) + " (" +
           speed_words(kind.speed) + " work units a block), " + size_words(kind.memory) + " GiB, " +
           size_words(kind.network) + " Mbit/s";
}

std::uint64_t largest_class(const LotsByClass& lots) {
    std::uint64_t most = 0;
    for (const auto& [kind, count] : lots) most = std::max(most, count);
    return most;
}

std::string no_gang_text(std::uint32_t gang, const LotsByClass& lots) {
    const std::string text =
        "no class alone has " + std::to_string(gang) + (gang == 1 ? " lot: " : " lots: ");
    std::string counts;
    for (const auto& [kind, count] : lots)
        counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " of " + class_code(kind);
    return text + (counts.empty() ? "none stands or is left" : counts);
}

}  // namespace assay::node
