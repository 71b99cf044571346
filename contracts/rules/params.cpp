// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/params.hpp"

namespace assay::contracts {

namespace {

constexpr std::uint64_t kWindowMax = 10'000'000;
constexpr std::uint64_t kStakeMax = 1'000'000'000'000'000ULL;

// One row of the table: the member is named once, and both directions follow.
#define ASSAY_NUMBER(name, minimum, maximum)                                                       \
    ParamRange {                                                                                   \
#name, minimum, maximum, [](const Params& p) -> std::uint64_t { return p.name; },                \
            [](Params& p, std::uint64_t value) { p.name = static_cast<decltype(Params::name)>(value); } \
    }
#define ASSAY_AMOUNT(name, minimum, maximum)                                                                 \
    ParamRange {                                                                                             \
#name, minimum, maximum,                                                                             \
            [](const Params& p)                                                                              \
                 -> std::uint64_t { return p.name.units(); }, [](Params & p,                                 \
                                                                 std::uint64_t                               \
                                                                     value) { p.name = *Amount::of(value); } \
    }

std::vector<ParamRange> make_ranges() {
    return {
        ASSAY_NUMBER(ask_commit_window, 1, kWindowMax),
        ASSAY_NUMBER(ask_reveal_window, 1, kWindowMax),
        ASSAY_NUMBER(commit_window, 1, kWindowMax),
        ASSAY_NUMBER(beacon_window, 1, kWindowMax),
        ASSAY_NUMBER(reveal_window, 1, kWindowMax),
        ASSAY_NUMBER(audit_seal_window, 1, kWindowMax),
        ASSAY_NUMBER(audit_open_window, 1, kWindowMax),
        ASSAY_NUMBER(merge_seal_window, 1, kWindowMax),
        ASSAY_NUMBER(merge_open_window, 1, kWindowMax),
        ASSAY_NUMBER(unbonding_delay, 1, kWindowMax),
        ASSAY_AMOUNT(miner_fee, 0, kStakeMax),
        ASSAY_AMOUNT(verifier_fee, 0, kStakeMax),
        ASSAY_AMOUNT(ask_deposit, 0, kStakeMax),
        ASSAY_AMOUNT(verifier_bond, 1, kStakeMax),
        ASSAY_AMOUNT(verifier_penalty, 1, kStakeMax),
        ASSAY_AMOUNT(link_penalty, 0, kStakeMax),
        ASSAY_NUMBER(probation_rounds, 0, 1'000'000),
        ASSAY_NUMBER(max_missed, 1, 1'000),
        ASSAY_NUMBER(speed_window, 1, 64),
        ASSAY_NUMBER(audit_fee_ppm, 0, 4 * kPartsPerMillion),
        ASSAY_NUMBER(merge_fee_ppm, 0, kPartsPerMillion),
        ASSAY_NUMBER(forfeit_buyer_ppm, 0, kPartsPerMillion),
        // Never all to the accuser: at most half.
        ASSAY_NUMBER(forfeit_verifier_ppm, 0, kPartsPerMillion / 2),
    };
}

#undef ASSAY_NUMBER
#undef ASSAY_AMOUNT

}  // namespace

const std::vector<ParamRange>& param_ranges() {
    static const std::vector<ParamRange> ranges = make_ranges();
    return ranges;
}

std::optional<std::string> check_params(const Params& params) {
    for (const ParamRange& range : param_ranges()) {
        const std::uint64_t value = range.get(params);
        if (value < range.minimum || value > range.maximum) return std::string(range.name);
    }
    if (params.forfeit_buyer_ppm + params.forfeit_verifier_ppm > kPartsPerMillion) {
        return "forfeit_buyer_ppm + forfeit_verifier_ppm";
    }
    if (params.verifier_penalty > params.verifier_bond) return "verifier_penalty above verifier_bond";
    return std::nullopt;
}

}  // namespace assay::contracts
