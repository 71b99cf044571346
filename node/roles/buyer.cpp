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
    const auto note = [this](const base::Hash256& id, const base::PublicKey& node,
                             const base::Hash256& spec) {
        if (job_ || node != me() || spec != contracts::hash_of_spec(options_.spec)) return;
        job_ = id;
        log().info("job " + id.hex() + " is on the ledger");
    };
    // Once through all that ever was: an earlier process may have bought it. What comes later is active
    // first.
    const bool all = !std::exchange(looked_back_, true);
    if (all) {
        for (const auto& [id, ended] : contracts::list_ended_jobs(state()))
            note(id, ended.buyer_node, ended.spec);
    }
    const auto ids = all ? contracts::list_job_ids(state()) : contracts::list_active_jobs(state());
    for (const base::Hash256& id : ids) {
        if (job_ || (all && contracts::read_ended_job(state(), id))) continue;
        const auto terms = contracts::read_job_terms(state(), id);
        if (terms) note(id, terms->buyer_node, contracts::hash_of_spec(terms->spec));
    }
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
    if (const auto job = record()) return serve(*job);
    parts().finish(base::Error{
        base::ErrorKind::kVerification,
        "job " + job_->hex() + " has ended, and this home's history does not give its records",
        "move the folder state of this home away and start again: every block is executed again"});
}

void BuyerRole::serve(const contracts::Job& job) {
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
