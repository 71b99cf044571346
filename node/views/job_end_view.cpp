// SPDX-License-Identifier: Apache-2.0
#include "node/views/job_end_view.hpp"

#include <algorithm>
#include <map>

#include "contracts/rules/escrow.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::node {

namespace {

/// Adds the claims of settled rounds, which wait for their windows.
void add_windows(const contracts::StateView& state, JobEndView& view) {
    std::map<std::uint32_t, std::optional<contracts::RoundProgress>> rounds;
    for (const auto& [id, claim] : contracts::list_claims(state, view.job)) {
        const auto [at, is_new] = rounds.try_emplace(id.round);
        if (is_new) at->second = contracts::read_round_progress(state, view.job, id.round);
        const auto& round = at->second;
        if (!round || round->phase != contracts::RoundPhase::kSettled) continue;
        ++view.open_claims;
        view.held.count += claim.held.units();
        view.windows_end =
            std::max(view.windows_end.value_or(0), contracts::later(round->settled_at, claim.window));
    }
}

std::string windows_text(const JobEndView& view) {
    if (view.open_claims == 0) return {};
    return std::to_string(view.open_claims) +
           (view.open_claims == 1 ? " claim of a settled round holds " : " claims of settled rounds hold ") +
           base::to_text(base::Amount::of(view.held.count).value_or(base::Amount{})) +
           " of pay until the windows are over, the last in block " + std::to_string(*view.windows_end) +
           ", or later in a dispute";
}

}  // namespace

std::optional<JobEndView> job_end_view(const contracts::StateView& state, const base::Hash256& job) {
    JobEndView view{.job = job,
                    .running_round = {},
                    .held = {},
                    .windows_end = {},
                    .escrow = {},
                    .ended_at = {},
                    .refunded = {}};
    if (const auto ended = contracts::read_ended_job(state, job)) {
        view.ended_at = ended->ended_at;
        view.refunded = ended->refunded;
        return view;
    }
    const auto found = contracts::read_job(state, job);
    if (!found) return std::nullopt;
    view.phase = found->phase;
    view.claim_window = contracts::params_of(state, *found).claim_window;
    view.escrow = contracts::escrow_of(state, *found);
    if (found->phase == contracts::JobPhase::kEnded) {
        view.ended_at = found->ended_at;
        view.refunded = found->refunded;
    }
    if (found->phase == contracts::JobPhase::kRounds) view.running_round = found->round;
    add_windows(state, view);
    return view;
}

std::string JobEndView::text() const {
    const std::string name = "job " + job.brief();
    if (ended_at)
        return name + " has ended in block " + std::to_string(*ended_at) + ": " +
               base::to_text(refunded.value_or(base::Amount{})) + " came back from its escrow";
    const std::string windows = windows_text(*this);
    if (running_round)
        return name + " begins no further round: round " + std::to_string(*running_round) +
               " runs, and is settled first. Its claims hold their pay for " + std::to_string(claim_window) +
               " blocks more" + (windows.empty() ? "" : "; " + windows) +
               ". What is not spent comes back once the last window is over";
    return name + " begins no further round" + (windows.empty() ? "" : ". " + windows) +
           ". What is not spent, " + base::to_text(escrow) + ", comes back with its end";
}

}  // namespace assay::node
