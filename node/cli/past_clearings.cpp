// SPDX-License-Identifier: Apache-2.0
#include "node/cli/past_clearings.hpp"

#include <algorithm>

#include "contracts/rules/apply.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/replayed_states.hpp"
#include "node/cli/progress.hpp"
#include "node/processes/role_process.hpp"

namespace assay::node {

namespace {

using contracts::MarketPhase;

/// Up to where blocks matter: the height of the newest clearing or one behind it, 0 where there was none;
/// while something is being opened, all of them.
std::uint64_t last_height(const contracts::MarketClock& clock, std::uint64_t height) {
    if (clock.phase == MarketPhase::kOpening) return height;
    if (clock.phase == MarketPhase::kNotice) return std::min(clock.clear_at, height);
    return clock.epoch == 1 ? 0 : std::min(clock.start, height);
}

/// Calls `visit` with the clearing at `height`, if nothing were sent up to then. `now`: the state before the
/// block at `next`.
base::Outcome<void> foresee(const contracts::StateView& now, const ledger::Position& next,
                            std::uint64_t height, const std::function<void(const ClearedMarket&)>& visit) {
    contracts::Overlay before(now);
    for (std::uint64_t each = next.height; each < height; ++each)
        (void)contracts::begin_block(before, {next.chain_id, each});
    ASSAY_ASSIGN(const auto market,
                 ClearedMarket::of(before, {next.chain_id, height}, ClearingTime::kForeseen));
    if (market) visit(*market);
    return {};
}

}  // namespace

base::Outcome<void> visit_clearings(const Context& context, const ChainSource& chain,
                                    const PastClearings& wanted,
                                    const std::function<void(const ClearedMarket&)>& visit) {
    const std::uint64_t last = last_height(contracts::read_market_clock(*chain.state), chain.height);
    bool found = wanted.epoch == 0;
    const auto show = [&](const ClearedMarket& market) {
        if (wanted.epoch != 0 && market.epoch() != wanted.epoch) return;
        found = true;
        visit(market);
    };
    if (last > 0) {
        ASSAY_ASSIGN(const ledger::Genesis genesis,
                     genesis_of(context.home(), wanted.genesis.empty()
                                                    ? std::nullopt
                                                    : std::optional<std::filesystem::path>(wanted.genesis)));
        ASSAY_ASSIGN(const ledger::BlockReader read, chain.blocks());
        ProgressBar progress(context.err, "executing the ledger's blocks again", "blocks");
        const auto see = [&](const contracts::StateView& before,
                             const ledger::Position& position) -> base::Outcome<void> {
            progress.update(position.height, last);
            const contracts::MarketClock clock = contracts::read_market_clock(before);
            if (clock.phase != MarketPhase::kOpening) return {};
            if (position.height > last) return foresee(before, position, clock.clear_at, show);
            ASSAY_ASSIGN(const auto market, ClearedMarket::of(before, {position.chain_id, position.height}));
            if (market) show(*market);
            return {};
        };
        ASSAY_TRY(ledger::visit_states(ledger::rules_machine(), genesis, read, last, see));
    }
    if (found) return {};
    return base::fail(base::ErrorKind::kNotFound,
                      "epoch " + std::to_string(wanted.epoch) + " of the market was not cleared",
                      "see: assay market history");
}

}  // namespace assay::node
