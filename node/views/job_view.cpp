// SPDX-License-Identifier: Apache-2.0
#include "node/views/job_view.hpp"

#include <bit>
#include <cstdio>
#include <map>

#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/round/prices.hpp"
#include "node/views/rounds_begun.hpp"

namespace assay::node {

JobSummary summary_of(const contracts::StateView& state, const contracts::Job& job) {
    return {.id = job.id,
            .name = job.spec.name,
            .phase = job.phase,
            .end_reason = job.end_reason,
            .rounds_done = job.rounds_done,
            .rounds = job.spec.rounds,
            .escrow = contracts::escrow_of(state, job),
            .spent = job.spent,
            .refunded = job.refunded};
}

JobSummary summary_of(const base::Hash256& id, const contracts::EndedJob& job) {
    return {.id = id,
            .name = job.name,
            .phase = contracts::JobPhase::kEnded,
            .end_reason = job.reason,
            .rounds_done = job.rounds_done,
            .rounds = job.rounds,
            .escrow = {},
            .spent = job.spent,
            .refunded = job.refunded};
}

JobList jobs_of(const contracts::StateView& state) {
    std::map<base::Hash256, JobSummary> found;
    for (const auto& [id, job] : contracts::list_ended_jobs(state)) found.emplace(id, summary_of(id, job));
    for (const base::Hash256& id : contracts::list_job_ids(state)) {
        if (found.contains(id)) continue;
        if (const auto job = contracts::read_job(state, id)) found.emplace(id, summary_of(state, *job));
    }
    JobList list;
    for (auto& [id, summary] : found) list.jobs.push_back(std::move(summary));
    return list;
}

std::optional<base::Amount> fee_of(const contracts::StateView& state, const contracts::JobTerms& job) {
    return contracts::job_fee(contracts::params_of(state, job), job.spec);
}

namespace {

std::optional<MergedRound> merged_round(const contracts::StateView& state, const contracts::Job& job,
                                        std::uint32_t number) {
    const auto round = contracts::read_round_progress(state, job.id, number);
    if (!round || !round->merged) return std::nullopt;
    const std::uint32_t loss = round->result.held_out_loss;
    char bits[16];
    std::snprintf(bits, sizeof bits, "0x%08x", static_cast<unsigned>(loss));
    return MergedRound{.round = number,
                       .slots = round->merged_slots.size(),
                       .base_root = round->result.base_root,
                       .beacon = round->beacon,
                       .held_out_loss = std::bit_cast<float>(loss),
                       .held_out_bits = bits};
}

}  // namespace

namespace {

/// Of the round that runs, or of the last one that did. Zero before there was any.
base::Amount last_price(const contracts::StateView& state, const contracts::Job& job) {
    if (!job.leases()) return job.auction.clearing_price;
    for (const std::uint32_t round : {job.round, job.round - 1}) {
        const auto prices = contracts::read_round_prices(state, job.id, round);
        if (prices) return prices->highest;
    }
    return {};
}

}  // namespace

JobView job_view(const contracts::StateView& state, const contracts::Job& job) {
    JobView view{.summary = summary_of(state, job),
                 .buyer = job.buyer,
                 .submitted_at = job.submitted_at,
                 .deadline = job.current_deadline(),
                 .ended_at = job.ended_at,
                 .slots = job.spec.slots,
                 .seed = job.spec.seed,
                 .work_units = job.slot_work,
                 .clearing_price = last_price(state, job),
                 .fee = fee_of(state, job).value_or(base::Amount{}),
                 .base_root = job.base_root};
    const base::PublicKey submitter = contracts::submitter_of(state, job);
    if (submitter != job.buyer) view.member = submitter;
    view.budget = job.spec.market.budget;
    view.topped_up = job.additions.topped_up;
    view.runway = runway_view(state, job);
    // The ledger takes no job whose link bond is beyond an amount.
    view.link_bond = contracts::link_bond(contracts::params_of(state, job), job.spec, job.slot_work)
                         .value_or(base::Amount());
    if (!job.spec.initial_blob.is_zero()) view.initial_blob = job.spec.initial_blob;
    for (const contracts::RosterEntry& entry : job.roster)
        view.roster.push_back({entry.node, entry.ask, entry.dropped, entry.dropped_for});
    for (const contracts::EnlistedVerifier& entry : job.verifiers) {
        view.verifiers.push_back(entry.node);
        view.enlisted.push_back(
            {entry.node, entry.owner, entry.locked, entry.bond, entry.missed, entry.dropped});
    }
    view.missed_most = contracts::kAbsenceWeight * contracts::params_of(state, job).max_missed;
    view.machines_least = job.spec.market.terms.gang;
    view.machines_most = job.spec.market.terms.most;
    for (const contracts::Lease& lease : contracts::list_leases(state, job.id))
        view.leases.push_back({lease.node, lease.price, lease.epoch, lease.from, lease.until, lease.instant});
    for (std::uint32_t round = 0; round < rounds_begun(job); ++round) {
        const auto prices = contracts::prices_of_round(state, job, round);
        for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, round))
            view.slot_rounds.push_back({round, slot.slot, slot.miner, prices.slots.at(slot.slot),
                                        slot.verdict, slot.served, slot.stored});
        if (auto merged = merged_round(state, job, round)) view.merged_rounds.push_back(std::move(*merged));
    }
    return view;
}

}  // namespace assay::node
