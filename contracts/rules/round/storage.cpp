// SPDX-License-Identifier: Apache-2.0
// Who holds the bytes of a slot: a majority of the locked stake, without the miner's. The buyer's owner
// enlists for no job of its own.
#include <algorithm>
#include <map>

#include "contracts/base/wide.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// A judge of the round that may post a bitmap.
struct Holder {
    PublicKey owner;
    Amount weight;
    const StoragePosting* posting = nullptr;  ///< nothing: not posted
};

std::vector<Holder> holders_of(const StateView& state, const Hash256& job, const std::vector<Judge>& judges,
                               const std::vector<StoragePosting>& postings) {
    std::vector<Holder> holders;
    for (const Judge& judge : judges) {
        const EnlistedVerifier enlisted = required(read_enlisted(state, job, judge.node));
        const auto posting = std::find_if(postings.begin(), postings.end(),
                                          [&](const StoragePosting& p) { return p.verifier == judge.node; });
        holders.push_back({enlisted.owner, judge.weight, posting == postings.end() ? nullptr : &*posting});
    }
    return holders;
}

bool has_majority(const std::vector<Holder>& holders, const SlotRound& slot) {
    base::Uint128 all = 0;
    base::Uint128 held = 0;
    for (const Holder& holder : holders) {
        if (holder.owner == slot.owner) continue;
        all += holder.weight.units();
        if (holder.posting != nullptr && has_bit(holder.posting->bits, slot.slot))
            held += holder.weight.units();
    }
    return 2 * held > all;
}

}  // namespace

bool is_stored(const StateView& state, const Job& job, const Round& round, const SlotRound& slot) {
    if (!slot.revealed || slot.diverged) return false;
    const auto postings = list_storage(state, job.id, round.number);
    return has_majority(holders_of(state, job.id, round.judges, postings), slot);
}

bool is_storage_settled(const StateView& state, const Hash256& job, std::uint32_t round) {
    const auto judges = load<std::vector<Judge>>(state, judges_key(job, round));
    ASSAY_CHECK(judges.has_value());
    const auto postings = list_storage(state, job, round);
    const auto holders = holders_of(state, job, *judges, postings);
    const auto slots = list_slots(state, job, round);
    return std::all_of(slots.begin(), slots.end(), [&](const SlotRound& slot) {
        if (!slot.revealed || slot.diverged || has_majority(holders, slot)) return true;
        return std::all_of(holders.begin(), holders.end(), [&](const Holder& holder) {
            return holder.posting != nullptr || holder.owner == slot.owner;
        });
    });
}

}  // namespace assay::contracts
