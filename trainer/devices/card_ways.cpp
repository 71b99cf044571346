// SPDX-License-Identifier: Apache-2.0
#include "trainer/devices/card_ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace assay::trainer {

base::Outcome<cuda::CardWays> parse_card_without(std::string_view list) {
    cuda::CardWays ways;
    while (!list.empty()) {
        const std::string_view word = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), word.size() + 1));
        if (word == "fused-attention") {
            ways.fused_attention = false;
        } else if (word == "cut-products") {
            ways.cut_products = false;
        } else {
            return base::fail(
                base::ErrorKind::kUsage,
                "ASSAY_CARD_WITHOUT: '" + std::string(word) + "' is nothing that a card can do without",
                "name fused-attention, cut-products, or both with a comma");
        }
    }
    return ways;
}

base::Outcome<cuda::CardWays> card_ways_from_environment() {
    const char* const list = std::getenv("ASSAY_CARD_WITHOUT");
    return parse_card_without(list == nullptr ? "" : list);
}

}  // namespace assay::trainer
