// SPDX-License-Identifier: Apache-2.0
// Spelling of values: what is allowed, how TOML writes it, and which known word was meant.
#include <algorithm>
#include <array>
#include <charconv>

#include "contracts/base/check.hpp"
#include "node/config/job_keys.hpp"

namespace assay::node {
namespace {

/// Shortest text that reads back as the same double, with the point or exponent that TOML asks for.
std::string fraction_text(double value) {
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    ASSAY_CHECK(end.ec == std::errc{});
    std::string text(digits.data(), end.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string quote(std::string_view text) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15U];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

std::string or_zero(const JobKey& key) { return key.zero_is_standard ? ", or 0" : ""; }

}  // namespace

std::string allowed(const JobKey& key) {
    switch (key.type) {
        case JobKeyType::kText: return "text in quotes, " + key.limit->range();
        case JobKeyType::kPath: return "path in quotes, relative to the job file";
        case JobKeyType::kMoney:
            return "amount in quotes, " + key.limit->range() + ": \"1.5\" is ASY, \"250u\" is base units";
        case JobKeyType::kChoice: {
            std::string out;
            for (const std::string& word : key.words) out += (out.empty() ? "" : " or ") + quote(word);
            return out;
        }
        case JobKeyType::kWhole: return "whole number " + key.limit->range() + or_zero(key);
        case JobKeyType::kNumber: return "number " + key.limit->range() + or_zero(key);
    }
    ASSAY_CHECK(false);
}

std::string to_toml(const JobValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    return fraction_text(std::get<double>(value));
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    std::string best;
    std::size_t fewest = word.size() / 2 + 2;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edits(word, candidate);
        if (distance < fewest) {
            fewest = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace assay::node
