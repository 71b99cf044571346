// SPDX-License-Identifier: Apache-2.0
// Gives commands and views the two text forms of a class of lots: a short one to type and compare, and one in
// words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/rules/market/records.hpp"

namespace assay::node {

/// "f32/5/5/7": profile, and the bits of speed, memory and network.
std::string class_code(const contracts::LotClass& kind);
/// Parses such a text. kUsage for any other text; the fix shows the form.
base::Outcome<contracts::LotClass> parse_class(std::string_view text);

/// "f32, speed 5 (0.016–0.031 work units a block), 16–31 GiB, 64–127 Mbit/s".
std::string class_words(const contracts::LotClass& kind);
/// The range of numbers with so many bits: "16–31"; "below 1" for 0 bits.
std::string size_words(std::uint8_t bits);
/// The same for verified speeds, in work units per block: "0.016–0.031".
std::string speed_words(std::uint8_t bits);

/// How many lots each class has.
using LotsByClass = std::map<contracts::LotClass, std::uint64_t>;
/// The most lots that one class has; 0 without classes. A gang bids for one class, so lots of several classes
/// make no gang.
std::uint64_t largest_class(const LotsByClass& lots);
/// Text for lots of which no class has enough for a gang: "no class alone has 2 lots: 1 of f32/9/5/0, 1 of
/// f32/10/5/0".
std::string no_gang_text(std::uint32_t gang, const LotsByClass& lots);

}  // namespace assay::node
