// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/claims.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Amount Claim::fees() const {
    Amount all;
    for (const Accusation& accusation : accusations) all = saturating_sum(all, accusation.fee);
    return all;
}

void open_claim(State& state, const ClaimId& id, const Claim& claim) {
    const Bytes key = claim_key(id);
    ASSAY_CHECK(!state.get(key));
    store(state, key, claim);
    state.put(claim_of_key(claim.node, id), {});
}

Claim close_claim(State& state, const ClaimId& id) {
    Claim claim = required(read_claim(state, id));
    state.erase(claim_key(id));
    state.erase(claim_of_key(claim.node, id));
    for (const std::uint32_t game : list_game_numbers(state, id)) state.erase(game_about_key(id, game));
    return claim;
}

}  // namespace assay::contracts
