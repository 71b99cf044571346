// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes claim_key(const ClaimId& id) {
    return KeyBuilder(Table::kClaim)
        .add(id.job.view())
        .add_number(id.round, 4)
        .add_number(static_cast<std::uint64_t>(id.kind), 1)
        .add_number(id.number, 4)
        .take();
}

std::optional<ClaimId> claim_of(ByteView key) {
    if (key.size() != 1 + 32 + 4 + 1 + 4) return std::nullopt;
    const std::uint8_t kind = key[37];
    if (kind != static_cast<std::uint8_t>(ClaimKind::kSlot) &&
        kind != static_cast<std::uint8_t>(ClaimKind::kMerge)) {
        return std::nullopt;
    }
    return ClaimId{base::hash_from(key.subspan(1, 32)),
                   static_cast<std::uint32_t>(number_in(key.subspan(33, 4))), static_cast<ClaimKind>(kind),
                   static_cast<std::uint32_t>(number_in(key.subspan(38, 4)))};
}

std::optional<Claim> read_claim(const StateView& state, const ClaimId& id) {
    return load<Claim>(state, claim_key(id));
}

std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job) {
    std::vector<std::pair<ClaimId, Claim>> found;
    const Bytes prefix = KeyBuilder(Table::kClaim).add(job.view()).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(required(claim_of(key)), stored<Claim>(value));
        return true;
    });
    return found;
}

}  // namespace assay::contracts
