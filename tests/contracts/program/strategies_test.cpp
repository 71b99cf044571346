// SPDX-License-Identifier: Apache-2.0
// The table of strategies: every row is whole, its codec is exact there and back, and bytes of no codec are
// refused.
#include <algorithm>
#include <cmath>
#include <set>

#include "contracts/arithmetic/update.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/spec_check.hpp"
#include "contracts/program/strategies/codecs.hpp"
#include "contracts/program/tensors.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace assay::program {
namespace {

const RoundSettings kSettings{.sum_exponent = -40, .outer_learning_rate = 0.7F, .outer_momentum = 0.9F};

/// Numbers of many sizes, some equal, some zero.
std::vector<float> numbers(std::uint32_t seed, float scale) {
    std::vector<float> all(300);
    for (float& one : all) {
        seed = seed * 1664525U + 1013904223U;
        one = scale * (static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31F);
    }
    all[3] = 0;
    return all;
}

}  // namespace

TEST_CASE("every strategy can be found by its number and by its words, and nothing else can", "[program]") {
    std::set<Strategy> seen;
    for (const StrategyRow* row : strategies()) {
        CHECK(seen.insert(row->number).second);
        CHECK(find_strategy(row->engine, row->number) == row);
        CHECK(find_strategy(row->engine_word, row->word, row->codec->word) == row);
        CHECK(row->codec->magic.size() == 8);
    }
    CHECK(find_strategy(Engine{9}, kStandardStrategy) == nullptr);
    CHECK(find_strategy(kStandardEngine, Strategy{0}) == nullptr);
    CHECK(find_strategy("local", "diloco", "top-k") == nullptr);
}

TEST_CASE("a job with an engine or strategy that nobody knows can be read, and is refused by name",
          "[program]") {
    JobSpec spec = tiny::spec();
    spec.strategy = Strategy{200};
    const auto read = base::decode<JobSpec>(base::encode(spec));
    REQUIRE(read.ok());
    REQUIRE(check_spec(*read).error() == SpecError::kStrategyUnknown);
    CHECK(found_text(SpecError::kStrategyUnknown, spec) == "job.strategy (engine 1, strategy 200)");
    CHECK(to_text(SpecError::kStrategyUnknown).find("local diloco with codec fp16") != std::string::npos);
    spec.strategy = kStandardStrategy;
    spec.engine = Engine{7};
    CHECK(check_spec(spec).error() == SpecError::kStrategyUnknown);
}

TEST_CASE("terms of the market are written behind a job's other fields, in one spelling", "[program]") {
    JobSpec spec = tiny::spec();
    const base::Bytes standard = base::encode(spec);
    spec.market.terms = {.gang = 1, .most = 2, .least_speed = 3, .least_memory = 5, .least_network = 7};
    base::Bytes other = base::encode(spec);
    REQUIRE(other.size() == standard.size() + 4 + 4 + 3);
    const auto read = base::decode<JobSpec>(other);
    REQUIRE(read.ok());
    CHECK(*read == spec);
    std::size_t different = 0;
    for (std::size_t i = 0; i < standard.size(); ++i) {
        if (standard[i] != other[i]) ++different;
    }
    CHECK(different == 1);
    std::fill(other.end() - 11, other.end(), std::uint8_t{0});
    CHECK(base::decode<JobSpec>(other).error() == base::DecodeError::kBadEnum);
    other.resize(other.size() - 11);
    CHECK(base::decode<JobSpec>(other).error() == base::DecodeError::kTruncated);
    // Behind a rate and a bound, where those are there too.
    spec.security.finalise_threshold = 5;
    spec.train.max_update_norm = 1.0F;
    const auto all = base::decode<JobSpec>(base::encode(spec));
    REQUIRE(all.ok());
    CHECK(*all == spec);
}

TEST_CASE("a rate of finalise other than 1 is written behind a job's other fields, in one spelling",
          "[program]") {
    JobSpec spec = tiny::spec();
    const base::Bytes standard = base::encode(spec);
    spec.security.finalise_threshold = 5;
    base::Bytes other = base::encode(spec);
    REQUIRE(other.size() == standard.size() + 8);
    const auto read = base::decode<JobSpec>(other);
    REQUIRE(read.ok());
    CHECK(*read == spec);
    // All other bytes but the announcement stay.
    std::size_t different = 0;
    for (std::size_t i = 0; i < standard.size(); ++i) {
        if (standard[i] != other[i]) ++different;
    }
    CHECK(different == 1);
    std::fill(other.end() - 8, other.end(), static_cast<std::uint8_t>(0xff));
    CHECK(base::decode<JobSpec>(other).error() == base::DecodeError::kBadEnum);
    other.resize(other.size() - 8);
    CHECK(base::decode<JobSpec>(other).error() == base::DecodeError::kTruncated);
    for (std::size_t i = 0; i < standard.size(); ++i) {
        if (standard[i] == base::encode(spec)[i]) continue;
        base::Bytes unknown = standard;
        unknown[i] = 2;
        CHECK(base::decode<JobSpec>(unknown).error() == base::DecodeError::kBadEnum);
    }
}

TEST_CASE("what a codec packs it reads again, and a root covers the same numbers", "[program]") {
    const std::vector<float> start = numbers(1, 1.0F);
    const std::vector<float> end = numbers(2, 1.0F);
    for (const StrategyRow* row : strategies()) {
        INFO(row->codec->word);
        const UpdateCodec& codec = *row->codec;
        std::vector<std::int64_t> update(start.size()), back(start.size());
        REQUIRE(codec.finalise(kSettings, start, end, update));
        base::Bytes packed(codec.most_bytes(update.size()));
        // Neither of today's codecs has a length that depends on the numbers.
        REQUIRE(codec.pack(kSettings, update, packed) == packed.size());
        REQUIRE_FALSE(codec.decode(kSettings, packed, back));
        CHECK(back == update);
        CHECK(row->most_update_bytes(update.size()) == 8 + packed.size());
        for (std::size_t i = 0; i < update.size(); ++i) {
            const double exact = static_cast<double>(start[i]) - static_cast<double>(end[i]);
            const double found = std::ldexp(static_cast<double>(update[i]), kSettings.sum_exponent);
            REQUIRE(std::abs(found - exact) <= std::abs(exact) * 0x1p-10 + 0x1p-25);
        }
        // Any bytes at all have an answer, and what is read is written as the same bytes.
        const auto any_bytes = rc::gen::resize(
            rc::kNominalSize,
            rc::gen::container<base::Bytes>(packed.size(), rc::gen::arbitrary<std::uint8_t>()));
        tests::check_property(64, [&] {
            const base::Bytes bytes = *any_bytes;
            base::Bytes again(bytes.size());
            if (const auto fault = codec.decode(kSettings, bytes, back)) {
                RC_ASSERT(*fault == PackedFault::kNumber);
                return;
            }
            RC_ASSERT(codec.pack(kSettings, back, again) == bytes.size());
            RC_ASSERT(again == bytes);
        });
        // A part of the packed form is that part of the numbers.
        const std::uint64_t width = packed_width(codec);
        REQUIRE(width * update.size() == packed.size());
        for (const std::size_t first : {0U, 1U, 97U}) {
            std::vector<std::int64_t> part(update.size() - first - 1);
            REQUIRE_FALSE(
                codec.decode(kSettings, std::span(packed).subspan(first * width, part.size() * width), part));
            CHECK(std::equal(part.begin(), part.end(), update.begin() + static_cast<std::ptrdiff_t>(first)));
        }
        packed.pop_back();
        CHECK(codec.decode(kSettings, packed, back) == PackedFault::kLength);
    }
}

TEST_CASE("a row names arrays that states have, and exchanges as often as a round's units say", "[program]") {
    using enum StateArray;
    const auto within = [](std::span<const StateArray> some, const std::set<StateArray>& all) {
        return std::set<StateArray>(some.begin(), some.end()).size() == some.size() &&
               std::all_of(some.begin(), some.end(), [&](StateArray one) { return all.contains(one); });
    };
    for (const StrategyRow* row : strategies()) {
        INFO(row->word << " " << row->codec->word);
        // What machines hold of a state (trainer/run/state.hpp).
        CHECK(within(row->base_arrays, {kParameters, kOuterMomentum}));
        CHECK(within(row->lane_arrays, {kParameters, kFirstMoment, kSecondMoment}));
        const std::set<StateArray> lane(row->lane_arrays.begin(), row->lane_arrays.end());
        CHECK(within(row->carried_arrays, lane));
        CHECK(within(row->finalise_arrays, lane));
        CHECK_FALSE(row->finalise_arrays.empty());
        CHECK(row->outer != nullptr);
        CHECK_FALSE(row->outer->word.empty());
        // RoundPlan has one unit `finalise` in a round.
        CHECK(row->tick.ticks == 1);
    }
}

TEST_CASE("a merge does not depend on the order of its contributions", "[program]") {
    for (const StrategyRow* row : strategies()) {
        INFO(row->word << " " << row->codec->word);
        std::vector<std::vector<std::int64_t>> updates(3, std::vector<std::int64_t>(300));
        for (std::uint32_t i = 0; i < 3; ++i) {
            REQUIRE(row->codec->finalise(kSettings, numbers(i, 1.0F), numbers(i + 9, 1.0F), updates[i]));
        }
        const std::vector<Contribution> forth = {{updates[0], 1}, {updates[1], 5}, {updates[2], 2}};
        const std::vector<Contribution> back = {forth[2], forth[0], forth[1]};
        std::vector<float> one = numbers(7, 1.0F), two = one;
        std::vector<float> momentum = numbers(8, 0.1F), other = momentum;
        row->outer->merge(kSettings, forth, one, momentum);
        row->outer->merge(kSettings, back, two, other);
        CHECK(one == two);
        CHECK(momentum == other);
        CHECK(one != numbers(7, 1.0F));
    }
}

TEST_CASE("a slot adopts the base state, with what it carries or with zeros", "[program]") {
    const std::vector<float> base = numbers(1, 1.0F), first = numbers(2, 1.0F), second = numbers(3, 1.0F);
    for (const StrategyRow* row : strategies()) {
        std::vector<float> w(300, 9.0F), m(300, 9.0F), v(300, 9.0F);
        row->adopt(base, {}, {w, m, v});
        CHECK(w == base);
        CHECK(m == std::vector<float>(300));
        CHECK(v == std::vector<float>(300));
        row->adopt(base, {first, second}, {w, m, v});
        CHECK(w == base);
        CHECK(m == first);
        CHECK(v == second);
    }
}

TEST_CASE("a round plan numbers segments, boundaries and finalise", "[program]") {
    JobSpec spec = tiny::spec();
    spec.train.inner_steps = 5;
    spec.security.segment_steps = 2;
    const RoundPlan plan(spec);
    CHECK(plan.segments() == 3);
    CHECK(plan.units() == 4);
    CHECK(plan.finalise() == 3);
    CHECK(plan.step_at(3) == 5);
    CHECK(plan.steps(2).first == 4);
    CHECK(plan.steps(2).last == 5);
    CHECK(plan.steps(3).first == plan.steps(3).last);
    CHECK(plan.unit_of(3) == 1);
    CHECK(plan.unit_of(5) == 3);
    const UnitStart first = plan.start(0), middle = plan.start(1), last = plan.start(3);
    CHECK((first.base && !first.carried && !first.boundary));
    CHECK((!middle.base && middle.boundary == 1U));
    CHECK((last.base && last.boundary == 3U));
    const StrategyRow& row = strategy_of(spec);
    CHECK(first.arrays.empty());
    CHECK(middle.arrays.data() == row.lane_arrays.data());
    CHECK(last.arrays.data() == row.finalise_arrays.data());
    CHECK(plan.work(0, 10) == 4);
    CHECK(plan.work(2, 11) == 3);
    CHECK(plan.work(3, 10) == 1);
    CHECK(plan.work(99, 10) == 1);
    spec.inner_state = InnerState::kCarried;
    CHECK(RoundPlan(spec).start(0).carried);
    CHECK_FALSE(RoundPlan(spec).start(1).carried);
    CHECK(RoundPlan(spec).start(0).arrays.data() == row.carried_arrays.data());
    // What a slot hands on is there whole, for whoever goes on from it.
    CHECK(RoundPlan(spec).start(3).arrays.data() == row.lane_arrays.data());
}

TEST_CASE("file sizes follow from the arrays and the codec of the row", "[program]") {
    JobSpec spec = tiny::spec();
    const std::uint64_t count = parameter_count(spec.model);
    CHECK(file_sizes(spec).base_state == 16 + 8 * count);
    const std::uint64_t head = 8 + 8 + 8 + 1 + 4 + 3 * 65;
    CHECK(file_sizes(spec).slot_head == head);
    CHECK(file_sizes(spec).array == 4 * count);
    CHECK(file_sizes(spec).slot_state == head + 12 * count);
    CHECK(file_sizes(spec).state_of(1) == head + 4 * count);
    CHECK(file_sizes(spec).update == 8 + 8 * count);
    spec.strategy = Strategy::kDilocoHalf;
    CHECK(file_sizes(spec).update == 8 + 2 * count);
    spec.inner_state = InnerState::kCarried;
    CHECK(file_sizes(spec).slot_head == head + 8);
    CHECK(file_sizes(spec).slot_state == head + 8 + 12 * count);
}

}  // namespace assay::program
