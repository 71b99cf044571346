// SPDX-License-Identifier: Apache-2.0
#include "node/audit/model_replay.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/tensors.hpp"
#include "contracts/worker/unit_parts.hpp"
#include "node/worker/local_training.hpp"

namespace assay::node {

using base::ErrorKind;
using base::Hash256;
using base::Outcome;
using frames::SharedDescriptor;

namespace {

/// Open files of base states.
constexpr std::size_t kBasesAtHand = 16;

std::string unit_name(std::uint32_t unit, const program::JobSpec& spec) {
    return program::RoundPlan(spec).is_finalise(unit) ? "finalise" : "segment " + std::to_string(unit);
}

/// An error that says that bytes are not what they should be, and not that this machine failed.
bool is_of_bytes(const base::Error& error) { return error.kind == ErrorKind::kVerification; }

std::string both_roots(const Hash256& claimed, const Hash256& computed) {
    return "claimed " + claimed.hex() + ", computed here " + computed.hex();
}

std::string out_of_time(std::uint32_t round) {
    return "nobody has its bytes, and the minutes ended before round " + std::to_string(round) +
           " was computed again";
}

}  // namespace

std::string to_text(const UnitPlace& place, const program::JobSpec& spec) {
    return "round " + std::to_string(place.round) + " slot " + std::to_string(place.slot) + " " +
           unit_name(place.unit, spec);
}

std::string to_text(const TilePlace& place, const program::JobSpec& spec) {
    const std::string array = place.slot       ? " slot " + std::to_string(*place.slot) + " update"
                              : place.is_outer ? " merge, outer momentum"
                                               : " merge, parameters";
    return "round " + std::to_string(place.round) + array + ", tile " + std::to_string(place.tile) + " of " +
           program::parameter_tensors(spec.model)[place.tensor].name;
}

ModelReplay::ModelReplay(WorkerClient& worker, const BirthCertificate& certificate, AuditBytes bytes,
                         std::function<bool()> ends)
    : worker_(worker),
      certificate_(certificate),
      plan_(certificate.spec),
      bytes_(std::move(bytes)),
      ends_(std::move(ends)) {}

const CertifiedRound& ModelReplay::round(std::uint32_t number) const { return certificate_.rounds[number]; }

const CertifiedSlot& ModelReplay::slot(const UnitPlace& place) const {
    const CertifiedSlot* found = round(place.round).slot(place.slot);
    ASSAY_CHECK(found != nullptr);
    return *found;
}

void ModelReplay::note(const UnitPlace& place, ClaimFinding finding) {
    units_.insert_or_assign(place, std::move(finding));
}

std::vector<MetFault> ModelReplay::met() const {
    std::vector<MetFault> all;
    for (const auto& [place, finding] : units_) {
        if (finding.state == ClaimState::kFalse)
            all.push_back({to_text(place, certificate_.spec), finding.why});
    }
    for (const auto& [number, why] : false_merges_)
        all.push_back({"round " + std::to_string(number) + " merge", why});
    return all;
}

Outcome<ClaimFinding> ModelReplay::judge(const UnitPlace& place) {
    const auto known = units_.find(place);
    if (known != units_.end()) return known->second;
    std::string why;
    ASSAY_ASSIGN(const auto start, claimed_start(place));
    if (start) {
        ASSAY_ASSIGN(const auto end, compute(place, *start));
        if (end) return units_.at(place);
    }
    ASSAY_ASSIGN(const auto end, replay_slot(place));
    const auto found = units_.find(place);
    if (found != units_.end()) return found->second;
    return ClaimFinding{ClaimState::kGone, end.why};
}

// ---- states of slots

/// A state's head and arrays, as far as they are at hand; empty: not all.
ModelReplay::Files ModelReplay::files_of(const Hash256& head_id,
                                         std::span<const program::StateArray> arrays) {
    SharedDescriptor head_file = bytes_.find(head_id);
    if (head_file == nullptr) return {};
    const auto bytes = frames::read_all(*head_file, program::kMaxHeadBytes);
    if (!bytes.ok()) return {};
    const auto head = program::decode_state_head(*bytes);
    const auto& row = program::strategy_of(certificate_.spec);
    if (!head.ok() || !program::fits(*head, row.lane_arrays, program::carries_state(certificate_.spec)))
        return {};
    Files files{std::move(head_file)};
    for (const program::StateArray array : arrays) {
        files.push_back(bytes_.find(head->part(array)->blob));
        if (files.back() == nullptr) return {};
    }
    return files;
}

Outcome<std::optional<ModelReplay::SlotEnd>> ModelReplay::claimed_start(const UnitPlace& place) {
    if (place.unit == 0) return std::optional<SlotEnd>();
    if (!heads_known_) {
        heads_known_ = true;
        for (const Hash256& id : bytes_.small()) {
            const SharedDescriptor file = bytes_.find(id);
            if (file == nullptr) continue;
            const auto bytes = frames::read_all(*file, program::kMaxHeadBytes);
            if (!bytes.ok()) continue;
            const auto head = program::decode_state_head(*bytes);
            if (head.ok()) heads_.emplace(program::state_root(program::roots_of(*head)), id);
        }
    }
    const CertifiedSlot& claims = slot(place);
    const Hash256& root = claims.reveal.trace.boundaries[place.unit];
    const auto head = heads_.find(root);
    // The last boundary of a slot that hands on has its id on the ledger.
    const Hash256 id = head != heads_.end()            ? head->second
                       : plan_.is_finalise(place.unit) ? claims.reveal.carried_blob
                                                       : Hash256();
    if (id.is_zero()) return std::optional<SlotEnd>();
    Files files = files_of(id, plan_.start(place.unit).arrays);
    if (files.empty()) return std::optional<SlotEnd>();
    return std::optional<SlotEnd>({std::move(files), root});
}

Outcome<std::optional<ModelReplay::SlotEnd>> ModelReplay::compute(const UnitPlace& place,
                                                                  const SlotEnd& start) {
    const program::UnitStart from = plan_.start(place.unit);
    Files bulk;
    if (from.base) {
        ASSAY_ASSIGN(auto base, base_of(place.round));
        if (!base.is) return std::optional<SlotEnd>();
        bulk.push_back(*base.is);
    }
    // Files of a whole state, or those alone that the unit reads.
    const auto& all = program::strategy_of(certificate_.spec).lane_arrays;
    const bool whole = place.unit > 0 && start.files.size() == all.size() + 1;
    const Files files = whole ? program::narrowed(start.files, all, from.arrays) : start.files;
    bulk.insert(bulk.end(), files.begin(), files.end());
    const CertifiedSlot& claims = slot(place);
    const frames::Replay request{.round = place.round,
                                 .slot = place.slot,
                                 .unit = place.unit,
                                 .base_root = round(place.round).base_root,
                                 .start_root = place.unit == 0 ? Hash256() : start.root,
                                 .carried_in = place.unit == 0 ? claims.carried_in.root : Hash256(),
                                 .want_end_state = true};
    const Hash256 claimed = program::unit_root(claims.reveal.trace, certificate_.spec, place.unit);
    auto first = call_for<frames::Replayed>(worker_, request, bulk);
    if (!first.ok() && is_of_bytes(first.error())) return std::optional<SlotEnd>();
    if (!first.ok()) return base::failed(first.error());
    const frames::Replayed& replayed = first->first;
    if (replayed.verdict == frames::UnitVerdict::kUnavailable) return std::optional<SlotEnd>();
    if (replayed.parts.unit_root != claimed) {
        ASSAY_ASSIGN(const auto second, call_for<frames::Replayed>(worker_, request, bulk));
        if (second.first.parts != replayed.parts) return computed_twice("unit");
        note(place, {ClaimState::kFalse, both_roots(claimed, replayed.parts.unit_root)});
    } else {
        note(place, {ClaimState::kRight, ""});
    }
    return std::optional<SlotEnd>({std::move(first->second), replayed.parts.end_root});
}

Outcome<ModelReplay::Maybe<ModelReplay::SlotEnd>> ModelReplay::replay_slot(const UnitPlace& last) {
    Maybe<SlotEnd> end;
    ASSAY_ASSIGN(auto carried, carried_of(last));
    if (!carried.is) return Maybe<SlotEnd>{std::nullopt, carried.why};
    end.is = SlotEnd{*std::move(carried.is), {}};
    for (UnitPlace at{last.round, last.slot, 0}; at.unit <= last.unit; ++at.unit) {
        const Hash256& root = slot(at).reveal.trace.boundaries[at.unit];
        if (at.unit > 0 && end.is->root != root) {
            // Behind a false unit the way goes on from what is claimed, where somebody has it.
            ASSAY_ASSIGN(auto claimed, claimed_start(at));
            if (!claimed) {
                return Maybe<SlotEnd>{std::nullopt, "nobody has the state that is claimed behind " +
                                                        unit_name(at.unit - 1, certificate_.spec) +
                                                        ", which is false"};
            }
            end.is = *std::move(claimed);
        }
        ASSAY_ASSIGN(auto next, compute(at, *end.is));
        if (!next) {
            // It reads the base: that is what was missing. Else the bytes were not what they are named by.
            ASSAY_ASSIGN(const auto base, base_of(at.round));
            return Maybe<SlotEnd>{std::nullopt, base.is
                                                    ? "the bytes kept for " + to_text(at, certificate_.spec) +
                                                          " are not the claimed ones"
                                                    : base.why};
        }
        end.is = *std::move(next);
        if (at.unit + 1 == plan_.segments()) ASSAY_TRY(keep_end(at, *end.is));
    }
    return end;
}

// In jobs that carry, the next round goes on with it.
Outcome<void> ModelReplay::keep_end(const UnitPlace& place, const SlotEnd& end) {
    if (!program::carries_state(certificate_.spec) || end.root != slot(place).reveal.trace.boundaries.back())
        return {};
    for (const SharedDescriptor& file : end.files) {
        ASSAY_ASSIGN(const auto bytes, frames::read_all(*file, frames::kMaxBulk));
        ASSAY_TRY(bytes_.keep(bytes));
    }
    return {};
}

Outcome<ModelReplay::Maybe<ModelReplay::Files>> ModelReplay::carried_of(const UnitPlace& place) {
    const contracts::CarriedIn& carried = slot(place).carried_in;
    if (carried.nothing()) return Maybe<Files>{Files(), ""};
    const auto& row = program::strategy_of(certificate_.spec);
    Files files = files_of(carried.blob, row.carried_arrays);
    if (!files.empty()) {
        ASSAY_ASSIGN(const auto root, root_of(frames::BulkKind::kCarried, files));
        if (root == carried.root) return Maybe<Files>{std::move(files), ""};
    }
    // What it carries is the end of its round before.
    ASSAY_CHECK(place.round > 0);
    if (ends_()) return Maybe<Files>{std::nullopt, out_of_time(place.round - 1)};
    ASSAY_ASSIGN(auto end, replay_slot({place.round - 1, place.slot, plan_.segments() - 1}));
    if (!end.is) return Maybe<Files>{std::nullopt, end.why};
    return Maybe<Files>{program::narrowed(end.is->files, row.lane_arrays, row.carried_arrays), ""};
}

Outcome<std::optional<Hash256>> ModelReplay::root_of(frames::BulkKind kind, const Files& files) {
    const auto rooted = call_for<frames::Rooted>(worker_, frames::Root{.kind = kind}, files);
    if (rooted.ok()) return std::optional<Hash256>(rooted->first.root);
    if (is_of_bytes(rooted.error())) return std::optional<Hash256>();
    return base::failed(rooted.error());
}

// ---- states of rounds

// Null: it is not at hand.
Outcome<SharedDescriptor> ModelReplay::stored_base(std::uint32_t number) {
    const CertifiedRound& at = round(number);
    if (at.base_blob == certificate_.spec.initial_blob) {
        SharedDescriptor file;
        if (!at.base_blob.is_zero()) {
            file = bytes_.find(at.base_blob);
            if (file == nullptr) return SharedDescriptor();
        }
        auto initial = initial_state(worker_, file);
        if (!initial.ok() && !is_of_bytes(initial.error())) return base::failed(initial.error());
        return initial.ok() && initial->root == at.base_root ? initial->bytes : SharedDescriptor();
    }
    return base_file(at.base_blob, at.base_root);
}

// Null: it is not at hand, or is another state. A blob's name says nothing of the root that was claimed with
// it.
Outcome<SharedDescriptor> ModelReplay::base_file(const Hash256& blob, const Hash256& claimed) {
    SharedDescriptor file = bytes_.find(blob);
    if (file == nullptr) return SharedDescriptor();
    ASSAY_ASSIGN(const auto root, root_of(frames::BulkKind::kBaseState, {file}));
    return root == claimed ? file : SharedDescriptor();
}

void ModelReplay::remember_base(std::uint32_t number, const SharedDescriptor& base) {
    bases_[number] = base;
    if (bases_.size() <= kBasesAtHand) return;
    const bool is_first = bases_.begin()->first == number;
    bases_.erase(is_first ? std::next(bases_.begin()) : bases_.begin());
}

Outcome<ModelReplay::Maybe<SharedDescriptor>> ModelReplay::base_of(std::uint32_t number) {
    std::uint32_t from = number;
    SharedDescriptor base;
    for (;; --from) {
        const auto known = bases_.find(from);
        if (known != bases_.end()) {
            base = known->second;
            break;
        }
        ASSAY_ASSIGN(base, stored_base(from));
        if (base != nullptr || from == 0) break;
    }
    if (base == nullptr) {
        return Maybe<SharedDescriptor>{
            std::nullopt, "nobody has the job's first state " + certificate_.spec.initial_blob.hex()};
    }
    for (; from < number; ++from) {
        if (ends_()) return Maybe<SharedDescriptor>{std::nullopt, out_of_time(from)};
        ASSAY_ASSIGN(auto next, merge(from, base));
        if (!next.is) return next;
        base = *std::move(next.is);
    }
    remember_base(number, base);
    return Maybe<SharedDescriptor>{base, ""};
}

Outcome<ModelReplay::Maybe<SharedDescriptor>> ModelReplay::merge(std::uint32_t number,
                                                                 const SharedDescriptor& base) {
    const CertifiedRound& at = round(number);
    if (!at.merged) return Maybe<SharedDescriptor>{base, ""};
    remember_base(number, base);  // its slots are trained again from it
    ASSAY_ASSIGN(auto updates, updates_of(number));
    if (!updates.is) return Maybe<SharedDescriptor>{std::nullopt, updates.why};
    frames::Merge request;
    request.round = number;
    for (const std::uint32_t merged : at.merged_slots)
        request.accepted.push_back({merged, 1, at.slot(merged)->reveal.trace.update});
    Files files{base};
    files.insert(files.end(), updates.is->begin(), updates.is->end());
    ASSAY_ASSIGN(auto made, call_for<frames::BaseStateFrame>(worker_, request, files));
    const std::string where = "the merge of round " + std::to_string(number);
    if (made.first.root != at.result.base_root || made.first.clips != at.result.clips) {
        ASSAY_ASSIGN(const auto second, call_for<frames::BaseStateFrame>(worker_, request, files));
        if (second.first.root != made.first.root || second.first.clips != made.first.clips)
            return computed_twice("merge");
        false_merges_[number] = both_roots(at.result.base_root, made.first.root);
        return Maybe<SharedDescriptor>{std::nullopt, where + " is false, and nobody has its claimed state"};
    }
    ASSAY_ASSIGN(const auto bytes, frames::read_all(*made.second.front(), frames::kMaxBulk));
    ASSAY_TRY(bytes_.keep(bytes));
    // From now on a file, and no memory.
    ASSAY_ASSIGN(SharedDescriptor kept, base_file(at.result.base_blob, at.result.base_root));
    return Maybe<SharedDescriptor>{kept != nullptr ? std::move(kept) : made.second.front(), ""};
}

Outcome<ModelReplay::Maybe<ModelReplay::Files>> ModelReplay::updates_of(std::uint32_t number) {
    Files files;
    for (const std::uint32_t merged : round(number).merged_slots) {
        ASSAY_ASSIGN(auto update, update_of(number, merged));
        if (!update.is) return Maybe<Files>{std::nullopt, update.why};
        files.push_back(*std::move(update.is));
    }
    return Maybe<Files>{std::move(files), ""};
}

Outcome<ModelReplay::Maybe<SharedDescriptor>> ModelReplay::update_of(std::uint32_t number,
                                                                     std::uint32_t slot_number) {
    const UnitPlace finalise{number, slot_number, plan_.finalise()};
    const contracts::Reveal& reveal = slot(finalise).reveal;
    if (SharedDescriptor file = bytes_.find(reveal.update_blob); file != nullptr) {
        ASSAY_ASSIGN(const auto root, root_of(frames::BulkKind::kUpdate, {file}));
        if (root == reveal.trace.update) return Maybe<SharedDescriptor>{std::move(file), ""};
    }
    ASSAY_ASSIGN(auto end, replay_slot(finalise));
    if (!end.is) return Maybe<SharedDescriptor>{std::nullopt, end.why};
    if (units_.at(finalise).state != ClaimState::kRight || end.is->files.empty())
        return Maybe<SharedDescriptor>{
            std::nullopt,
            "nobody has the claimed update of " + to_text(finalise, certificate_.spec) + ", which is false"};
    ASSAY_ASSIGN(const auto bytes, frames::read_all(*end.is->files.front(), frames::kMaxBulk));
    ASSAY_TRY(bytes_.keep(bytes));
    return Maybe<SharedDescriptor>{end.is->files.front(), ""};
}

// ---- tiles

Outcome<ModelReplay::Maybe<ModelReplay::SlotEnd>> ModelReplay::end_of(const UnitPlace& finalise) {
    ASSAY_ASSIGN(auto stored, claimed_start(finalise));
    if (stored) {
        ASSAY_ASSIGN(const auto computed, compute(finalise, *stored));
        if (computed) return Maybe<SlotEnd>{std::move(stored), ""};
    }
    ASSAY_ASSIGN(auto end, replay_slot({finalise.round, finalise.slot, plan_.segments() - 1}));
    if (!end.is || end.is->root == slot(finalise).reveal.trace.boundaries.back()) return end;
    return Maybe<SlotEnd>{
        std::nullopt,
        "nobody has the claimed end of " +
            to_text(UnitPlace{finalise.round, finalise.slot, plan_.segments() - 1}, certificate_.spec) +
            ", which is false"};
}

Outcome<ClaimFinding> ModelReplay::judge_update(const TilePlace& place) {
    const UnitPlace finalise{place.round, *place.slot, plan_.finalise()};
    ASSAY_ASSIGN(const auto base, base_of(place.round));
    if (!base.is) return ClaimFinding{ClaimState::kGone, base.why};
    ASSAY_ASSIGN(const auto end, end_of(finalise));
    if (!end.is) return ClaimFinding{ClaimState::kGone, end.why};
    const program::TraceRecord& trace = slot(finalise).reveal.trace;
    dispute::UnitClaim claim;
    claim.kind = dispute::UnitKind::kUpdate;
    claim.round = place.round;
    claim.slot = *place.slot;
    claim.claimed = trace.update;
    claim.states = {round(place.round).base_root, trace.boundaries.back()};
    dispute::UnitFacts facts(certificate_.spec, claim);
    // What is handed on has no tiles: in such jobs the whole unit is compared as well.
    const bool tiles = tiles_are_judged(facts, dispute::ArrayUnit::kUpdate);
    if (!tiles || program::carries_state(certificate_.spec)) {
        ASSAY_ASSIGN(const ClaimFinding whole, judge(finalise));
        if (!tiles || whole.state != ClaimState::kRight) return whole;
    }
    frames::DescendArray request;
    request.round = place.round;
    request.end_root = trace.boundaries.back();
    const auto& row = program::strategy_of(certificate_.spec);
    Files files = program::narrowed(end.is->files, row.lane_arrays, plan_.start(plan_.finalise()).arrays);
    files.insert(files.begin(), *base.is);
    ASSAY_ASSIGN(std::string wrong, play_tile(worker_, facts, dispute::ArrayUnit::kUpdate,
                                              {place.tensor, place.tile, 0}, std::move(request), files));
    return ClaimFinding{wrong.empty() ? ClaimState::kRight : ClaimState::kFalse, std::move(wrong)};
}

Outcome<ClaimFinding> ModelReplay::judge_merge(const TilePlace& place) {
    const CertifiedRound& at = round(place.round);
    ASSAY_ASSIGN(const auto base, base_of(place.round));
    if (!base.is) return ClaimFinding{ClaimState::kGone, base.why};
    ASSAY_ASSIGN(const auto updates, updates_of(place.round));
    if (!updates.is) return ClaimFinding{ClaimState::kGone, updates.why};
    const bool bounded = certificate_.spec.has_norm_bound();
    dispute::UnitClaim claim;
    claim.kind = dispute::UnitKind::kMerge;
    claim.round = place.round;
    claim.states = {at.base_root};
    claim.claimed = at.result.base_root;
    frames::DescendArray request;
    request.round = place.round;
    for (std::size_t i = 0; i < at.merged_slots.size(); ++i) {
        const Hash256& update = at.slot(at.merged_slots[i])->reveal.trace.update;
        claim.updates.push_back(update);
        claim.clips.push_back(bounded ? at.result.clips[i] : dispute::kNoClip);
        request.merged.push_back({at.merged_slots[i], 1, claim.clips.back(), update});
    }
    dispute::UnitFacts facts(certificate_.spec, claim);
    const auto unit =
        place.is_outer ? dispute::ArrayUnit::kMergedOuter : dispute::ArrayUnit::kMergedParameters;
    // Clips are computed by whole merges alone.
    const bool tiles = tiles_are_judged(facts, unit);
    if (!tiles || bounded) {
        ASSAY_ASSIGN(const auto whole, merge(place.round, *base.is));
        const auto wrong = false_merges_.find(place.round);
        if (wrong != false_merges_.end()) return ClaimFinding{ClaimState::kFalse, wrong->second};
        if (!whole.is) return ClaimFinding{ClaimState::kGone, whole.why};
        if (!tiles) return ClaimFinding{ClaimState::kRight, ""};
    }
    Files files{*base.is};
    files.insert(files.end(), updates.is->begin(), updates.is->end());
    ASSAY_ASSIGN(std::string wrong,
                 play_tile(worker_, facts, unit, {place.tensor, place.tile, 0}, std::move(request), files));
    return ClaimFinding{wrong.empty() ? ClaimState::kRight : ClaimState::kFalse, std::move(wrong)};
}

Outcome<ClaimFinding> ModelReplay::judge(const TilePlace& place) {
    return place.slot ? judge_update(place) : judge_merge(place);
}

}  // namespace assay::node
