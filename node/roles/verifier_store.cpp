// SPDX-License-Identifier: Apache-2.0
// The verifier's storage: holds what the slots of a round submitted, says on the ledger which, and serves it.
#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

namespace frames = worker;

namespace {
/// Of a longer window the parts have no more: verifiers that are gone do not hold up a round for half of it.
constexpr std::uint64_t kPartsBlocks = 300;
/// Attempts in which nobody gave a blob.
constexpr std::uint32_t kUnserved = 3;
}  // namespace

void VerifierRole::serve_recomputed(const contracts::Job& job, const contracts::Round& round) {
    if (round.phase < contracts::RoundPhase::kReveal) return;
    const auto serve = [&](RecomputedFiles& files, const std::string& what, const auto& is_claimed) {
        for (auto& [key, recomputed] : files) {
            const auto& [id, number, slot] = key;
            if (id != job.id || number != job.round || recomputed.served) continue;
            const auto reveal = contracts::read_reveal(state(), id, number, slot);
            if (!reveal || !is_claimed(*reveal, recomputed.root)) continue;
            recomputed.served = bench_.wants().put_state(
                recomputed.files, what + " of " + round_name(id, number) + " slot " + std::to_string(slot));
        }
    };
    serve(own_updates_, "the update", [](const contracts::Reveal& reveal, const base::Hash256& root) {
        return reveal.trace.update == root;
    });
    serve(own_ends_, "the last state", [](const contracts::Reveal& reveal, const base::Hash256& root) {
        return reveal.trace.boundaries.back() == root;
    });
    for (auto& [key, end] : own_ends_) {
        if (end.served) end.files.clear();
    }
}

void VerifierRole::plan_storage(const contracts::Job& job, const contracts::Round& round) {
    const auto storable = contracts::storable_slots(state(), job.id, job.round, me());
    if (!storable || contracts::read_storage(state(), job.id, job.round, me())) return;
    StoreWork& work = stores_[{job.id, job.round}];
    if (!work.bits) {
        std::vector<std::uint32_t> held;
        bool awaited = false;
        for (const std::uint32_t slot : *storable) {
            const Holding holding = hold(job, slot);
            if (holding == Holding::kHeld) held.push_back(slot);
            awaited = awaited || holding == Holding::kAwaited;
        }
        const std::uint64_t window = contracts::params_of(state(), job).storage_window;
        const bool in_time = height() + window / 4 < round.phase_deadline;
        if (awaited && in_time) return;
        work.bits = contracts::storage_bits(job.spec.slots, held);
    }
    offer("storage of " + round_name(job.id, job.round),
          contracts::StorageBitmap{.job = job.id, .round = job.round, .bits = *work.bits});
}

std::optional<BlobShare> VerifierRole::share_of(const contracts::Job& job,
                                                const contracts::SlotRound& slot) const {
    const auto round = contracts::read_round(state(), job.id, job.round);
    const std::uint64_t window = contracts::params_of(state(), job).storage_window;
    if (!round || height() + window >= round->phase_deadline + std::min(window / 2, kPartsBlocks)) {
        return std::nullopt;
    }
    std::uint32_t of = 0;
    std::optional<std::uint32_t> place;
    for (const contracts::EnlistedVerifier& enlisted : job.verifiers) {
        const bool judges = std::any_of(round->judges.begin(), round->judges.end(),
                                        [&](const auto& judge) { return judge.node == enlisted.node; });
        if (!judges || enlisted.owner == slot.owner) continue;
        if (enlisted.node == me()) place = of;
        ++of;
    }
    if (of < 2 || !place) return std::nullopt;
    // A blob of fewer chunks than parts is not always the same one's to fetch.
    return BlobShare{(*place + slot.slot) % of, of};
}

std::vector<Endpoint> VerifierRole::store_holders(const contracts::Job& job, const contracts::SlotRound& slot,
                                                  const BlobId& blob) const {
    std::vector<Endpoint> holders = holders_of_stored(state(), job, slot, me());
    if (holders.size() < 2) return holders;
    const std::size_t others = holders.size() - 1;
    const std::size_t tried = bench_.wants().tries(blob, slot.miner).failed % others;
    std::rotate(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(tried), holders.end() - 1);
    return holders;
}

// Parts that others fetch may come until who owes them is asked for all: what was not served in between says
// nothing, and a slow holder holds up no other slot.
bool VerifierRole::not_served(const contracts::Job& job, const std::vector<BlobId>& blobs,
                              const base::PublicKey& miner) const {
    const std::uint64_t window = contracts::params_of(state(), job).storage_window;
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (round && window / 2 > kPartsBlocks) {
        const std::uint64_t left = round->phase_deadline - std::min(round->phase_deadline, height());
        return waited_enough(blobs, miner, window - std::min(window, left), window / 2);
    }
    if (!round || height() + window < round->phase_deadline + window / 2) return false;
    return std::any_of(blobs.begin(), blobs.end(), [&](const BlobId& blob) {
        return bench_.wants().tries(blob, miner).unserved >= kUnserved;
    });
}

VerifierRole::Holding VerifierRole::hold(const contracts::Job& job, std::uint32_t slot) {
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
    const auto record = contracts::read_slot(state(), job.id, job.round, slot);
    if (!reveal || !record) return Holding::kNotServed;
    // Both are asked for at once.
    const Holding update = hold_update(job, *record, *reveal);
    const Holding end = program::carries_state(job.spec) ? hold_end(job, *record, *reveal) : Holding::kHeld;
    if (update == Holding::kNotServed || end == Holding::kNotServed) return Holding::kNotServed;
    return update == Holding::kHeld ? end : update;
}

VerifierRole::Holding VerifierRole::hold_update(const contracts::Job& job, const contracts::SlotRound& slot,
                                                const contracts::Reveal& reveal) {
    const MergeKey key{job.id, job.round};
    MergeWork& work = merges_[key];
    if (work.given_up || work.false_files.contains(slot.slot)) return Holding::kNotServed;
    FetchTerms terms = update_terms(job.spec);
    terms.owed_by = slot.miner;
    terms.share = share_of(job, slot);
    const auto file =
        bench_.wants().want(reveal.update_blob, store_holders(job, slot, reveal.update_blob), terms);
    if (!file) {
        return not_served(job, {reveal.update_blob}, slot.miner) ? Holding::kNotServed : Holding::kAwaited;
    }
    if (const auto own = own_updates_.find({job.id, job.round, slot.slot}); own != own_updates_.end()) {
        if (own->second.served == reveal.update_blob) work.updates[slot.slot] = *file;
    }
    if (work.updates.contains(slot.slot)) return Holding::kHeld;
    if (!is_busy() && bench_.opened(state(), job)) check_update(key, slot.slot, reveal.trace.update, *file);
    return Holding::kAwaited;
}

VerifierRole::Holding VerifierRole::hold_end(const contracts::Job& job, const contracts::SlotRound& slot,
                                             const contracts::Reveal& reveal) {
    StoreWork& work = stores_[{job.id, job.round}];
    if (work.ends.contains(slot.slot)) return Holding::kHeld;
    if (work.given_up || work.false_ends.contains(slot.slot)) return Holding::kNotServed;
    StateTerms terms = slot_terms(job.spec, program::strategy_of(job.spec).carried_arrays, Traffic::kCarried);
    terms.owed_by = slot.miner;
    terms.share = share_of(job, slot);
    const auto files =
        bench_.wants().want_state(reveal.carried_blob, store_holders(job, slot, reveal.carried_blob), terms);
    if (!files) {
        const auto blobs = bench_.wants().known_files(reveal.carried_blob, terms);
        return not_served(job, blobs, slot.miner) ? Holding::kNotServed : Holding::kAwaited;
    }
    if (!is_busy() && bench_.opened(state(), job)) {
        check_end(job, slot.slot, reveal.trace.carried->out, *files);
    }
    return Holding::kAwaited;
}

void VerifierRole::check_end(const contracts::Job& job, std::uint32_t slot, const base::Hash256& root,
                             const StateFiles& files) {
    const MergeKey key{job.id, job.round};
    const RequestId id = on_answer([this, key, slot, root](const WorkerAnswered& answer) {
        StoreWork& work = stores_[key];
        const auto* rooted = std::get_if<frames::Rooted>(&answer.message);
        if (rooted != nullptr && rooted->root == root) {
            work.ends.insert(slot);
            return;
        }
        const std::string what = "what slot " + std::to_string(slot) + " hands on is not checked";
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        const bool false_file =
            rooted != nullptr || (refusal != nullptr && refusal->reason == frames::RefusalReason::kBadBytes);
        if (!false_file) return on_not_done(key.first, what, answer, work.given_up);
        log().warn(round_name(key.first, key.second) + " slot " + std::to_string(slot) +
                   ": the served state is not what the slot hands on");
        work.false_ends.insert(slot);
    });
    parts().seams.worker.submit(id, frames::Root{.kind = frames::BulkKind::kCarried}, files);
}

}  // namespace assay::node
