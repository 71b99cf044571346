// SPDX-License-Identifier: Apache-2.0
#include "node/roles/buyer.hpp"

#include <utility>

#include "node/roles/beacon_keeper.hpp"
#include "node/roles/onboarding.hpp"

namespace assay::node {

BuyerRole::BuyerRole(const RoleParts& parts, BuyerOptions options)
    : FollowingRole(parts),
      options_(std::move(options)),
      wants_(parts.seams, parts.files, requests()),
      secret_(beacon_secret(parts.node_key, base::encode(options_.spec))) {}

void BuyerRole::find_job() {
    const auto note = [this](const contracts::Job& job) {
        if (job_ || job.buyer_node != me() || !(job.spec == options_.spec)) return;
        job_ = job.id;
        log().info("job " + job.id.hex() + " is on the ledger");
    };
    // Once through all that ever was: an earlier process may have bought it. What comes later is active
    // first.
    if (!std::exchange(looked_back_, true)) {
        for (const contracts::Job& job : contracts::list_jobs(state())) note(job);
        return;
    }
    for (const base::Hash256& id : contracts::list_active_jobs(state()))
        note(*contracts::read_job(state(), id));
}

void BuyerRole::refused(const RefusedOffer& offer) {
    if (!has_owner_key() || offer.retry == contracts::Retry::kSoon) return FollowingRole::refused(offer);
    refusal_ = offer.refusal;
    // Said by the ledger node that the command was given, which could as well never answer.
    const bool job = offer.type == contracts::TxType::kJobSubmit;
    parts().finish(rejected(offer.refusal, job ? "the job" : "'" + offer.name + "'",
                            "see what the job asks for with: assay plan JOB.toml"));
}

void BuyerRole::plan() {
    if (refusal_) return;
    if (parts().owner_key != nullptr) return buy();
    if (!job_) find_job();
    if (job_) serve_job();
}

void BuyerRole::buy() {
    const base::PublicKey owner = parts().owner_key->public_key();
    const auto as_owner = [this](const std::string& name, contracts::Payload payload) {
        offer_as_owner(name, std::move(payload));
    };
    if (!job_) {
        const OnboardingWants wants{
            .role = WorkRole::kBuyer,
            .owner = owner,
            .node = me(),
            .node_proof = contracts::prove_node_key(parts().node_key, owner, chain_id()),
            .endpoint = parts().endpoint,
            .stake = {}};
        if (!onboard(state(), wants, as_owner)) return;
        find_job();
    }
    if (!job_) {
        offer_as_owner("submit job", contracts::JobSubmit{
                                         .spec = options_.spec,
                                         .node = me(),
                                         .endpoint = parts().endpoint,
                                         .beacon_tip = contracts::chain_tip(secret_, options_.spec.rounds)});
        return;
    }
    parts().finish(std::nullopt);
}

void BuyerRole::serve_job() {
    const contracts::Job job = record();
    // Started again on another port: whoever needs the data is told where it is now.
    if (job.phase != contracts::JobPhase::kEnded && job.buyer_endpoint != parts().endpoint) {
        offer("update endpoint", contracts::EndpointUpdate{.endpoint = parts().endpoint, .job = job.id});
    }
    keep_beacon(state(), job, me(), secret_, [this](const std::string& name, contracts::Payload payload) {
        offer(name, std::move(payload));
    });
    const bool base_here =
        job.base_blob.is_zero() ||
        wants_.want(job.base_blob, holders_of_base(state(), job), base_state_terms(job.spec)).has_value();
    if (base_here) unpin_settled(job);
    if (job.phase == contracts::JobPhase::kEnded && base_here) parts().finish(std::nullopt);
}

void BuyerRole::unpin_settled(const contracts::Job& job) {
    const program::DataConfig& data = job.spec.data;
    std::set<BlobId> needed = {data.tokenizer, data.manifest, job.base_blob};
    const bool ended = job.phase == contracts::JobPhase::kEnded;
    if (!ended) needed.insert({data.train, data.held_out, job.spec.initial_blob});
    std::vector<BlobId> settled;
    for (; rounds_unpinned_ < job.round; ++rounds_unpinned_) {
        if (const auto round = contracts::read_round(state(), job.id, rounds_unpinned_)) {
            settled.push_back(round->base_blob);
        }
    }
    if (ended) settled.insert(settled.end(), {data.train, data.held_out});
    for (const BlobId& blob : settled) {
        // One that is not here has nothing to unpin.
        if (!needed.contains(blob)) (void)parts().files.set_pin(blob, Pin::kEvictable);
    }
}

}  // namespace assay::node
