// SPDX-License-Identifier: Apache-2.0
#include "node/roles/buyer.hpp"

#include <utility>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/runway.hpp"
#include "node/roles/beacon_keeper.hpp"

namespace assay::node {

contracts::JobSubmit submission(const program::JobSpec& spec, const base::SecretKey& node,
                                const std::string& endpoint) {
    return {.spec = spec,
            .node = node.public_key(),
            .endpoint = endpoint,
            .beacon_tip = contracts::chain_tip(beacon_secret(node, base::encode(spec)), spec.rounds)};
}

contracts::Payload submission_for(const std::optional<base::PublicKey>& sponsor, contracts::JobSubmit own) {
    if (!sponsor) return own;
    return contracts::TeamSubmit{std::move(own), *sponsor};
}

std::optional<base::Hash256> bought_job(const contracts::StateView& state, const base::PublicKey& node,
                                        const program::JobSpec& spec) {
    const base::Hash256 bought = contracts::hash_of_spec(spec);
    // In this order: a job whose records leave the state in between is found among those that ended.
    const std::vector<base::Hash256> ids = contracts::list_job_ids(state);
    std::set<base::Hash256> over;
    for (const auto& [id, ended] : contracts::list_ended_jobs(state)) {
        if (ended.buyer_node == node && ended.spec == bought) return id;
        over.insert(id);
    }
    for (const base::Hash256& id : ids) {
        if (over.contains(id)) continue;
        const auto terms = contracts::read_job_terms(state, id);
        if (terms && terms->buyer_node == node && contracts::hash_of_spec(terms->spec) == bought) return id;
    }
    return std::nullopt;
}

BuyerRole::BuyerRole(const RoleParts& parts, BuyerOptions options)
    : FollowingRole(parts),
      options_(options),
      bench_(parts.seams, parts.files, requests(), parts.genesis.chain_id),
      games_(this->parts().seams, this->parts().files, requests(), bench_, me(),
             {.offer = [this](const std::string& name,
                              contracts::Payload payload) { offer(name, std::move(payload)); },
              .give_way = [this](const base::Hash256&, const std::string&) { challenger_.give_way(); }}),
      challenger_(this->parts().seams, this->parts().files, requests(), bench_, this->parts().node_key,
                  options.challenge, [this](const std::string& name, contracts::Payload payload) {
                      offer(name, std::move(payload));
                  }) {}

void BuyerRole::challenge() {
    challenger_.follow(state(), height());
    games_.follow(state(), height());
    games_.compute(state(), true, challenger_.computing());
    games_.compute(state(), false, challenger_.computing());
    if (!games_.computing()) challenger_.compute(state());
}

void BuyerRole::plan() {
    if (!follows()) return;
    if (const auto job = record()) return serve(*job);
    if (!contracts::read_ended_job(state(), options_.job)) {
        // Whoever signed it saw it in a block, and those blocks are followed by now.
        return parts().finish(
            base::Error{base::ErrorKind::kVerification,
                        "job " + options_.job.hex() + " is not on the ledger: none of its " +
                            std::to_string(height()) + " blocks holds it",
                        "the node that named it showed other blocks than these; ask the ledger's operator, "
                        "then run the same command again with a --node that you trust"});
    }
    parts().finish(base::Error{
        base::ErrorKind::kVerification,
        "job " + options_.job.hex() + " has ended, and this home's history does not give its records",
        "move the folder state of this home away and start again: every block is executed again"});
}

void BuyerRole::serve(const contracts::Job& job) {
    if (!secret_) secret_ = beacon_secret(parts().node_key, base::encode(job.spec));
    // Started again on another port: whoever needs the data is told where it is now.
    if (!contracts::is_over(job.phase) && job.buyer_endpoint != parts().endpoint) {
        offer("update endpoint", contracts::EndpointUpdate{.endpoint = parts().endpoint, .job = job.id});
    }
    keep_beacon(state(), job, me(), *secret_, [this](const std::string& name, contracts::Payload payload) {
        offer(name, std::move(payload));
    });
    watch_escrow(job);
    if (job.leases()) trade(job);
    const bool base_here = job.base_blob.is_zero() ||
                           bench_.wants()
                               .want(job.base_blob, holders_of_base(state(), job), base_state_terms(job.spec))
                               .has_value();
    if (base_here) unpin_closed(job);
    if (options_.challenge > 0) challenge();
    if (job.phase == contracts::JobPhase::kEnded && base_here) parts().finish(std::nullopt);
}

void BuyerRole::watch_escrow(const contracts::Job& job) {
    if (job.phase != contracts::JobPhase::kRounds || watched_ == job.round) return;
    watched_ = job.round;
    const auto runway = contracts::runway_of(state(), job);
    if (!runway || !runway->is_low()) return;
    log().warn("job " + job.id.brief() + ": the escrow " + runway->text() + "; more with: assay job topup " +
               job.id.brief() + " AMOUNT");
}

void BuyerRole::unpin_closed(const contracts::Job& job) {
    if (std::exchange(unpinned_at_, height()) == height()) return;
    const program::DataConfig& data = job.spec.data;
    std::set<BlobId> needed = {data.tokenizer, data.manifest, job.base_blob};
    const bool ended = job.phase == contracts::JobPhase::kEnded;
    if (!ended) needed.insert({data.train, data.held_out, job.spec.initial_blob});
    const std::vector<std::uint32_t> listed = contracts::list_open_rounds(state(), job.id);
    const std::set<std::uint32_t> open(listed.begin(), listed.end());
    for (const std::uint32_t number : open) {
        const auto round = contracts::read_round_progress(state(), job.id, number);
        if (!round) continue;
        needed.insert(round->base_blob);
        if (parts().files.is_evictable(round->base_blob)) (void)bench_.wants().keep(round->base_blob);
    }
    std::vector<BlobId> closed;
    for (std::uint32_t number = 0; number < job.round; ++number) {
        if (open.contains(number) || !let_go_.insert(number).second) continue;
        if (const auto round = contracts::read_round_progress(state(), job.id, number))
            closed.push_back(round->base_blob);
    }
    if (ended) closed.insert(closed.end(), {data.train, data.held_out});
    for (const BlobId& blob : closed) {
        // One that is not here has nothing to unpin.
        if (!needed.contains(blob)) (void)parts().files.set_pin(blob, Pin::kEvictable);
    }
}

}  // namespace assay::node
