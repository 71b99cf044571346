// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/names.hpp"

#include <array>
#include <utility>

namespace assay::program {

namespace {
template <class Enum, std::size_t n>
using WordTable = std::array<std::pair<Enum, std::string_view>, n>;

constexpr WordTable<Profile, 2> kProfiles = {{{Profile::kF32, "f32"}, {Profile::kI16, "i16"}}};
constexpr WordTable<Family, 2> kFamilies = {{{Family::kGpt2, "gpt2"}, {Family::kLlama, "llama"}}};
constexpr WordTable<Head, 2> kHeads = {{{Head::kTied, "tied"}, {Head::kUntied, "untied"}}};

template <class Enum, std::size_t n>
std::string_view word_of(const WordTable<Enum, n>& words, Enum wanted) {
    for (const auto& [value, word] : words) {
        if (value == wanted) return word;
    }
    return "unknown";
}

template <class Enum, std::size_t n>
std::optional<Enum> value_of(const WordTable<Enum, n>& words, std::string_view wanted) {
    for (const auto& [value, word] : words) {
        if (word == wanted) return value;
    }
    return std::nullopt;
}
}  // namespace

std::string_view to_text(Profile profile) { return word_of(kProfiles, profile); }
std::string_view to_text(Family family) { return word_of(kFamilies, family); }
std::string_view to_text(Head head) { return word_of(kHeads, head); }

std::optional<Profile> parse_profile(std::string_view word) { return value_of(kProfiles, word); }
std::optional<Family> parse_family(std::string_view word) { return value_of(kFamilies, word); }
std::optional<Head> parse_head(std::string_view word) { return value_of(kHeads, word); }

}  // namespace assay::program
