// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/team.hpp"

#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

bool is_in_day(const TeamMember& member, const TakenAt& taken, std::uint64_t height) {
    return later(taken.height, member.caps.day) > height;
}

/// A sum above the largest amount is above every cap.
bool fits(Amount taken, Amount amount, Amount cap) {
    const auto whole = taken.plus(amount);
    return whole && *whole <= cap;
}

}  // namespace

Amount taken_in_day(const TeamMember& member, std::uint64_t height) {
    Amount whole;
    for (const TakenAt& taken : member.recent)
        if (is_in_day(member, taken, height)) whole = saturating_sum(whole, taken.amount);
    return whole;
}

Checked check_room(const TeamMember& member, std::uint64_t height, Amount of_job, Amount amount) {
    if (member.revoked) return failed(Reason::kNotMember);
    if (!fits(of_job, amount, member.caps.per_job)) return failed(Reason::kCapPerJob);
    if (!fits(taken_in_day(member, height), amount, member.caps.per_day)) return failed(Reason::kCapPerDay);
    return fits(member.taken, amount, member.caps.total) ? Checked{} : failed(Reason::kCapTotal);
}

void take_room(TeamMember& member, std::uint64_t height, Amount amount) {
    member.taken = sum(member.taken, amount);
    std::erase_if(member.recent, [&](const TakenAt& taken) { return !is_in_day(member, taken, height); });
    if (!member.recent.empty() && member.recent.back().height == height) {
        member.recent.back().amount = sum(member.recent.back().amount, amount);
        return;
    }
    // The oldest two become one that counts for as long as the younger: never less than was taken.
    if (member.recent.size() == kMaxTakenAt) {
        member.recent[1].amount = sum(member.recent[0].amount, member.recent[1].amount);
        member.recent.erase(member.recent.begin());
    }
    member.recent.push_back({height, amount});
}

void give_room(State& state, const PublicKey& sponsor, const PublicKey& member, Amount amount) {
    if (amount.is_zero()) return;
    TeamMember record = required(read_team_member(state, sponsor, member));
    record.taken = difference(record.taken, amount);
    store(state, team_member_key(sponsor, member), record);
}

}  // namespace assay::contracts
