// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/standing.hpp"

#include <bit>

#include "contracts/base/wide.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

using base::Uint128;

WorkClass class_of(const JobTerms& job) {
    WorkClass kind;
    kind.family = job.spec.model.family;
    kind.profile = job.spec.profile;
    kind.scale = static_cast<std::uint8_t>(std::bit_width(job.slot_work));
    return kind;
}

std::uint64_t verified_work(const StateView& state, const PublicKey& node, const Miner& miner,
                            const WorkClass& kind) {
    const auto standing = read_standing(state, node, kind);
    return standing && standing->losses == miner.losses ? standing->work : 0;
}

bool is_newcomer(const StateView& state, const Params& params, const PublicKey& node, const JobTerms& job) {
    const auto miner = read_miner(state, node);
    ASSAY_CHECK(miner.has_value());
    return verified_work(state, node, *miner, class_of(job)) <
           Uint128{params.probation_rounds} * job.slot_work;
}

void credit_work(State& state, const PublicKey& node, const JobTerms& job) {
    const auto miner = read_miner(state, node);
    ASSAY_CHECK(miner.has_value());
    if (is_of_buyer(state, job, miner->owner)) return;
    const WorkClass kind = class_of(job);
    const std::uint64_t before = verified_work(state, node, *miner, kind);
    store(state, standing_key(node, kind), Standing{miner->losses, saturating_sum(before, job.slot_work)});
}

void lose_standing(State& state, const PublicKey& node) {
    Miner miner = *read_miner(state, node);
    miner.losses = saturating_sum(miner.losses, 1);
    store(state, miner_key(node), miner);
}

}  // namespace assay::contracts
