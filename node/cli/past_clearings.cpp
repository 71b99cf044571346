// SPDX-License-Identifier: Apache-2.0
#include "node/cli/past_clearings.hpp"

#include <algorithm>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/replayed_states.hpp"
#include "node/cli/progress.hpp"
#include "node/processes/role_process.hpp"

namespace assay::node {

namespace {

/// The height of the newest clearing, or one behind it; 0 where there was none.
std::uint64_t newest_clearing(const contracts::MarketClock& clock, std::uint64_t height) {
    if (clock.phase == contracts::MarketPhase::kNotice) return std::min(clock.clear_at, height);
    return clock.epoch == 1 ? 0 : std::min(clock.start, height);
}

}  // namespace

base::Outcome<void> visit_clearings(const Context& context, const ChainSource& chain,
                                    const PastClearings& wanted,
                                    const std::function<void(const ClearedMarket&)>& visit) {
    const std::uint64_t last = newest_clearing(contracts::read_market_clock(*chain.state), chain.height);
    bool found = wanted.epoch == 0;
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
            ASSAY_ASSIGN(const auto market, ClearedMarket::of(before, {position.chain_id, position.height}));
            if (!market || (wanted.epoch != 0 && market->epoch() != wanted.epoch)) return {};
            found = true;
            visit(*market);
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
