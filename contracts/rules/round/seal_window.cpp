// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/seal_window.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "contracts/rules/job/speed_unit.hpp"

namespace assay::contracts {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t stopping(base::Uint128 value) {
    return value > kMost ? kMost : static_cast<std::uint64_t>(value);
}

std::uint64_t slowest_verifier(const Job& job) {
    std::uint64_t slowest = kMost;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        if (!verifier.dropped && verifier.speed() > 0) slowest = std::min(slowest, verifier.speed());
    }
    return slowest;
}

std::uint64_t most_slots(const RunningRound& running, Stage stage) {
    std::uint64_t most = 0;
    for (const EnlistedVerifier& verifier : running.job.verifiers) {
        const auto slots =
            assigned_slots(running.work.state, running.job.id, running.round.number, stage, verifier.node);
        most = std::max<std::uint64_t>(most, slots.size());
    }
    return most;
}

}  // namespace

std::uint64_t slowest_miner(const Job& job, const Round& round, const std::vector<SlotRound>& slots) {
    std::map<PublicKey, std::pair<std::uint64_t, std::uint64_t>> sealed;  // slots, last height
    for (const SlotRound& slot : slots) {
        if (!slot.committed) continue;
        auto& [count, last] = sealed[slot.miner];
        ++count;
        last = std::max(last, slot.committed_at);
    }
    std::uint64_t slowest = kMost;
    for (const auto& [miner, tally] : sealed) {
        const base::Uint128 work = base::Uint128{job.slot_work} * tally.first;
        slowest = std::min(slowest, measured_speed(work, tally.second - round.started_at));
    }
    return slowest;
}

std::uint64_t measured_speed(base::Uint128 work, std::uint64_t heights) {
    return std::min(stopping(work * kSpeedUnit / std::max<std::uint64_t>(1, heights)), base::kAmountMax);
}

std::uint64_t audit_seal_window(const RunningRound& running, Stage stage) {
    const std::uint64_t slowest =
        std::min(slowest_miner(running.job, running.round, running.slots), slowest_verifier(running.job));
    const base::Uint128 work = base::Uint128{running.job.slot_work} * kSpeedUnit * kReplayAllowance;
    const std::uint64_t divisor = std::max<std::uint64_t>(1, slowest);
    const base::Uint128 slot =
        std::min((work + divisor - 1) / divisor, base::Uint128{running.params.commit_window});
    return std::max(running.params.audit_seal_window, stopping(slot * most_slots(running, stage)));
}

}  // namespace assay::contracts
