// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/kept_bytes.hpp"

#include <algorithm>
#include <limits>

#include "contracts/base/wide.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::program {

namespace {

using base::Uint128;

constexpr unsigned kRateBits = 32;

std::uint64_t stopping(Uint128 bytes) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return bytes > kMost ? kMost : static_cast<std::uint64_t>(bytes);
}

/// The probability of a draw, in parts of 2^32.
std::uint64_t rate_of(std::uint64_t threshold) {
    constexpr auto kAlways = std::numeric_limits<std::uint64_t>::max();
    return threshold == kAlways ? std::uint64_t{1} << kRateBits : threshold >> kRateBits;
}

/// Mean bytes of the starts from which a verifier recomputes the drawn units of a proven miner's slot; a
/// newcomer's, all of which are drawn, has none.
Uint128 mean_starts(const JobSpec& spec, const FileSizes& files) {
    const RoundPlan plan(spec);
    const std::uint64_t segment = rate_of(spec.security.audit_threshold);
    Uint128 bytes = 0;
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit) {
        const UnitStart start = plan.start(unit);
        if (!start.boundary) continue;
        const std::uint64_t drawn =
            plan.is_finalise(unit) ? rate_of(spec.security.finalise_threshold) : segment;
        // Whoever has recomputed the unit before has this one's start.
        const std::uint64_t alone = (std::uint64_t{1} << kRateBits) - segment;
        const Uint128 chance = (Uint128{drawn} * alone) >> kRateBits;
        constexpr Uint128 kRoundUp = (Uint128{1} << kRateBits) - 1;
        bytes += (chance * files.state_of(start.arrays.size()) + kRoundUp) >> kRateBits;
    }
    return bytes;
}

/// Sizes of what is kept of a job.
struct KeptSizes {
    explicit KeptSizes(const JobSpec& spec) : files(file_sizes(spec)) {
        const StrategyRow& row = strategy_of(spec);
        data = Uint128{token_file_size(spec.data.train_tokens, spec.model.vocabulary)} +
               token_file_size(spec.data.held_out_tokens, spec.model.vocabulary);
        update = Uint128{row.tick.ticks} * files.update;
        carried = carries_state(spec) ? files.state_of(row.carried_arrays.size()) : 0;
    }

    FileSizes files;
    Uint128 data = 0;
    Uint128 update = 0;   ///< that a slot hands in
    Uint128 carried = 0;  ///< that it hands on

    /// Bases of so many rounds in a row, and what the last of them is merged to.
    [[nodiscard]] Uint128 bases(Uint128 rounds) const { return (rounds + 1) * files.base_state; }
};

}  // namespace

std::uint32_t most_open_rounds(const JobSpec& spec, std::uint64_t window) {
    const std::uint64_t begun = window / kLeastRoundHeights;
    return begun >= spec.rounds ? spec.rounds : std::min(spec.rounds, static_cast<std::uint32_t>(begun) + 2);
}

std::uint64_t most_kept_by_miner(const JobSpec& spec, std::uint64_t window, std::uint64_t claims) {
    const KeptSizes sizes(spec);
    const Uint128 rounds = most_open_rounds(spec, window);
    const Uint128 most = std::min(rounds * spec.slots, Uint128{claims});
    const Uint128 bases = std::min(rounds, most + 1);
    // While its slots are trained, the states between their segments; and every slot's update of the round
    // before, of which it makes the next base.
    const Uint128 own = std::min(Uint128{spec.slots}, most);
    const Uint128 running = own * RoundPlan(spec).segments() * sizes.files.slot_state +
                            Uint128{spec.slots} * (sizes.update + sizes.carried);
    return stopping(sizes.data + sizes.bases(bases) + most * (sizes.update + 2 * sizes.carried) + running);
}

KeptBytes most_kept(const JobSpec& spec, std::uint64_t window) {
    const KeptSizes sizes(spec);
    KeptBytes kept;
    kept.rounds = most_open_rounds(spec, window);
    const Uint128 rounds = kept.rounds;
    const Uint128 round =
        Uint128{spec.slots} * (sizes.update + sizes.carried + mean_starts(spec, sizes.files));
    // What the first of them goes on with was handed on in the round before.
    kept.verifier = stopping(sizes.data + sizes.bases(rounds) + rounds * round + spec.slots * sizes.carried);
    kept.miner_slot = most_kept_by_miner(spec, window, kept.rounds);
    kept.miner = most_kept_by_miner(spec, window, std::uint64_t{kept.rounds} * spec.slots);
    kept.buyer = stopping(sizes.data + sizes.bases(rounds));
    return kept;
}

}  // namespace assay::program
