// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/measure.hpp"

#include <algorithm>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/speed_unit.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Bits of speed below the asked ones that cost the deposit. One may be missing by chance: speeds vary.
constexpr int kBitsMissing = 2;

/// Work over time, in the ledger's unit of speed; the largest is that of kMaxSpeedBits.
std::uint64_t speed_over(base::Uint128 work_units, std::uint64_t heights) {
    constexpr base::Uint128 kMost = (std::uint64_t{1} << kMaxSpeedBits) - 1;
    const base::Uint128 speed = work_units * kSpeedUnit / std::max<std::uint64_t>(1, heights);
    return static_cast<std::uint64_t>(std::min(speed, kMost));
}

/// The bits of speed that a machine is taken to have: measured, else those that a deposit stands behind.
std::optional<std::uint8_t> believed_bits(const MachineSpeed& machine) {
    if (const auto measured = machine.speed_bits()) return measured;
    return machine.deposit.is_zero() ? std::nullopt : std::optional(machine.asked);
}

/// A machine of which nothing is known or held has no record.
void write_machine(State& state, const PublicKey& node, program::Profile profile,
                   const MachineSpeed& machine) {
    if (machine.speeds.empty() && machine.deposit.is_zero()) return state.erase(machine_key(node, profile));
    store_changed(state, machine_key(node, profile), machine);
}

}  // namespace

void note_speed(State& state, const PublicKey& node, program::Profile profile, base::Uint128 work_units,
                std::uint64_t heights) {
    MachineSpeed machine = read_machine(state, node, profile);
    std::uint64_t speed = speed_over(work_units, heights);
    if (const auto believed = believed_bits(machine); believed && bits_of_speed(speed) < *believed) {
        if (heights <= kHeightsUnseen) return;
        const std::uint64_t most = speed_over(work_units, heights - kHeightsUnseen);
        // A class that a deposit stands behind is not exchanged for the next one below by a short round that
        // leaves open whether the machine has that.
        const bool is_open = bits_of_speed(most) > bits_of_speed(speed) && heights < kHeightsThatTell;
        const int missing = !machine.speed_bits() && is_open ? kBitsMissing : 1;
        if (bits_of_speed(most) + missing > *believed) return;
        speed = most;
    }
    machine.speeds.push_back(speed);
    if (machine.speeds.size() > kSpeedsKept) machine.speeds.erase(machine.speeds.begin());
    write_machine(state, node, profile, machine);
}

void hold_class_deposit(State& state, const PublicKey& node, const LotClass& kind, Amount deposit) {
    MachineSpeed machine = read_machine(state, node, kind.profile);
    if (machine.speed_bits() || !machine.deposit.is_zero()) {
        give_free(state, node, deposit, &Supply::deposits);
    } else {
        machine.deposit = deposit;
    }
    if (machine.deposit.is_zero()) return;
    machine.asked = std::max(machine.asked, kind.speed);
    write_machine(state, node, kind.profile, machine);
}

void settle_class_deposit(Work& work, const PublicKey& node, program::Profile profile) {
    MachineSpeed machine = read_machine(work.state, node, profile);
    if (machine.deposit.is_zero()) return;
    const auto measured = machine.speed_bits();
    if (measured && *measured + kBitsMissing <= machine.asked) {
        move_total(work.state, &Supply::deposits, &Supply::burned, machine.deposit);
        Miner miner = required(read_miner(work.state, node));
        miner.forfeited = saturating_sum(miner.forfeited, machine.deposit);
        store(work.state, miner_key(node), miner);
        work.tell({.kind = EventKind::kSealLost,
                   .node = node,
                   .reason = Reason::kClassNotMet,
                   .amount = machine.deposit});
    } else {
        give_free(work.state, node, machine.deposit, &Supply::deposits);
    }
    machine.deposit = {};
    machine.asked = 0;
    write_machine(work.state, node, profile, machine);
}

}  // namespace assay::contracts
