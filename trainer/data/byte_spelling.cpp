// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/byte_spelling.hpp"

#include <array>
#include <map>

namespace assay::trainer {
namespace {

const std::array<char32_t, 256>& stand_ins() {
    static const std::array<char32_t, 256> table = [] {
        std::array<char32_t, 256> made{};
        char32_t next = 256;
        for (char32_t byte = 0; byte < 256; ++byte) {
            const bool visible =
                (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
            made[byte] = visible ? byte : next++;
        }
        return made;
    }();
    return table;
}

}  // namespace

std::string spell_bytes(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const char32_t point = stand_ins()[static_cast<unsigned char>(byte)];  // below 0x800
        if (point < 0x80) {
            text.push_back(static_cast<char>(point));
        } else {
            text.push_back(static_cast<char>(0xc0U | (point >> 6)));
            text.push_back(static_cast<char>(0x80U | (point & 0x3fU)));
        }
    }
    return text;
}

std::optional<std::string> unspell_bytes(std::string_view text) {
    static const std::map<char32_t, char> bytes = [] {
        std::map<char32_t, char> made;
        for (std::size_t byte = 0; byte < 256; ++byte) {
            made[stand_ins()[byte]] = static_cast<char>(static_cast<unsigned char>(byte));
        }
        return made;
    }();
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto point = static_cast<char32_t>(static_cast<unsigned char>(text[i]));
        if (point >= 0x80) {
            if (point >= 0xe0 || i + 1 == text.size()) return std::nullopt;
            point = ((point & 0x1fU) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3fU);
        }
        const auto found = bytes.find(point);
        if (found == bytes.end()) return std::nullopt;
        out.push_back(found->second);
    }
    return out;
}

}  // namespace assay::trainer
