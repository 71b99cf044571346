// SPDX-License-Identifier: Apache-2.0
#include "node/audit/slot_traffic.hpp"

#include <cmath>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/rules/job/panel.hpp"

namespace assay::node {
namespace {

constexpr auto kPanel = static_cast<double>(contracts::panel_mean());

struct Ways {
    std::uint64_t miner_up, verifier_up, verifier_down;
};

std::uint64_t up_to_a_byte(double bytes) { return static_cast<std::uint64_t>(std::ceil(bytes)); }

Ways ways(const program::JobSpec& spec, const PlannedBytes& planned, double verifiers, const DrawRates& rates,
          double starts) {
    const auto& strategy = program::strategy_of(spec);
    const auto update = static_cast<double>(strategy.tick.ticks * planned.files.update);
    const double handed_on = program::carries_state(spec)
                                 ? static_cast<double>(planned.files.state_of(strategy.carried_arrays.size()))
                                 : 0;
    // Verifiers that lack them: the update comes of `finalise`, the handed-on state of the last segment.
    const double fetched =
        (verifiers - kPanel * rates.finalise) * update + (verifiers - kPanel * rates.segment) * handed_on;
    const double of_the_miner = fetched / verifiers;
    const auto to_miners = static_cast<double>(planned.received);
    return {.miner_up = up_to_a_byte(starts + of_the_miner),
            .verifier_up = up_to_a_byte((fetched - of_the_miner + to_miners) / verifiers),
            .verifier_down = up_to_a_byte((starts + fetched) / verifiers)};
}

}  // namespace

SlotTraffic slot_traffic(const program::JobSpec& spec, const PlannedBytes& planned, std::uint32_t verifiers) {
    ASSAY_CHECK(verifiers >= kPanel);
    const Ways newcomer = ways(spec, planned, verifiers, {}, static_cast<double>(planned.audit_newcomer));
    const Ways proven =
        ways(spec, planned, verifiers, proven_rates(spec), static_cast<double>(planned.audit_proven));
    return {.miner_up = {newcomer.miner_up, proven.miner_up},
            .miner_down = planned.received,
            .verifier_up = {newcomer.verifier_up, proven.verifier_up},
            .verifier_down = {newcomer.verifier_down, proven.verifier_down}};
}

}  // namespace assay::node
