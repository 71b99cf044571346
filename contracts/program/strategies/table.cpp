// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "contracts/program/strategies/diloco.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

namespace {
constexpr std::array<const StrategyRow*, 2> kRows = {&kDilocoRow, &kDilocoHalfRow};

template <class Wanted>
const StrategyRow* first_row(const Wanted& wanted) {
    const auto* const found =
        std::find_if(kRows.begin(), kRows.end(), [&](const StrategyRow* row) { return wanted(*row); });
    return found == kRows.end() ? nullptr : *found;
}
}  // namespace

std::span<const StrategyRow* const> strategies() { return kRows; }

const StrategyRow* find_strategy(Engine engine, Strategy strategy) {
    return first_row([&](const StrategyRow& row) { return row.engine == engine && row.number == strategy; });
}

const StrategyRow* find_strategy(std::string_view engine, std::string_view strategy, std::string_view codec) {
    return first_row([&](const StrategyRow& row) {
        return row.engine_word == engine && row.word == strategy && row.codec->word == codec;
    });
}

std::string_view to_text(InnerState state) { return state == InnerState::kCarried ? "carried" : "reset"; }

}  // namespace assay::program
