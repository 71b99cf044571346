// SPDX-License-Identifier: Apache-2.0
#include "node/audit/run_record.hpp"

#include "contracts/program/round_law.hpp"

namespace assay::node {

RunRecord run_record(const contracts::StateView& state, const contracts::Job& job) {
    RunRecord record{.job_id = job.id.hex(), .slots = job.spec.slots, .rounds = {}};
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round(state, job.id, number);
        if (!round || round->phase != contracts::RoundPhase::kSettled) break;
        RecordRound row{.round = number,
                        .base_root = round->base_root,
                        .accepted = {},
                        .clip_bits = std::nullopt,
                        .result_root = round->merged ? round->result.base_root : round->base_root};
        for (const std::uint32_t slot : round->merged_slots) {
            row.accepted.push_back({.slot = slot, .weight = 1});
            if (program::carries_state(job.spec)) {
                row.accepted.back().carried_in = contracts::carried_in(state, job.id, number, slot).root;
            }
        }
        record.rounds.push_back(std::move(row));
    }
    // Behind the last merge nothing changes the model.
    while (!record.rounds.empty() && record.rounds.back().accepted.empty()) record.rounds.pop_back();
    return record;
}

std::uint64_t merged_tokens(const contracts::StateView& state, const contracts::Job& job) {
    const std::uint64_t each =
        std::uint64_t{job.spec.train.inner_steps} * job.spec.train.batch * job.spec.model.context;
    std::uint64_t tokens = 0;
    for (const RecordRound& round : run_record(state, job).rounds) tokens += each * round.accepted.size();
    return tokens;
}

}  // namespace assay::node
