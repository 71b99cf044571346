// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/mean_loss.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

AuditedLoss audited_loss(const StateView& state, const Hash256& id, const program::JobSpec& spec,
                         std::uint32_t round, const std::vector<std::uint32_t>& merged_slots) {
    RoundPostings postings(state, id, round);
    std::vector<std::uint32_t> losses;
    for (const std::uint32_t number : merged_slots) {
        const auto slot = read_slot(state, id, round, number);
        const auto reveal = read_reveal(state, id, round, number);
        if (!slot || !reveal) continue;
        const auto audits = audits_of(postings, *slot);
        // What replays computed besides is no sample: whoever withholds would choose it.
        for (const std::uint32_t unit : slot->drawn_units) {
            if (!is_heard(audits, unit)) continue;
            const program::StepRange range = program::RoundPlan(spec).steps(unit);
            for (std::uint32_t step = range.first; step < range.last; ++step) {
                if (step < reveal->trace.fingerprints.size())
                    losses.push_back(reveal->trace.fingerprints[step].loss);
            }
        }
    }
    if (losses.empty()) return {};
    return {program::mean_loss(losses), static_cast<std::uint32_t>(losses.size())};
}

}  // namespace assay::contracts
