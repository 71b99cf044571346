// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Bytes round_prefix(Table table, const Hash256& job, std::uint32_t round) {
    return KeyBuilder(table).add(job.view()).add_number(round, 4).take();
}

}  // namespace

Bytes round_key(const Hash256& job, std::uint32_t round) { return round_prefix(Table::kRound, job, round); }
Bytes slot_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kSlotRound).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes reveal_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kReveal).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes audit_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier) {
    return KeyBuilder(Table::kAudit)
        .add(job.view())
        .add_number(round, 4)
        .add_number(static_cast<std::uint64_t>(stage), 1)
        .add(verifier.view())
        .take();
}
Bytes settlement_key(const Hash256& job, std::uint32_t round, std::uint32_t line) {
    return KeyBuilder(Table::kSettlement).add(job.view()).add_number(round, 4).add_number(line, 4).take();
}

std::optional<Round> read_round(const StateView& state, const Hash256& job, std::uint32_t round) {
    return load<Round>(state, round_key(job, round));
}
std::optional<SlotRound> read_slot(const StateView& state, const Hash256& job, std::uint32_t round,
                                   std::uint32_t slot) {
    return load<SlotRound>(state, slot_key(job, round, slot));
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
std::vector<AuditPosting> list_audits(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<AuditPosting>(state, round_prefix(Table::kAudit, job, round));
}
std::vector<SettlementLine> list_settlement(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<SettlementLine>(state, round_prefix(Table::kSettlement, job, round));
}

std::vector<AssignedUnit> assigned_units(const StateView& state, const Hash256& job, std::uint32_t round,
                                         Stage stage, const PublicKey& verifier) {
    std::vector<AssignedUnit> assigned;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (!slot.revealed) continue;
        // The first two are the pair; whoever follows is the third.
        for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
            if (slot.verifiers[i] != verifier || (i < 2) != (stage == Stage::kPair)) continue;
            for (const std::uint32_t unit : slot.drawn_units) assigned.push_back({slot.slot, unit});
        }
    }
    return assigned;
}

std::vector<std::uint32_t> merge_slots(const StateView& state, const Hash256& job, std::uint32_t round) {
    std::vector<std::uint32_t> merged;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (slot.verdict == Reason::kPaid) merged.push_back(slot.slot);
    }
    return merged;
}

}  // namespace assay::contracts
