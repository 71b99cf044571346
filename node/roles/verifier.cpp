// SPDX-License-Identifier: Apache-2.0
#include "node/roles/verifier.hpp"

#include <algorithm>

#include "node/roles/beacon_keeper.hpp"
#include "node/roles/onboarding.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

using contracts::RoundPhase;
using contracts::Stage;

Verifier::Verifier(const RoleParts& parts, VerifierOptions options)
    : FollowingRole(parts),
      options_(options),
      bench_(parts.seams, parts.files, requests(), parts.genesis.chain_id) {}

bool Verifier::registered() {
    if (has_owner_key()) {
        const OnboardingWants wants{.role = WorkRole::kVerifier,
                                    .owner = parts().owner_key->public_key(),
                                    .node = me(),
                                    .node_proof = contracts::prove_node_key(
                                        parts().node_key, parts().owner_key->public_key(), chain_id()),
                                    .endpoint = parts().endpoint,
                                    .stake = options_.stake};
        if (!onboard(state(), wants, [this](const std::string& name, contracts::Payload payload) {
                offer_as_owner(name, std::move(payload));
            })) {
            return false;
        }
    }
    const auto verifier = contracts::read_verifier(state(), me());
    if (!verifier) return false;
    if (verifier->endpoint != parts().endpoint) {
        offer("update endpoint", contracts::EndpointUpdate{.endpoint = parts().endpoint});
    }
    return true;
}

void Verifier::plan() {
    if (!registered()) return;
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        if (job->phase == contracts::JobPhase::kRounds) {
            plan_round(*job);
        } else {
            plan_bidding(*job);
        }
    }
}

void Verifier::plan_bidding(const contracts::Job& job) {
    const bool enlisted = std::any_of(job.verifiers.begin(), job.verifiers.end(),
                                      [&](const auto& entry) { return entry.node == me(); });
    if (enlisted) return;
    const base::Hash256 secret = beacon_secret(parts().node_key, job.id.view());
    offer("enlist for job " + job.id.brief(),
          contracts::VerifierEnlist{.job = job.id,
                                    .beacon_tip = contracts::chain_tip(secret, job.spec.rounds)});
}

void Verifier::plan_round(const contracts::Job& job) {
    keep_beacon(
        state(), job, me(), beacon_secret(parts().node_key, job.id.view()),
        [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); });
    // Kept and served with the base states, so that a model can be fetched when the buyer is gone.
    (void)bench_.wants().want(job.spec.data.tokenizer, holders_of_base(state(), job));
    (void)bench_.wants().want(job.spec.data.manifest, holders_of_base(state(), job));
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (!round) return;
    switch (round->phase) {
        case RoundPhase::kAuditSeal: return plan_audit(job, Stage::kPair);
        case RoundPhase::kAuditOpen: return open_audit(job, Stage::kPair);
        case RoundPhase::kThirdSeal: return plan_audit(job, Stage::kThird);
        case RoundPhase::kThirdOpen: return open_audit(job, Stage::kThird);
        case RoundPhase::kMergeSeal: return plan_merge(job, *round, Stage::kPair);
        case RoundPhase::kMergeOpen: return open_merge(job, Stage::kPair);
        case RoundPhase::kMergeThirdSeal: return plan_merge(job, *round, Stage::kThird);
        case RoundPhase::kMergeThirdOpen: return open_merge(job, Stage::kThird);
        default: break;
    }
    // While miners train, have what the audit needs here already.
    (void)bench_.gather(state(), job);
    forget_old_rounds(job);
}

template <class Record>
std::optional<Record> Verifier::kept(const std::string& file) {
    auto bytes = parts().seams.disk.read(file);
    if (!bytes.ok()) {
        fail_with(bytes.error());
        return std::nullopt;
    }
    if (!bytes->has_value()) return std::nullopt;
    auto record = base::decode<Record>(**bytes);
    if (!record.ok()) return std::nullopt;
    return std::move(record).value();
}

template <class Record>
bool Verifier::keep(const std::string& file, const Record& record) {
    auto written = parts().seams.disk.write(file, base::encode(record));
    if (!written.ok()) fail_with(written.error());
    return written.ok();
}

template std::optional<SealedAudit> Verifier::kept(const std::string&);
template std::optional<SealedMerge> Verifier::kept(const std::string&);
template bool Verifier::keep(const std::string&, const SealedAudit&);
template bool Verifier::keep(const std::string&, const SealedMerge&);

}  // namespace assay::node
