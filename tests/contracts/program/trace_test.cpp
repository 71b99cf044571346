// SPDX-License-Identifier: Apache-2.0
// The tree of a trace: one root for the whole, one leaf at a time for whoever asks.
#include "contracts/program/trace.hpp"

#include <set>

#include "contracts/base/merkle.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace_tree.hpp"
#include "tests/support/catch.hpp"

namespace assay::program {

namespace {

using enum TraceLeafKind;

/// Five steps in segments of two: three segments.
JobSpec small_spec(InnerState inner = InnerState::kReset) {
    JobSpec spec;
    spec.train.inner_steps = 5;
    spec.security.segment_steps = 2;
    spec.inner_state = inner;
    return spec;
}

Hash256 words(const std::string& text) { return base::hash("test/trace", base::as_bytes(text)); }

TraceRecord whole_trace(const JobSpec& spec) {
    TraceRecord trace;
    for (int i = 0; i < 4; ++i) trace.boundaries.push_back(words("boundary " + std::to_string(i)));
    for (std::uint32_t i = 0; i < 5; ++i) trace.fingerprints.push_back({100 + i, 200 + i});
    trace.update = words("update");
    if (spec.inner_state == InnerState::kCarried) trace.carried = {words("in"), words("out")};
    return trace;
}

std::vector<LeafName> names_of(const JobSpec& spec) {
    std::vector<LeafName> names;
    for (const TraceLeafKind kind :
         {kStart, kEnd, kFingerprint, kFinaliseInput, kFinaliseOutput, kDivergence}) {
        for (std::uint32_t place = 0; trace_leaf_index(spec, kind, place); ++place)
            names.push_back({kind, place});
    }
    return names;
}

}  // namespace

TEST_CASE("every leaf of a trace is opened alone, under one root, at its own place") {
    const JobSpec spec = small_spec();
    const TraceRecord trace = whole_trace(spec);
    const Hash256 salt = words("salt");
    const Hash256 root = trace_root(trace, spec, salt);
    const TraceTree tree(trace, spec, salt);
    CHECK(tree.root() == root);
    const auto names = names_of(spec);
    CHECK(names.size() == trace_leaf_count(spec));
    CHECK(trace_leaf_count(spec) == 2 * 3 + 5 + 3);
    std::set<std::uint32_t> indices;
    std::set<Hash256> salts;
    for (const LeafName& name : names) {
        const TraceOpening opening = open_leaf(trace, spec, salt, name.kind, name.place);
        CHECK(verify_leaf(root, spec, opening));
        CHECK(base::encode(tree.open(name.kind, name.place)) == base::encode(opening));
        const auto back = base::decode<TraceOpening>(base::encode(opening));
        REQUIRE(back.ok());
        CHECK(verify_leaf(root, spec, *back));
        indices.insert(static_cast<std::uint32_t>(opening.proof.index));
        salts.insert(opening.leaf.salt);
        TraceOpening other = opening;
        other.leaf.place ^= 1U;
        CHECK_FALSE(verify_leaf(root, spec, other));
        other = opening;
        other.leaf.content.push_back(0);
        CHECK_FALSE(verify_leaf(root, spec, other));
        other = opening;
        other.proof.leaf_count += 1;
        CHECK_FALSE(verify_leaf(root, spec, other));
        CHECK_FALSE(verify_leaf(words("other root"), spec, opening));
    }
    CHECK(indices.size() == names.size());
    CHECK(*indices.rbegin() == names.size() - 1);
    CHECK(salts.size() == names.size());
    CHECK_FALSE(salts.contains(salt));
}

TEST_CASE("the leaves hold the states between segments, twice where one ends and the next begins") {
    const JobSpec spec = small_spec();
    const TraceRecord trace = whole_trace(spec);
    const Hash256 salt = words("salt");
    const auto state = [&](TraceLeafKind kind, std::uint32_t place) {
        return opened_state(open_leaf(trace, spec, salt, kind, place));
    };
    for (std::uint32_t segment = 0; segment < 3; ++segment) {
        CHECK(state(kStart, segment) == trace.boundaries[segment]);
        CHECK(state(kEnd, segment) == trace.boundaries[segment + 1]);
    }
    CHECK(state(kFinaliseInput, 0) == trace.boundaries[3]);
    for (const TraceLeafKind kind : {kFingerprint, kFinaliseOutput, kDivergence})
        CHECK_FALSE(state(kind, 0).has_value());
    CHECK(start_leaf(spec, 1) == LeafName{kStart, 1});
    CHECK(start_leaf(spec, 3) == LeafName{kFinaliseInput, 0});
    // The same state under two salts: neither leaf tells the other.
    const auto end = open_leaf(trace, spec, salt, kEnd, 0).leaf;
    const auto start = open_leaf(trace, spec, salt, kStart, 1).leaf;
    CHECK(end.content == start.content);
    CHECK(end.salt != start.salt);
}

TEST_CASE("a trace that ended early has the same tree, with empty leaves where nothing was computed") {
    const JobSpec spec = small_spec(InnerState::kCarried);
    TraceRecord trace = whole_trace(spec);
    trace.fingerprints.resize(3);
    trace.divergence = Divergence{3, 7};
    trace.boundaries[3] = trace.boundaries[2];
    trace.update = {};
    trace.carried->out = {};
    REQUIRE(is_well_formed(trace, spec));
    const Hash256 salt = words("salt");
    const Hash256 root = trace_root(trace, spec, salt);
    for (const LeafName& name : names_of(spec))
        CHECK(verify_leaf(root, spec, open_leaf(trace, spec, salt, name.kind, name.place)));
    CHECK_FALSE(open_leaf(trace, spec, salt, kFingerprint, 2).leaf.content.empty());
    CHECK(open_leaf(trace, spec, salt, kFingerprint, 3).leaf.content.empty());
    CHECK(base::decode<Divergence>(open_leaf(trace, spec, salt, kDivergence, 0).leaf.content).value() ==
          Divergence{3, 7});
}

TEST_CASE("every part of a trace and its salt reach the root") {
    const JobSpec spec = small_spec(InnerState::kCarried);
    const TraceRecord trace = whole_trace(spec);
    std::set<Hash256> roots = {trace_root(trace, spec, words("salt"))};
    roots.insert(trace_root(trace, spec, words("other salt")));
    const auto change = [&](const auto& how) {
        TraceRecord other = trace;
        how(other);
        roots.insert(trace_root(other, spec, words("salt")));
    };
    for (std::size_t i = 0; i < 4; ++i) change([&](TraceRecord& t) { t.boundaries[i] = words("other"); });
    for (std::size_t i = 0; i < 5; ++i) change([&](TraceRecord& t) { t.fingerprints[i].norm ^= 1U; });
    change([](TraceRecord& t) { t.update = words("other"); });
    change([](TraceRecord& t) { t.carried->in = words("other"); });
    change([](TraceRecord& t) { t.carried->out = words("other"); });
    change([](TraceRecord& t) { t.divergence = Divergence{5, 0}; });
    CHECK(roots.size() == 2 + 4 + 5 + 4);
}

TEST_CASE("the root of a trace is the one that an independent implementation computed") {
    // tests/vectors/trace_root.py, hashlib.blake2b.
    const JobSpec spec = small_spec();
    TraceRecord trace;
    for (std::uint8_t i = 0; i < 4; ++i) trace.boundaries.emplace_back().bytes.fill(i);
    for (std::uint32_t i = 0; i < 5; ++i) trace.fingerprints.push_back({100 + i, 200 + i});
    trace.update.bytes.fill(9);
    Hash256 salt;
    salt.bytes.fill(7);
    CHECK(trace_leaf_salt(salt, 3).hex() ==
          "f2c7a308ba444d94652de3acd92f9de79d639e2a7a99e8e7004aa6173edc4920");
    CHECK(trace_root(trace, spec, salt).hex() ==
          "30e6cac6680dfc52846a324f548ea6bf25cff8fd9cb47c3046ce701fefaa9b24");
}

TEST_CASE("adjacent units are one run, and finalise follows the last segment") {
    using Units = std::vector<std::uint32_t>;
    using Runs = std::vector<UnitRun>;
    CHECK(runs_of(Units{}).empty());
    CHECK(runs_of(Units{0, 1, 2, 3}) == Runs{{0, 3}});
    CHECK(runs_of(Units{0, 2, 3, 5}) == Runs{{0, 0}, {2, 3}, {5, 5}});
    CHECK(runs_of(Units{0, 2})[0].from_base());
    CHECK_FALSE(runs_of(Units{0, 2})[1].from_base());
}

}  // namespace assay::program
