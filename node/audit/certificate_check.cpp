// SPDX-License-Identifier: Apache-2.0
// contradictions(): whether the claims of a birth certificate fit each other.
#include <algorithm>
#include <set>
#include <tuple>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/spec_check.hpp"
#include "contracts/program/state_root.hpp"
#include "node/audit/birth_certificate.hpp"

namespace assay::node {

namespace {

using base::Amount;
using base::Hash256;

bool ascends(const std::vector<std::uint32_t>& numbers, std::uint64_t below) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] >= below || (i > 0 && numbers[i] <= numbers[i - 1])) return false;
    return true;
}

bool adds_up(Amount whole, std::initializer_list<Amount> parts) {
    base::Uint128 sum = 0;
    for (const Amount part : parts) sum += part.units();
    return sum == whole.units();
}

/// Looks at a certificate from its first round to its last.
class CertificateCheck {
public:
    explicit CertificateCheck(const BirthCertificate& certificate)
        : certificate_(certificate), plan_(certificate.spec) {}

    std::vector<std::string> run() {
        Hash256 root = certificate_.spec.initial_root;
        Hash256 blob = certificate_.spec.initial_blob;
        for (std::size_t i = 0; i < certificate_.rounds.size(); ++i) {
            const CertifiedRound& round = certificate_.rounds[i];
            name_ = "round " + std::to_string(i);
            must(round.round == i, "has the number " + std::to_string(round.round));
            must(round.base_root == root && round.base_blob == blob,
                 i == 0 ? "does not begin at the job's first state"
                        : "does not begin where the one before ended");
            check_slots(round, i == 0 ? nullptr : &certificate_.rounds[i - 1]);
            check_merge(round);
            check_disputes(round);
            for (const contracts::SettlementLine& line : round.lines) check_line(round, line);
            if (!round.merged) continue;
            root = round.result.base_root;
            blob = round.result.base_blob;
        }
        check_model();
        return std::move(found_);
    }

private:
    void must(bool holds, const std::string& else_what) {
        if (!holds) found_.push_back(name_ + " " + else_what);
    }

    void check_slots(const CertifiedRound& round, const CertifiedRound* before) {
        for (std::size_t i = 0; i < round.slots.size(); ++i) {
            const CertifiedSlot& slot = round.slots[i];
            name_ = "round " + std::to_string(round.round) + " slot " + std::to_string(slot.slot);
            must(slot.slot < certificate_.spec.slots, "is none of the job's");
            must(i == 0 || slot.slot > round.slots[i - 1].slot, "stands behind a later one");
            must(ascends(slot.drawn_units, plan_.units()), "names units that a slot does not have");
            check_trace(round, slot);
            check_carried(slot, before);
        }
        name_ = "round " + std::to_string(round.round);
    }

    void check_trace(const CertifiedRound& round, const CertifiedSlot& slot) {
        const program::TraceRecord& trace = slot.reveal.trace;
        const bool fits = program::is_well_formed(trace, certificate_.spec);
        must(fits, "has a trace of another shape than the job's");
        if (!fits) return;
        const contracts::CommitStatement statement{
            .job = certificate_.job,
            .round = round.round,
            .slot = slot.slot,
            .miner = slot.miner,
            .base_root = round.base_root,
            .trace_root = program::trace_root(trace, certificate_.spec, slot.reveal.salt),
            .salt = contracts::commit_salt(slot.reveal.salt)};
        must(contracts::commit_seal(certificate_.chain_id, statement) == slot.seal,
             "has a trace that is not the one which was sealed");
    }

    void check_carried(const CertifiedSlot& slot, const CertifiedRound* before) {
        contracts::CarriedIn right;
        const CertifiedSlot* last = before != nullptr ? before->slot(slot.slot) : nullptr;
        const bool merged =
            before != nullptr && before->merged &&
            std::binary_search(before->merged_slots.begin(), before->merged_slots.end(), slot.slot);
        if (merged && last != nullptr && last->reveal.trace.carried)
            right = {last->reveal.trace.carried->out, last->reveal.carried_blob, last->miner};
        must(base::encode(slot.carried_in) == base::encode(right),
             "does not go on with what the round before handed on");
        const auto& carried = slot.reveal.trace.carried;
        must(!carried || carried->in == right.root, "claims to go on with something else than it was given");
    }

    void check_merge(const CertifiedRound& round) {
        if (!round.merged) return must(round.merged_slots.empty(), "merged nothing and names slots");
        must(!round.result.diverged(), "has a result that is no state");
        must(!round.merged_slots.empty() && ascends(round.merged_slots, certificate_.spec.slots) &&
                 round.result.slots == contracts::storage_bits(certificate_.spec.slots, named(round)),
             "names other slots than its result");
        must(
            round.result.clips.size() == (certificate_.spec.has_norm_bound() ? round.merged_slots.size() : 0),
            "has not a clip for each merged slot");
        must(std::all_of(round.result.clips.begin(), round.result.clips.end(), program::is_clip),
             "has a clip that is none");
        for (const std::uint32_t number : round.merged_slots) {
            const CertifiedSlot* slot = round.slot(number);
            must(slot != nullptr, "merged slot " + std::to_string(number) + ", which opened nothing");
            if (slot == nullptr) continue;
            must(contracts::is_merged(slot->verdict) && !slot->reveal.trace.divergence,
                 "merged slot " + std::to_string(number) + ", whose update counts for nothing");
        }
    }
    /// As far as bits can name them.
    [[nodiscard]] std::vector<std::uint32_t> named(const CertifiedRound& round) const {
        return ascends(round.merged_slots, certificate_.spec.slots) ? round.merged_slots
                                                                    : std::vector<std::uint32_t>{};
    }

    void check_disputes(const CertifiedRound& round) {
        must(round.merged || !round.windows_open, "merged nothing and has windows open");
        for (std::size_t i = 0; i < round.defeated.size(); ++i) {
            const DefeatedClaim& defeat = round.defeated[i];
            const std::string dispute = "dispute " + std::to_string(defeat.game);
            must(is_possible(defeat, round, certificate_.spec),
                 "says of " + dispute + " what cannot have been lost there");
            must(i == 0 || defeat.game > round.defeated[i - 1].game,
                 "names " + dispute + " behind a later one");
            must(games_.insert(defeat.game).second, "names " + dispute + " again");
            // A claim dies once.
            must(dead_.insert({round.round, defeat.claim, defeat.number}).second,
                 "has a claim that dies again in " + dispute);
        }
    }

    void check_line(const CertifiedRound& round, const contracts::SettlementLine& line) {
        must(line.job == certificate_.job && line.round == round.round, "has a settlement line of another");
        must(adds_up(line.paid, {line.from_escrow, line.from_prepaid, line.from_slot}) &&
                 adds_up(line.lost, {line.lost_to_buyer, line.lost_to_escrow, line.lost_burned}),
             "has a settlement line that does not add up");
    }

    void check_model() {
        const CertifiedRound& last = certificate_.rounds.back();
        name_ = "the model";
        must(last.merged, "is the result of no merge");
        program::StateRoots roots;
        roots.parameters = certificate_.parameters;
        roots.outer = certificate_.outer;
        roots.step_count = (std::uint64_t{last.round} + 1) * certificate_.spec.train.inner_steps;
        must(program::state_root(roots) == last.result.base_root,
             "is not the state that the last round gave");
    }

    const BirthCertificate& certificate_;
    program::RoundPlan plan_;
    std::string name_;
    std::set<std::uint32_t> games_;
    std::set<std::tuple<std::uint32_t, contracts::ClaimKind, std::uint32_t>> dead_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> contradictions(const BirthCertificate& certificate) {
    if (const auto fits = program::check_spec(certificate.spec); !fits.ok())
        return {"the job breaks a rule: " + program::to_text(fits.error())};
    if (certificate.rounds.empty() || certificate.rounds.size() > certificate.spec.rounds)
        return {"the certificate has " + std::to_string(certificate.rounds.size()) + " rounds, the job " +
                std::to_string(certificate.spec.rounds)};
    return CertificateCheck(certificate).run();
}

}  // namespace assay::node
