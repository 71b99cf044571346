// SPDX-License-Identifier: Apache-2.0
// What a job can make its miners, verifiers and its buyer keep, against numbers counted by hand.
#include "contracts/program/kept_bytes.hpp"

#include <limits>

#include "contracts/program/round_plan.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();
/// Two headers, and two bytes a token.
constexpr std::uint64_t kData = 2 * 1024 + 2 * (101 + 11);

JobSpec job(std::uint32_t rounds) {
    JobSpec spec = tiny::spec();
    spec.rounds = rounds;
    spec.security.audit_threshold = spec.security.finalise_threshold = kAlways;
    return spec;
}
}  // namespace

TEST_CASE("rounds are open at once as their least heights fit into a window, and never more than there are") {
    const JobSpec spec = job(10);
    CHECK(most_open_rounds(spec, 0) == 2);
    CHECK(most_open_rounds(spec, 5) == 2);
    CHECK(most_open_rounds(spec, 6) == 3);
    CHECK(most_open_rounds(spec, 47) == 9);
    CHECK(most_open_rounds(spec, 48) == 10);
    CHECK(most_open_rounds(spec, 300'000) == 10);
    CHECK(most_open_rounds(spec, kAlways) == 10);
    CHECK(most_open_rounds(job(1), 0) == 1);
}

TEST_CASE("what is kept is data, a base for each open round and the next, and what slots hand in") {
    const JobSpec spec = job(10);
    const FileSizes files = file_sizes(spec);
    const KeptBytes kept = most_kept(spec, 12);
    REQUIRE(kept.rounds == 4);
    CHECK(kept.buyer == kData + 5 * files.base_state);
    // Where all units are drawn, nothing is recomputed from a served start.
    CHECK(kept.verifier == kData + 5 * files.base_state + 4 * 3 * files.update);
    // Three segments of a slot in training, and the updates of the round before.
    CHECK(kept.miner_slot ==
          kData + 5 * files.base_state + 4 * files.update + 3 * 3 * files.slot_state + 3 * files.update);
    CHECK(kept.miner ==
          kData + 5 * files.base_state + 12 * files.update + 3 * 3 * files.slot_state + 3 * files.update);
    CHECK(most_kept_by_miner(spec, 12, 1) ==
          kData + 3 * files.base_state + files.update + 3 * files.slot_state + 3 * files.update);
    CHECK(most_kept_by_miner(spec, 12, kAlways) == kept.miner);
}

TEST_CASE("served starts are kept by their mean, and what a slot hands on by all who may go on with it") {
    JobSpec spec = job(10);
    const FileSizes files = file_sizes(spec);
    const std::uint64_t before = most_kept(spec, 12).verifier;
    spec.security.audit_threshold = std::uint64_t{1} << 63;
    spec.security.finalise_threshold = std::uint64_t{1} << 63;
    const RoundPlan plan(spec);
    // A half each: two segments that do not begin at the base, and `finalise`, where the unit before is not.
    std::uint64_t starts = 0;
    for (const std::uint32_t unit : {1U, 2U, plan.finalise()})
        starts += (files.state_of(plan.start(unit).arrays.size()) + 3) / 4;
    CHECK(most_kept(spec, 12).verifier == before + 4 * 3 * starts);

    JobSpec carrying = job(10);
    carrying.inner_state = InnerState::kCarried;
    const FileSizes sizes = file_sizes(carrying);
    const std::uint64_t handed_on = sizes.state_of(2);
    CHECK(most_kept(carrying, 12).verifier ==
          kData + 5 * sizes.base_state + 4 * 3 * (sizes.update + handed_on) + 3 * handed_on);
}

TEST_CASE("counts of what is kept stop at their largest value") {
    JobSpec spec = job(std::numeric_limits<std::uint32_t>::max());
    spec.model.layers = 4096;
    spec.model.width = 1U << 20U;
    spec.slots = 1U << 20U;
    CHECK(most_kept(spec, kAlways).verifier == kAlways);
    CHECK(most_kept_by_miner(spec, kAlways, kAlways) == kAlways);
}
