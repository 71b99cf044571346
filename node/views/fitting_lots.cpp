// SPDX-License-Identifier: Apache-2.0
#include "node/views/fitting_lots.hpp"

namespace assay::node {

std::uint64_t& bin_of(FittingLots& lots, const contracts::JobTerms& job, const contracts::LotClass& kind,
                      base::Amount price) {
    const program::MarketTerms& terms = job.spec.market.terms;
    if (kind.profile != job.spec.profile) return lots.other_profile;
    if (kind.speed < terms.least_speed) return lots.too_slow;
    if (kind.memory < terms.least_memory) return lots.too_little_memory;
    if (kind.network < terms.least_network) return lots.too_little_network;
    return price > job.spec.market.max_price ? lots.above_cap : lots.fit;
}

std::string breakdown(const FittingLots& lots, std::uint64_t sealed) {
    std::string text =
        counted(lots.all(), "lot") + (lots.all() == 1 ? " stands or is left" : " stand or are left");
    const auto add = [&](std::uint64_t count, const char* why) {
        if (count > 0) text += ", " + std::to_string(count) + " " + why;
    };
    add(lots.fit, "in classes that do");
    add(lots.other_profile, "of another profile");
    add(lots.too_slow, "too slow");
    add(lots.too_little_memory, "with too little memory");
    add(lots.too_little_network, "with too little network");
    add(lots.above_cap, "at a base price above the job's cap");
    if (sealed > 0) text += "; " + counted(sealed, "more lot") + (sealed == 1 ? " is sealed" : " are sealed");
    return text;
}

std::string counted(std::uint64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace assay::node
