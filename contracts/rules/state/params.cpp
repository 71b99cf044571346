// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/params.hpp"

namespace assay::contracts {

namespace {

constexpr std::uint64_t kWindowMax = 10'000'000;
constexpr std::uint64_t kStakeMax = 1'000'000'000'000'000ULL;

// One row of the table: the member is named once, and both directions follow.
#define ASSAY_NUMBER(name, minimum, maximum, meaning)                                                       \
    ParamRange {                                                                                            \
#name, meaning, minimum, maximum, [](const Params& p) -> std::uint64_t { return p.name; },                \
            [](Params& p, std::uint64_t value) { p.name = static_cast<decltype(Params::name)>(value); } \
    }
#define ASSAY_AMOUNT(name, minimum, maximum, meaning)                                                        \
    ParamRange {                                                                                             \
#name, meaning, minimum, maximum,                                                                    \
            [](const Params& p)                                                                              \
                 -> std::uint64_t { return p.name.units(); }, [](Params & p,                                 \
                                                                 std::uint64_t                               \
                                                                     value) { p.name = *Amount::of(value); } \
    }

std::vector<ParamRange> make_ranges() {
    return {
        ASSAY_NUMBER(ask_commit_window, 1, kWindowMax, "sealing asks, enlisting verifiers; runs to its end"),
        ASSAY_NUMBER(ask_reveal_window, 1, kWindowMax, "opening asks; runs to its end"),
        ASSAY_NUMBER(commit_window, 1, kWindowMax, "from the dealing of slots to the last seal: training"),
        ASSAY_NUMBER(beacon_window, 1, kWindowMax, "opening beacon links"),
        ASSAY_NUMBER(serve_window, 1, kWindowMax, "opening the starts of the drawn runs"),
        ASSAY_NUMBER(audit_seal_window, 1, kWindowMax,
                     "recomputing, sealing what was found; longer where replaying a verifier's slots takes "
                     "longer"),
        ASSAY_NUMBER(audit_open_window, 1, kWindowMax, "opening it"),
        ASSAY_NUMBER(reveal_window, 1, kWindowMax, "opening traces"),
        ASSAY_NUMBER(storage_window, 1, kWindowMax,
                     "fetching updates and carried states, saying which slots' bytes are held"),
        ASSAY_NUMBER(merge_seal_window, 1, kWindowMax, "merging, evaluating, sealing the result"),
        ASSAY_NUMBER(merge_open_window, 1, kWindowMax, "opening it"),
        ASSAY_NUMBER(
            claim_window, 3, kWindowMax,
            "from a settlement on, pay is held and bonds stay locked so long; a job's end waits for it"),
        ASSAY_NUMBER(
            dispute_move_window, 1, kWindowMax,
            "what each move of a game adds to its player's clock; how long vouchers can be called at least"),
        ASSAY_NUMBER(unbonding_delay, 1, kWindowMax, "from a withdrawal of stake to its arrival"),
        ASSAY_AMOUNT(miner_fee, 0, kStakeMax, "registration; prepays the newcomer's own first audits"),
        ASSAY_AMOUNT(verifier_fee, 0, kStakeMax, "registration; to the treasury"),
        ASSAY_AMOUNT(ask_deposit, 0, kStakeMax,
                     "held until the auction of a sealed ask, burned where it could not have won"),
        ASSAY_AMOUNT(verifier_bond, 1, kStakeMax, "least locked for a job that a verifier enlists for"),
        ASSAY_AMOUNT(verifier_penalty, 1, kStakeMax,
                     "least for a merge that is not opened, for an audit not sealed or not "
                     "opened, and for a lost accusation; at most the bond"),
        ASSAY_AMOUNT(link_penalty, 0, kStakeMax,
                     "least that a beacon member locks as its link bond, all of which a withheld link costs"),
        ASSAY_AMOUNT(job_byte_fee, 0, kStakeMax,
                     "burned at a job's submission, for each byte of its specification"),
        ASSAY_AMOUNT(job_slot_fee, 0, kStakeMax, "burned at a job's submission, for each slot of each round"),
        ASSAY_NUMBER(probation_rounds, 0, 1'000'000,
                     "slots of a job whose verified work, in its class, ends a miner's probation there"),
        ASSAY_NUMBER(
            max_missed, 1, 1'000,
            "rounds missed until a party is dropped from a job; each round attended makes up for half a "
            "missed one"),
        ASSAY_NUMBER(speed_window, 1, 64, "recent rounds whose minimum is a miner's measured speed"),
        // Two leave a round without a pair as soon as one withholds its link.
        ASSAY_NUMBER(panel_owners_least, 2, 3,
                     "owners among the eligible verifiers without whom no round begins (too_few_verifiers)"),
        // An audit never pays less than what it costs a miner to compute the same.
        ASSAY_NUMBER(audit_fee_ppm, kPartsPerMillion, 4 * kPartsPerMillion,
                     "of the clearing price, per recomputed work unit"),
        ASSAY_NUMBER(merge_fee_ppm, 0, kPartsPerMillion, "of a slot's pay, for recomputing the merge"),
        // A part is always burned: what comes back to a cheat under another key deters nobody.
        ASSAY_NUMBER(
            forfeit_buyer_ppm, 0, 900'000,
            "of what a miner loses by silence after the draw, to the buyer; the rest is burned, and what "
            "absences take is burned whole"),
        ASSAY_NUMBER(
            no_commit_ppm, 0, kPartsPerMillion,
            "of the slot's bond, for not committing before two rounds of work made up for an absence, or in "
            "the first round after joining"),
        ASSAY_NUMBER(verifier_penalty_ppm, 0, kPartsPerMillion,
                     "of the round's dearest bond, for a merge that is not opened, where that is more than "
                     "`verifier_penalty`"),
        ASSAY_NUMBER(gain_bound_max_ppm, 0, 1'000 * kPartsPerMillion,
                     "of a slot's pay at the cap: the highest gain bound that a job may have"),
        ASSAY_NUMBER(collusion_ppm, 0, 900'000,
                     "of the stake locked for a job: the share whose verifiers a bond assumes to collude"),
    };
}

#undef ASSAY_NUMBER
#undef ASSAY_AMOUNT

}  // namespace

Hash256 params_hash(const Params& params) { return base::hash("assay/params/v1", base::encode(params)); }

const std::vector<ParamRange>& param_ranges() {
    static const std::vector<ParamRange> ranges = make_ranges();
    return ranges;
}

std::optional<std::string> check_params(const Params& params) {
    for (const ParamRange& range : param_ranges()) {
        const std::uint64_t value = range.get(params);
        if (value < range.minimum || value > range.maximum) return std::string(range.name);
    }
    if (params.verifier_penalty > params.verifier_bond) return "verifier_penalty above verifier_bond";
    if (params.claim_window / 3 < params.audit_seal_window)
        return "claim_window below three times audit_seal_window";
    return std::nullopt;
}

}  // namespace assay::contracts
