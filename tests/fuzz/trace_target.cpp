// SPDX-License-Identifier: Apache-2.0
// Opened leaves of traces, which come from miners: any bytes decode to an opening that encodes to the same
// bytes, and none but those of the trace itself stand under its root.
#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

program::JobSpec spec() {
    program::JobSpec spec;
    spec.train.inner_steps = 5;
    spec.security.segment_steps = 2;
    return spec;
}

base::Hash256 named(const char* what, std::uint32_t number) {
    base::Encoder encoder;
    encoder(std::string(what), number);
    return base::hash("fuzz/trace", std::move(encoder).take());
}

program::TraceRecord trace() {
    program::TraceRecord trace;
    for (std::uint32_t i = 0; i <= program::RoundPlan(spec()).segments(); ++i)
        trace.boundaries.push_back(named("boundary", i));
    for (std::uint32_t i = 0; i < spec().train.inner_steps; ++i) trace.fingerprints.push_back({i, i + 1});
    trace.update = named("update", 0);
    return trace;
}

const base::Hash256 kSalt = base::hash("fuzz/salt", {});

std::vector<program::TraceOpening> openings() {
    using enum program::TraceLeafKind;
    std::vector<program::TraceOpening> all;
    for (const auto kind : {kStart, kEnd, kFingerprint, kFinaliseInput, kFinaliseOutput, kDivergence}) {
        for (std::uint32_t place = 0; program::trace_leaf_index(spec(), kind, place); ++place)
            all.push_back(program::open_leaf(trace(), spec(), kSalt, kind, place));
    }
    return all;
}

}  // namespace

std::vector<base::Bytes> seeds() {
    std::vector<base::Bytes> out;
    for (const program::TraceOpening& opening : openings()) out.push_back(base::encode(opening));
    return out;
}

void run(base::ByteView input) {
    static const base::Hash256 root = program::trace_root(trace(), spec(), kSalt);
    static const std::vector<base::Bytes> right = seeds();
    const auto opening = base::decode<program::TraceOpening>(input);
    if (!opening.ok()) return;
    const base::Bytes again = base::encode(*opening);
    ASSAY_CHECK(std::equal(again.begin(), again.end(), input.begin(), input.end()));
    const bool stands = program::verify_leaf(root, spec(), *opening);
    ASSAY_CHECK(stands == (std::find(right.begin(), right.end(), again) != right.end()));
    (void)program::opened_state(*opening);
}

}  // namespace assay::fuzz
