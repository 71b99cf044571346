// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/tables.hpp"

#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Bytes round_prefix(Table table, const Hash256& job, std::uint32_t round) {
    return KeyBuilder(table).add(job.view()).add_number(round, 4).take();
}

Bytes of_verifier(Table table, const Hash256& job, std::uint32_t round, Stage stage,
                  const PublicKey& verifier) {
    return KeyBuilder(table)
        .add(job.view())
        .add_number(round, 4)
        .add_number(static_cast<std::uint64_t>(stage), 1)
        .add(verifier.view())
        .take();
}

/// The records of a table of this round, in the order of their places.
template <class T>
std::vector<T> list_places(const StateView& state, Table table, const Hash256& job, std::uint32_t round) {
    std::vector<T> found = list_values<T>(state, round_prefix(table, job, round));
    std::sort(found.begin(), found.end(), [](const T& a, const T& b) { return a.place < b.place; });
    return found;
}

}  // namespace

Bytes round_key(const Hash256& job, std::uint32_t round) { return round_prefix(Table::kRound, job, round); }
Bytes judges_key(const Hash256& job, std::uint32_t round) { return round_prefix(Table::kJudges, job, round); }
Bytes beacon_link_key(const Hash256& job, std::uint32_t round, const PublicKey& node) {
    return KeyBuilder(Table::kBeaconLink).add(job.view()).add_number(round, 4).add(node.view()).take();
}
Bytes slot_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kSlotRound).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes serve_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kServe).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes storage_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier) {
    return KeyBuilder(Table::kStorage).add(job.view()).add_number(round, 4).add(verifier.view()).take();
}
Bytes reveal_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kReveal).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes audit_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier) {
    return of_verifier(Table::kAudit, job, round, stage, verifier);
}
Bytes merge_posting_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier) {
    return KeyBuilder(Table::kMergePosting).add(job.view()).add_number(round, 4).add(verifier.view()).take();
}
Bytes reveal_place_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kRevealPlace).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes audit_place_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier) {
    return of_verifier(Table::kAuditPlace, job, round, stage, verifier);
}
Bytes merge_place_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier) {
    return KeyBuilder(Table::kMergePlace).add(job.view()).add_number(round, 4).add(verifier.view()).take();
}
Bytes shown_age_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kShownAge).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes handed_on_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kHandedOn).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes settlement_key(const Hash256& job, std::uint32_t round, std::uint32_t line) {
    return KeyBuilder(Table::kSettlement).add(job.view()).add_number(round, 4).add_number(line, 4).take();
}

std::optional<Round> read_round(const StateView& state, const Hash256& job, std::uint32_t number) {
    auto progress = read_round_progress(state, job, number);
    if (!progress) return std::nullopt;
    Round round;
    static_cast<RoundProgress&>(round) = std::move(*progress);
    round.job = job;
    round.number = number;
    round.judges = load<std::vector<Judge>>(state, judges_key(job, number)).value_or(std::vector<Judge>{});
    round.links = list_beacon_links(state, job, number);
    round.merges = list_merge_postings(state, job, number);
    return round;
}
std::optional<RoundProgress> read_round_progress(const StateView& state, const Hash256& job,
                                                 std::uint32_t round) {
    return load<RoundProgress>(state, round_key(job, round));
}
std::optional<BeaconLink> read_beacon_link(const StateView& state, const Hash256& job, std::uint32_t round,
                                           const PublicKey& node) {
    return load<BeaconLink>(state, beacon_link_key(job, round, node));
}
std::optional<MergePosting> read_merge_posting(const StateView& state, const Hash256& job,
                                               std::uint32_t round, const PublicKey& verifier) {
    return load<MergePosting>(state, merge_posting_key(job, round, verifier));
}
std::optional<SlotRound> read_slot(const StateView& state, const Hash256& job, std::uint32_t round,
                                   std::uint32_t slot) {
    return load<SlotRound>(state, slot_key(job, round, slot));
}
std::optional<Serve> read_serve(const StateView& state, const Hash256& job, std::uint32_t round,
                                std::uint32_t slot) {
    return load<Serve>(state, serve_key(job, round, slot));
}
std::optional<StoragePosting> read_storage(const StateView& state, const Hash256& job, std::uint32_t round,
                                           const PublicKey& verifier) {
    return load<StoragePosting>(state, storage_key(job, round, verifier));
}
std::uint64_t read_shown_age(const StateView& state, const Hash256& job, std::uint32_t round,
                             std::uint32_t slot) {
    return load<std::uint64_t>(state, shown_age_key(job, round, slot)).value_or(0);
}

std::optional<Reveal> read_reveal(const StateView& state, const Hash256& job, std::uint32_t round,
                                  std::uint32_t slot) {
    return load<Reveal>(state, reveal_key(job, round, slot));
}
std::optional<AuditPosting> read_audit(const StateView& state, const Hash256& job, std::uint32_t round,
                                       Stage stage, const PublicKey& verifier) {
    return load<AuditPosting>(state, audit_key(job, round, stage, verifier));
}

std::vector<SlotRound> list_slots(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<SlotRound>(state, round_prefix(Table::kSlotRound, job, round));
}
std::vector<BeaconLink> list_beacon_links(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_places<BeaconLink>(state, Table::kBeaconLink, job, round);
}
std::vector<MergePosting> list_merge_postings(const StateView& state, const Hash256& job,
                                              std::uint32_t round) {
    return list_places<MergePosting>(state, Table::kMergePosting, job, round);
}
std::vector<AuditPosting> list_audits(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<AuditPosting>(state, round_prefix(Table::kAudit, job, round));
}
std::vector<StoragePosting> list_storage(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<StoragePosting>(state, round_prefix(Table::kStorage, job, round));
}
std::vector<SettlementLine> list_settlement(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<SettlementLine>(state, round_prefix(Table::kSettlement, job, round));
}

void write_round(State& state, const Round& round) {
    store_changed(state, round_key(round.job, round.number), static_cast<const RoundProgress&>(round));
    store_changed(state, judges_key(round.job, round.number), round.judges);
    std::uint32_t place = 0;
    for (BeaconLink link : round.links) {
        link.place = place++;
        store_changed(state, beacon_link_key(round.job, round.number, link.node), link);
    }
    place = 0;
    for (MergePosting posting : round.merges) {
        posting.place = place++;
        store_changed(state, merge_posting_key(round.job, round.number, posting.verifier), posting);
    }
}

std::vector<AssignedSlot> assigned_slots(const StateView& state, const Hash256& job, std::uint32_t round,
                                         Stage stage, const PublicKey& verifier) {
    std::vector<AssignedSlot> assigned;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (!slot.committed || slot.drawn_units.empty()) continue;
        for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
            if (slot.verifiers[i] != verifier || stage_of(i, slot) != stage) continue;
            const auto runs = program::runs_of(slot.drawn_units);
            const bool needs_start = std::any_of(
                runs.begin(), runs.end(), [](const program::UnitRun& run) { return !run.from_base(); });
            assigned.push_back({slot.slot, slot.drawn_units, slot.served, needs_start});
        }
    }
    return assigned;
}

std::optional<std::vector<std::uint32_t>> storable_slots(const StateView& state, const Hash256& job,
                                                         std::uint32_t round, const PublicKey& verifier) {
    const auto judges = load<std::vector<Judge>>(state, judges_key(job, round));
    const auto enlisted = read_enlisted(state, job, verifier);
    if (!judges || !enlisted) return std::nullopt;
    const bool is_judge = std::any_of(judges->begin(), judges->end(),
                                      [&](const Judge& judge) { return judge.node == verifier; });
    if (!is_judge) return std::nullopt;
    std::vector<std::uint32_t> storable;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (slot.revealed && !slot.diverged && slot.owner != enlisted->owner) storable.push_back(slot.slot);
    }
    return storable;
}

Bytes storage_bits(std::uint32_t slots, const std::vector<std::uint32_t>& held) {
    Bytes bits((slots + 7) / 8, 0);
    for (const std::uint32_t slot : held) {
        ASSAY_CHECK(slot < slots);
        bits[slot / 8] = static_cast<std::uint8_t>(bits[slot / 8] | (1U << (slot % 8)));
    }
    return bits;
}

bool has_bit(const Bytes& bits, std::uint32_t slot) {
    return slot / 8 < bits.size() && ((bits[slot / 8] >> (slot % 8)) & 1U) != 0;
}

std::vector<std::uint32_t> slots_in(const Bytes& bits) {
    std::vector<std::uint32_t> slots;
    const auto end = static_cast<std::uint32_t>(8 * bits.size());
    for (std::uint32_t slot = 0; slot < end; ++slot) {
        if (has_bit(bits, slot)) slots.push_back(slot);
    }
    return slots;
}

bool is_merged(Reason verdict) { return verdict == Reason::kPaid || verdict == Reason::kPaidUndecided; }

std::vector<std::uint32_t> merge_slots(const StateView& state, const Hash256& job, std::uint32_t round) {
    std::vector<std::uint32_t> merged;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (is_merged(slot.verdict)) merged.push_back(slot.slot);
    }
    return merged;
}

CarriedIn carried_in(const StateView& state, const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    if (round == 0) return {};
    return load<CarriedIn>(state, handed_on_key(job, round - 1, slot)).value_or(CarriedIn{});
}

}  // namespace assay::contracts
