// SPDX-License-Identifier: Apache-2.0
// The bond from which cheating does not pay, against the same formula in long floating point and against a
// cheat's own sum: no number of skipped units brings more than it costs.
#include <cmath>
#include <limits>
#include <set>

#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/deterrence.hpp"
#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/properties.hpp"

namespace assay::contracts::test {
namespace {

constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

long double as_rate(std::uint64_t threshold) {
    return static_cast<long double>(threshold) / static_cast<long double>(kAlways);
}

Params colluding(std::uint64_t collusion_ppm, std::uint64_t buyer_ppm) {
    Params params;
    params.collusion_ppm = collusion_ppm;
    params.forfeit_buyer_ppm = buyer_ppm;
    return params;
}

}  // namespace

TEST_CASE("nobody colludes, everything is drawn and all is burned: the bond is what is at stake") {
    const Params params = colluding(0, 0);
    CHECK(deterring_rate(kAlways, params) == kAlways);
    CHECK(deterring_bond(params, {amount(900), 4, amount(100)}, kAlways) == amount(1'000));
}

TEST_CASE("a panel of one to three colludes when all of it does") {
    CHECK(colluding_panels(0, 10) == 0);
    CHECK(colluding_panels(10, 10) == 1'000);
    // Every panel of one, two or three out of thirty of whom ten collude: with repetition, as from large
    // stakes; each size as likely.
    std::uint64_t colluding = 0;
    for (int a = 0; a < 30; ++a)
        for (int b = 0; b < 30; ++b)
            for (int c = 0; c < 30; ++c)
                for (const bool all : {a < 10, a < 10 && b < 10, a < 10 && b < 10 && c < 10})
                    colluding += all ? 1 : 0;
    CHECK(colluding_panels(10, 30) == (colluding + 2) / 3);
}

TEST_CASE("a third of the stake under many names has no more panels than its bond counts with") {
    // Two honest owners with a third each; ten names share the last third.
    std::vector<EligibleVerifier> judges;
    for (std::uint8_t number = 1; number <= 12; ++number) {
        PublicKey key;
        key.bytes[0] = number;
        judges.push_back({key, key, number <= 2 ? 100U : 10U});
    }
    constexpr std::uint32_t kPanels = 20'000;
    Round round;
    round.beacon = bytes_of("beacon");
    std::uint32_t colluding = 0;
    for (std::uint32_t slot = 0; slot < kPanels; ++slot) {
        const std::size_t size = panel_drawn(round, slot);
        const auto panel = draw_weighted(round.beacon, "verifiers", slot, judges, size);
        const bool whole =
            std::all_of(panel.begin(), panel.end(), [](const PublicKey& node) { return node.bytes[0] > 2; });
        colluding += whole ? 1 : 0;
    }
    const double share = static_cast<double>(colluding) / kPanels;
    CHECK(share > 0.14);  // (1/3 + 1/3·90/290 + 1/3·90/290·80/280) / 3 = 0.155
    CHECK(share < 0.17);
    CHECK(share < static_cast<double>(colluding_panels(100, 300)) / 27'000'000 + 0.005);
}

TEST_CASE(
    "a third of the stake that colludes leaves 68 of 81 panels, and what the buyer gets deters nobody") {
    const Params third = colluding(333'333, 0);
    CHECK(std::abs(as_rate(deterring_rate(kAlways, third)) - 68.0L / 81.0L) < 1e-6L);
    CHECK(deterring_bond(third, {amount(680), 1, amount(0)}, kAlways) == amount(810));
    const Params shared = colluding(333'333, 400'000);
    CHECK(lost_for_good_ppm(shared) == 600'000);
    CHECK(deterring_bond(shared, {amount(680), 1, amount(0)}, kAlways) == amount(1'350));
}

TEST_CASE("a rate that cannot be told from zero, or a forfeit that all comes back, has no bond") {
    CHECK_FALSE(deterring_bond(colluding(0, 0), {amount(1), 1, amount(0)}, 0).has_value());
    CHECK_FALSE(deterring_bond(colluding(0, 1'000'000), {amount(1), 1, amount(0)}, kAlways).has_value());
    CHECK_FALSE(deterring_bond(colluding(0, 0), {base::Amount::of(base::kAmountMax).value(), 1, amount(0)},
                               kAlways / 10)
                    .has_value());
}

TEST_CASE("whoever skips any number of units wins less than it loses, in every draw of terms") {
    tests::check_property(2'000, [] {
        const Params params =
            colluding(*tests::between<std::uint64_t>(0, 900'000), *tests::between<std::uint64_t>(0, 900'000));
        const std::uint64_t q = kAlways / *tests::between<std::uint64_t>(1, 1'000);
        const auto units = *tests::between<std::uint32_t>(1, 64);
        const CheatStake stake{amount(*tests::between<std::uint64_t>(1, 1'000'000'000)), units,
                               amount(*tests::between<std::uint64_t>(0, 1'000'000'000))};
        const auto bond = deterring_bond(params, stake, q);
        RC_ASSERT(bond.has_value());
        const long double beta = static_cast<long double>(params.collusion_ppm) / 1e6L;
        const long double honest = 1.0L - (beta + beta * beta + beta * beta * beta) / 3.0L;
        const long double burned = static_cast<long double>(lost_for_good_ppm(params)) / 1e6L;
        const long double saving = static_cast<long double>(stake.saving.units()) / units;
        for (std::uint32_t skipped = 1; skipped <= units; ++skipped) {
            const long double found =
                honest * (1.0L - std::pow(1.0L - as_rate(q), static_cast<long double>(skipped)));
            const long double won = skipped * saving + static_cast<long double>(stake.gain.units());
            const long double lost = found * burned * static_cast<long double>(bond->units());
            RC_ASSERT(lost * (1.0L + 1e-12L) >= won);
            // Nor is the bond larger than it has to be by more than the sum of both terms.
            RC_ASSERT(skipped < units || lost <= 2 * (won + stake.gain.units() * units + 2));
        }
    });
}

TEST_CASE("who withholds a link for an accomplice pays more than another draw saves") {
    tests::check_property(2'000, [] {
        Params params;
        params.collusion_ppm = *tests::between<std::uint64_t>(0, 900'000);
        program::JobSpec spec = small_job();
        spec.slots = *tests::between<std::uint32_t>(1, 64);
        spec.market.max_price = amount(*tests::between<std::uint64_t>(1, 10'000));
        spec.security.audit_threshold = kAlways / *tests::between<std::uint64_t>(1, 100);
        const std::uint64_t work = *tests::between<std::uint64_t>(1, 10'000);
        const Amount cap = spec.market.max_price;
        const auto highest = gain_bound_max(params, cap, work);
        spec.security.gain_bound = amount(*tests::between<std::uint64_t>(0, highest->units()));
        const auto link = link_bond(params, spec, work);
        const auto audits = full_audit_cost(params, spec, cap, work);
        const auto bond = slot_bond(params, spec, cap, work, Audited::kAtRate);
        RC_ASSERT((link && audits && bond));
        // Each slot of the round is a cheat that was found. Another draw finds all of them again, but for
        // those whose three verifiers are friends; what is burned for it is what audits at rate 1 leave of
        // the bond.
        const long double beta = static_cast<long double>(params.collusion_ppm) / 1e6L;
        const auto slot = static_cast<long double>(bond->units() + slot_pay(cap, work)->units() +
                                                   spec.security.gain_bound.units());
        const long double saved = beta * beta * beta * slot * spec.slots;
        const auto burned =
            static_cast<long double>(link->units()) - static_cast<long double>(audits->units());
        RC_ASSERT(burned * (1.0L + 1e-12L) >= saved);
    });
}

}  // namespace assay::contracts::test
