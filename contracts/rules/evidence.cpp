// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/evidence.hpp"

#include "contracts/rules/round/archive.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::contracts {

namespace {

/// The key of a record, from the key of its place: they differ in their table alone.
Bytes with_table(ByteView key, Table table) {
    Bytes other = base::to_bytes(key);
    other.front() = static_cast<std::uint8_t>(table);
    return other;
}

void list_places(const StateView& state, Table places, Table records, std::vector<Evidence>& found) {
    const Bytes prefix = table_prefix(places);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        Evidence evidence{with_table(key, records), stored<LogPlace>(value)};
        const auto record = state.get(evidence.key);
        if (!record || hash_of_record(*record) != evidence.place.record) found.push_back(std::move(evidence));
        return true;
    });
}

std::optional<Bytes> record_of(const StateView& state, const Evidence& evidence, const Payload& payload) {
    const auto table = static_cast<Table>(evidence.key.front());
    if (const auto* reveal = std::get_if<RoundReveal>(&payload); reveal && table == Table::kReveal) {
        return base::encode(Reveal{reveal->trace, reveal->salt, reveal->update_blob, reveal->carried_blob});
    }
    if (const auto* merge = std::get_if<MergeOpen>(&payload); merge && table == Table::kMergePosting) {
        auto posting = load<MergePosting>(state, evidence.key);
        if (!posting) return std::nullopt;
        posting->claim = merge->claim;
        return base::encode(*posting);
    }
    const auto* opening = std::get_if<AuditOpen>(&payload);
    auto posting = table == Table::kAudit ? load<AuditPosting>(state, evidence.key) : std::nullopt;
    if (!opening || !posting) return std::nullopt;
    posting->claims = opening->claims;
    return base::encode(*posting);
}

}  // namespace

std::vector<Evidence> list_evidence(const StateView& state) {
    std::vector<Evidence> found;
    list_places(state, Table::kRevealPlace, Table::kReveal, found);
    list_places(state, Table::kAuditPlace, Table::kAudit, found);
    list_places(state, Table::kMergePlace, Table::kMergePosting, found);
    return found;
}

std::optional<Bytes> recover(const StateView& state, const Evidence& evidence, ByteView signed_transaction) {
    const auto transaction = base::decode<SignedTransaction>(signed_transaction);
    if (!transaction || transaction_id(transaction->body) != evidence.place.transaction) return std::nullopt;
    const auto body = decode_body(transaction->body);
    if (!body) return std::nullopt;
    auto record = record_of(state, evidence, body->payload);
    if (!record || hash_of_record(*record) != evidence.place.record) return std::nullopt;
    return record;
}

}  // namespace assay::contracts
