// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>

#include "contracts/base/merkle.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/trace.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;
using assay::base::Hash256;

Hash256 named(std::string_view text) { return assay::base::hash("test/name", assay::base::as_bytes(text)); }

TraceRecord trace_of(const JobSpec& spec) {
    TraceRecord trace;
    for (std::uint32_t i = 0; i <= RoundPlan(spec).segments(); ++i)
        trace.boundaries.push_back(named(std::to_string(i)));
    for (std::uint32_t i = 0; i < spec.train.inner_steps; ++i)
        trace.fingerprints.push_back({100 + i, 200 + i});
    trace.update = named("update");
    return trace;
}

// Step `step` diverged in it: fewer fingerprints, repeated boundaries, no update.
TraceRecord diverged_at(const JobSpec& spec, std::uint32_t step) {
    TraceRecord trace = trace_of(spec);
    trace.divergence = Divergence{step, 7};
    trace.fingerprints.resize(step);
    trace.update = {};
    // The first whole segment that the work did not reach, or that it ended in before any step.
    const std::uint32_t segment_steps = spec.security.segment_steps;
    for (std::uint32_t i = (step + segment_steps - 1) / segment_steps; i < RoundPlan(spec).segments(); ++i) {
        trace.boundaries[i + 1] = trace.boundaries[i];
    }
    return trace;
}
}  // namespace

TEST_CASE("roots equal those that an independent implementation computed") {
    // tests/vectors/state_roots.py, hashlib.blake2b.
    std::vector<float> values(17 * 18);
    std::vector<std::int64_t> update(17 * 18);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i) * 0.25F - 3.0F;
        update[i] = static_cast<std::int64_t>(i) * 1'000'000'007 - 5;
    }
    CHECK(tensor_root(17, 18, values).hex() ==
          "79583e28cf018684398e07f81b3671ee07c03ef1830d7ddd55606ddb680f17bd");
    CHECK(tensor_root(17, 18, update).hex() ==
          "4a107ef8efb60f4dddbb89b5abb3d95386efaae1e5ebabc5689fbc9c0fd4a936");
    const std::vector<TensorInfo> tensors = {
        {.name = "a", .rows = 16, .cols = 16, .offset = 0, .is_vector = false},
        {.name = "b", .rows = 1, .cols = 50, .offset = 256, .is_vector = true}};
    CHECK(array_root(tensors, values).hex() ==
          "a0d1c3c7bbff0ad939df1006bb5755e084bb5b59f93e8f6bd381e4ed8e1a5bba");
    CHECK(base_state_root(tensors, values, values, 10).hex() ==
          "91ae899b6d2380f72a670061c616a8a25bab1447fd902000c73ec8b7944a51c2");
    StateRoots aged;
    aged.parameters = aged.first_moment = aged.second_moment = aged.outer = array_root(tensors, values);
    aged.step_count = 10;
    aged.moment_age = 7;
    CHECK(state_root(aged).hex() == "51bcc41fabd3f69ae40c80184aeecc14a2d8df46aa29a6355c1c7399c3b0e2b9");
}

TEST_CASE("each component of a state opens with three siblings, with an age or without") {
    StateRoots roots;
    roots.first_moment = named("first");
    roots.step_count = 5;
    for (const std::optional<std::uint64_t> age : {std::optional<std::uint64_t>(), std::optional(9UL)}) {
        roots.moment_age = age;
        const auto leaves = component_leaves(roots);
        const std::vector<Hash256> all(leaves.begin(), leaves.end());
        for (std::size_t place = 0; place < kStateComponents; ++place) {
            const auto proof = assay::base::merkle_prove(all, place);
            CHECK(proof.siblings.size() == 3);
            CHECK(assay::base::merkle_verify(state_root(roots), all[place], proof));
        }
    }
    // Where moments restart each round their age is the step count.
    StateRoots told = roots;
    told.moment_age = roots.step_count;
    roots.moment_age.reset();
    CHECK(state_root(told) == state_root(roots));
}

TEST_CASE("one ulp anywhere and a zero's sign change the root") {
    std::vector<float> values(40 * 20, 0.0F);
    const Hash256 root = tensor_root(40, 20, values);
    for (std::size_t i = 0; i < values.size(); i += 7) {
        std::vector<float> other = values;
        other[i] = 1e-45F;
        CHECK(tensor_root(40, 20, other) != root);
        other[i] = -0.0F;
        CHECK(tensor_root(40, 20, other) != root);
    }
}

TEST_CASE("every component of a state reaches its root") {
    const StateRoots none;
    std::vector<Hash256> roots{state_root(none)};
    StateRoots one = none;
    one.parameters = named("x");
    roots.push_back(state_root(one));
    one = none, one.first_moment = named("x"), roots.push_back(state_root(one));
    one = none, one.second_moment = named("x"), roots.push_back(state_root(one));
    one = none, one.moment_age = 1, roots.push_back(state_root(one));
    one = none, one.step_count = 1, roots.push_back(state_root(one));
    one = none, one.residual = named("x"), roots.push_back(state_root(one));
    one = none, one.outer = named("x"), roots.push_back(state_root(one));
    one = none, one.data_cursor = 1, roots.push_back(state_root(one));
    one = none, one.generator_counter = 1, roots.push_back(state_root(one));
    for (std::size_t i = 0; i < roots.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) CHECK(roots[i] != roots[j]);
    }
}

TEST_CASE("hashing a million parameters takes milliseconds") {
    const std::vector<float> values(1024 * 1024, 0.5F);
    const auto begin = std::chrono::steady_clock::now();
    const Hash256 root = tensor_root(1024, 1024, values);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("root of 2^20 binary32: %.1f ms\n", took.count());
    CHECK_FALSE(root.is_zero());
    CHECK(took.count() < 500.0);  // generous: sanitizers and busy machines
}

TEST_CASE("segments cover the steps once, the last may be shorter") {
    const JobSpec spec = tiny::spec();  // 5 steps in segments of 2
    REQUIRE(RoundPlan(spec).segments() == 3);
    CHECK(RoundPlan(spec).steps(0).first == 0);
    CHECK(RoundPlan(spec).steps(0).last == 2);
    CHECK(RoundPlan(spec).steps(2).first == 4);
    CHECK(RoundPlan(spec).steps(2).last == 5);
}

TEST_CASE("a trace survives its encoding and its unit roots follow from the parts") {
    const JobSpec spec = tiny::spec();
    const TraceRecord trace = trace_of(spec);
    CHECK(is_well_formed(trace, spec));
    const auto back = assay::base::decode<TraceRecord>(assay::base::encode(trace));
    REQUIRE(back.ok());
    CHECK(*back == trace);
    CHECK(unit_root(trace, spec, 1) ==
          segment_unit_root(trace.boundaries[2], {{102, 202}, {103, 203}}, std::nullopt));
    CHECK(unit_root(trace, spec, 2) == segment_unit_root(trace.boundaries[3], {{104, 204}}, std::nullopt));
    CHECK(unit_root(trace, spec, 3) == finalise_unit_root(trace.update));
    TraceRecord other = trace;
    other.fingerprints[3].loss ^= 1U;
    CHECK(trace_root(other, spec, named("salt")) != trace_root(trace, spec, named("salt")));
    CHECK(unit_root(other, spec, 1) != unit_root(trace, spec, 1));
    CHECK(unit_root(other, spec, 0) == unit_root(trace, spec, 0));
}

TEST_CASE("a diverged trace repeats its state and has the divergence in one unit only") {
    const JobSpec spec = tiny::spec();
    for (std::uint32_t step = 0; step <= spec.train.inner_steps; ++step) {
        const TraceRecord trace = diverged_at(spec, step);
        INFO(step);
        CHECK(is_well_formed(trace, spec));
    }
    const TraceRecord trace = diverged_at(spec, 3);
    CHECK(unit_root(trace, spec, 0) ==
          segment_unit_root(trace.boundaries[1], {{100, 200}, {101, 201}}, std::nullopt));
    CHECK(unit_root(trace, spec, 1) ==
          segment_unit_root(trace.boundaries[2], {{102, 202}}, Divergence{3, 7}));
    CHECK(unit_root(trace, spec, 2) == segment_unit_root(trace.boundaries[2], {}, std::nullopt));
    CHECK(unit_root(trace, spec, 3) == finalise_unit_root({}));
}

TEST_CASE("malformed traces are recognised") {
    const JobSpec spec = tiny::spec();
    TraceRecord trace = trace_of(spec);
    trace.boundaries.pop_back();
    CHECK_FALSE(is_well_formed(trace, spec));
    trace = trace_of(spec);
    trace.fingerprints.pop_back();
    CHECK_FALSE(is_well_formed(trace, spec));
    trace = trace_of(spec);
    trace.update = {};
    CHECK_FALSE(is_well_formed(trace, spec));
    trace = diverged_at(spec, 1);
    trace.boundaries[3] = named("moved on");
    CHECK_FALSE(is_well_formed(trace, spec));
    // No step of segment 1 was made, so that it ends where it began.
    trace = diverged_at(spec, 2);
    trace.boundaries[2] = trace.boundaries[3] = named("moved on");
    CHECK_FALSE(is_well_formed(trace, spec));
    trace = diverged_at(spec, 1);
    trace.update = named("update");
    CHECK_FALSE(is_well_formed(trace, spec));
    trace = diverged_at(spec, 3);
    trace.divergence->step = 6;
    CHECK_FALSE(is_well_formed(trace, spec));
}
