// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/storage_audit.hpp"

#include <algorithm>
#include <map>

#include "contracts/base/wide.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::ledger {

using contracts::PublicKey;

namespace {

std::map<PublicKey, PublicKey> owners_of(const contracts::Job& job) {
    std::map<PublicKey, PublicKey> owners;
    for (const auto& verifier : job.verifiers) owners.emplace(verifier.node, verifier.owner);
    return owners;
}

bool names(const contracts::Bytes& bits, std::uint32_t slot) {
    const std::size_t byte = slot / 8;
    return byte < bits.size() && (bits[byte] & (1U << (slot % 8))) != 0;
}

}  // namespace

bool is_held(const contracts::StateView& state, const contracts::Job& job, const contracts::Round& round,
             const contracts::SlotRound& slot) {
    const auto owners = owners_of(job);
    base::Uint128 said = 0;
    base::Uint128 all = 0;
    for (const contracts::Judge& judge : round.judges) {
        const auto owner = owners.find(judge.node);
        if (owner == owners.end() || owner->second == slot.owner) continue;
        all += judge.weight.units();
        const auto posting = contracts::read_storage(state, job.id, round.number, judge.node);
        if (posting && names(posting->bits, slot.slot)) said += judge.weight.units();
    }
    return said + said > all;
}

std::vector<std::string> audit_bitmaps(const contracts::StateView& state, const contracts::Job& job,
                                       const contracts::Round& round) {
    std::vector<std::string> wrong;
    const auto owners = owners_of(job);
    const auto slots = contracts::list_slots(state, job.id, round.number);
    for (const contracts::StoragePosting& posting : contracts::list_storage(state, job.id, round.number)) {
        const std::string who = "storage: " + posting.verifier.brief();
        const bool judge = std::any_of(round.judges.begin(), round.judges.end(),
                                       [&](const auto& one) { return one.node == posting.verifier; });
        const auto owner = owners.find(posting.verifier);
        if (!judge || owner == owners.end()) {
            wrong.push_back(who + " is no judge of the round");
            continue;
        }
        if (posting.bits.size() != (job.spec.slots + 7) / 8)
            wrong.push_back(who + " has a bitmap of another length");
        for (std::uint32_t slot = 0; slot < posting.bits.size() * 8; ++slot) {
            if (!names(posting.bits, slot)) continue;
            const bool has_say = slot < slots.size() && slots[slot].revealed && !slots[slot].diverged &&
                                 slots[slot].owner != owner->second;
            if (!has_say)
                wrong.push_back(who + " names slot " + std::to_string(slot) + ", of which it has no say");
        }
    }
    return wrong;
}

}  // namespace assay::ledger
