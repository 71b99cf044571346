// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::size_t kNameBytes = 4 + 1 + 4;  // round, kind, number
constexpr std::size_t kJobEnd = 1 + 32;

KeyBuilder job_prefix(Table table, const Hash256& job) {
    return std::move(KeyBuilder(table).add(job.view()));
}

KeyBuilder claim_prefix(Table table, const ClaimId& id) {
    return std::move(job_prefix(table, id.job)
                         .add_number(id.round, 4)
                         .add_number(static_cast<std::uint64_t>(id.kind), 1)
                         .add_number(id.number, 4));
}

std::uint32_t number_at(ByteView key, std::size_t at) {
    return static_cast<std::uint32_t>(number_in(key.subspan(at, 4)));
}

bool is_kind(std::uint8_t kind) {
    return kind == static_cast<std::uint8_t>(ClaimKind::kSlot) ||
           kind == static_cast<std::uint8_t>(ClaimKind::kMerge);
}

std::vector<std::pair<ClaimId, Claim>> claims_behind(const StateView& state, const Bytes& prefix) {
    std::vector<std::pair<ClaimId, Claim>> found;
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(required(claim_of(key)), stored<Claim>(value));
        return true;
    });
    return found;
}

/// The first round from `first` on that has an open claim.
std::optional<std::uint32_t> open_round_from(const StateView& state, const Hash256& job,
                                             std::uint32_t first) {
    std::optional<std::uint32_t> round;
    const Bytes prefix = job_prefix(Table::kClaim, job).take();
    const Bytes from = job_prefix(Table::kClaim, job).add_number(first, 4).take();
    state.for_each(prefix, from, [&](ByteView key, ByteView) {
        round = required(claim_of(key)).round;
        return false;
    });
    return round;
}

std::vector<std::uint32_t> games_behind(const StateView& state, const Bytes& prefix) {
    std::vector<std::uint32_t> found;
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        found.push_back(number_at(key, kJobEnd + kNameBytes));
        return true;
    });
    return found;
}

}  // namespace

Bytes claim_key(const ClaimId& id) { return claim_prefix(Table::kClaim, id).take(); }

std::optional<ClaimId> claim_of(ByteView key) {
    if (key.size() != kJobEnd + kNameBytes || !is_kind(key[kJobEnd + 4])) return std::nullopt;
    return ClaimId{base::hash_from(key.subspan(1, 32)), number_at(key, kJobEnd),
                   static_cast<ClaimKind>(key[kJobEnd + 4]), number_at(key, kJobEnd + 5)};
}

std::optional<Claim> read_claim(const StateView& state, const ClaimId& id) {
    return load<Claim>(state, claim_key(id));
}

std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job) {
    return claims_behind(state, job_prefix(Table::kClaim, job).take());
}

std::vector<std::pair<ClaimId, Claim>> list_claims(const StateView& state, const Hash256& job,
                                                   std::uint32_t round) {
    return claims_behind(state, job_prefix(Table::kClaim, job).add_number(round, 4).take());
}

bool has_open_claim(const StateView& state, const Hash256& job) {
    return has_any(state, job_prefix(Table::kClaim, job).take());
}

bool has_open_claim(const StateView& state, const Hash256& job, std::uint32_t round) {
    return has_any(state, job_prefix(Table::kClaim, job).add_number(round, 4).take());
}

std::optional<std::uint32_t> first_open_round(const StateView& state, const Hash256& job) {
    return open_round_from(state, job, 0);
}

std::vector<std::uint32_t> list_open_rounds(const StateView& state, const Hash256& job) {
    std::vector<std::uint32_t> rounds;
    auto next = open_round_from(state, job, 0);
    while (next) {
        rounds.push_back(*next);
        next = *next == UINT32_MAX ? std::nullopt : open_round_from(state, job, *next + 1);
    }
    return rounds;
}

Bytes claim_of_key(const PublicKey& node, const ClaimId& id) {
    return job_prefix(Table::kClaimOf, id.job)
        .add(node.bytes)
        .add_number(static_cast<std::uint64_t>(id.kind), 1)
        .add_number(id.round, 4)
        .add_number(id.number, 4)
        .take();
}

std::optional<ClaimId> claim_in_index(ByteView key, PublicKey& node) {
    constexpr std::size_t kNodeEnd = kJobEnd + 32;
    if (key.size() != kNodeEnd + kNameBytes || !is_kind(key[kNodeEnd])) return std::nullopt;
    node = PublicKey{base::hash_from(key.subspan(kJobEnd, 32)).bytes};
    return ClaimId{base::hash_from(key.subspan(1, 32)), number_at(key, kNodeEnd + 1),
                   static_cast<ClaimKind>(key[kNodeEnd]), number_at(key, kNodeEnd + 5)};
}

void for_each_claim_of(const StateView& state, const Hash256& job, const PublicKey& node, ClaimKind kind,
                       const std::function<bool(const ClaimId&)>& visit) {
    const Bytes prefix = job_prefix(Table::kClaimOf, job)
                             .add(node.bytes)
                             .add_number(static_cast<std::uint64_t>(kind), 1)
                             .take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        PublicKey whose;
        return visit(required(claim_in_index(key, whose)));
    });
}

Bytes game_about_key(const ClaimId& id, std::uint32_t game) {
    return claim_prefix(Table::kGameAbout, id).add_number(game, 4).take();
}

std::vector<std::uint32_t> list_game_numbers(const StateView& state, const ClaimId& id) {
    return games_behind(state, claim_prefix(Table::kGameAbout, id).take());
}

std::vector<std::uint32_t> list_game_numbers(const StateView& state, const Hash256& job) {
    auto found = games_behind(state, job_prefix(Table::kGameAbout, job).take());
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<ClaimId> claim_of_game_about(ByteView key, std::uint32_t& game) {
    if (key.size() != kJobEnd + kNameBytes + 4 || !is_kind(key[kJobEnd + 4])) return std::nullopt;
    game = number_at(key, kJobEnd + kNameBytes);
    return ClaimId{base::hash_from(key.subspan(1, 32)), number_at(key, kJobEnd),
                   static_cast<ClaimKind>(key[kJobEnd + 4]), number_at(key, kJobEnd + 5)};
}

}  // namespace assay::contracts
