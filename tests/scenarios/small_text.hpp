// SPDX-License-Identifier: Apache-2.0
// Text for scenarios: sentences over a small vocabulary, with something in them that a model can learn.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::tests {

/// About 96 KiB; the same seed gives the same text.
inline std::string small_text(std::uint64_t seed) {
    constexpr std::array<std::string_view, 12> kWho = {
        "the miller", "a sailor",      "my sister", "the old judge", "her uncle", "a shepherd",
        "the queen",  "our neighbour", "the smith", "a stranger",    "the clerk", "his daughter"};
    constexpr std::array<std::string_view, 10> kDid = {"carried", "counted",  "forgot", "measured", "sold",
                                                       "weighed", "repaired", "hid",    "praised",  "buried"};
    constexpr std::array<std::string_view, 14> kWhat = {
        "seven coins",     "the red lantern", "a bag of barley", "the long rope", "two silver cups",
        "an empty barrel", "the last page",   "a wooden wheel",  "the iron key",  "some bread",
        "a blue cloak",    "the heavy gate",  "old letters",     "a broken clock"};
    constexpr std::array<std::string_view, 8> kWhere = {
        "at the harbour", "before dawn",   "in the market", "under the bridge",
        "after the rain", "near the mill", "by the well",   "during the feast"};
    std::uint64_t state = seed;
    const auto pick = [&](const auto& words) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return words[(state >> 33U) % words.size()];
    };
    std::string text;
    while (text.size() < 96U * 1024U) {
        text.append(pick(kWho)).append(" ").append(pick(kDid)).append(" ").append(pick(kWhat));
        text.append(" ").append(pick(kWhere)).append(".\n");
    }
    return text;
}

}  // namespace assay::tests
