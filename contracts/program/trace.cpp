// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/trace.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace_tree.hpp"

namespace assay::program {

namespace {

/// Leaves behind the segments and the steps.
constexpr std::uint32_t kLastLeaves = 3;

base::Bytes content_of(const TraceRecord& trace, const RoundPlan& plan, TraceLeafKind kind,
                       std::uint32_t place) {
    switch (kind) {
        case TraceLeafKind::kStart: return base::encode(trace.boundaries[place]);
        case TraceLeafKind::kEnd: return base::encode(trace.boundaries[place + 1]);
        case TraceLeafKind::kFingerprint:
            return place < trace.fingerprints.size() ? base::encode(trace.fingerprints[place])
                                                     : base::Bytes{};
        case TraceLeafKind::kFinaliseInput: return base::encode(trace.boundaries[plan.last_boundary()]);
        case TraceLeafKind::kFinaliseOutput: {
            base::Encoder encoder;
            encoder(trace.update, trace.carried);
            return std::move(encoder).take();
        }
        case TraceLeafKind::kDivergence:
            return trace.divergence ? base::encode(*trace.divergence) : base::Bytes{};
    }
    ASSAY_CHECK(false);
}

/// The name of each leaf, in order.
std::vector<LeafName> leaf_names(const JobSpec& spec) {
    std::vector<LeafName> names;
    for (std::uint32_t segment = 0; segment < RoundPlan(spec).segments(); ++segment) {
        names.push_back({TraceLeafKind::kStart, segment});
        names.push_back({TraceLeafKind::kEnd, segment});
    }
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        names.push_back({TraceLeafKind::kFingerprint, step});
    }
    names.push_back({TraceLeafKind::kFinaliseInput, 0});
    names.push_back({TraceLeafKind::kFinaliseOutput, 0});
    names.push_back({TraceLeafKind::kDivergence, 0});
    return names;
}

TraceLeaf make_leaf(const TraceRecord& trace, const RoundPlan& plan, const Hash256& slot_salt,
                    const LeafName& name, std::uint32_t index) {
    return {name.kind, name.place, content_of(trace, plan, name.kind, name.place),
            trace_leaf_salt(slot_salt, index)};
}

Hash256 hash_of_leaf(const TraceLeaf& leaf) { return base::merkle_leaf(base::encode(leaf)); }

std::vector<Hash256> leaf_hashes(const TraceRecord& trace, const JobSpec& spec, const Hash256& slot_salt) {
    const RoundPlan plan(spec);
    std::vector<Hash256> hashes;
    for (const LeafName& name : leaf_names(spec)) {
        const auto index = static_cast<std::uint32_t>(hashes.size());
        hashes.push_back(hash_of_leaf(make_leaf(trace, plan, slot_salt, name, index)));
    }
    return hashes;
}

}  // namespace

Hash256 trace_leaf_salt(const Hash256& slot_salt, std::uint32_t index) {
    base::Encoder encoder;
    encoder(slot_salt, index);
    return base::hash("assay/trace/salt", std::move(encoder).take());
}

std::uint32_t trace_leaf_count(const JobSpec& spec) {
    return 2 * RoundPlan(spec).segments() + spec.train.inner_steps + kLastLeaves;
}

std::optional<std::uint32_t> trace_leaf_index(const JobSpec& spec, TraceLeafKind kind, std::uint32_t place) {
    const std::uint32_t segments = RoundPlan(spec).segments();
    const std::uint32_t steps = spec.train.inner_steps;
    const auto within = [&](std::uint32_t count, std::uint32_t index) {
        return place < count ? std::optional(index) : std::nullopt;
    };
    switch (kind) {
        case TraceLeafKind::kStart: return within(segments, 2 * place);
        case TraceLeafKind::kEnd: return within(segments, 2 * place + 1);
        case TraceLeafKind::kFingerprint: return within(steps, 2 * segments + place);
        case TraceLeafKind::kFinaliseInput: return within(1, 2 * segments + steps);
        case TraceLeafKind::kFinaliseOutput: return within(1, 2 * segments + steps + 1);
        case TraceLeafKind::kDivergence: return within(1, 2 * segments + steps + 2);
    }
    return std::nullopt;
}

Hash256 trace_root(const TraceRecord& trace, const JobSpec& spec, const Hash256& slot_salt) {
    return base::merkle_root(leaf_hashes(trace, spec, slot_salt));
}

TraceOpening open_leaf(const TraceRecord& trace, const JobSpec& spec, const Hash256& slot_salt,
                       TraceLeafKind kind, std::uint32_t place) {
    const auto index = trace_leaf_index(spec, kind, place);
    ASSAY_CHECK(index.has_value());
    return {make_leaf(trace, RoundPlan(spec), slot_salt, {kind, place}, *index),
            base::merkle_prove(leaf_hashes(trace, spec, slot_salt), *index)};
}

TraceTree::TraceTree(TraceRecord trace, const JobSpec& spec, const Hash256& slot_salt)
    : trace_(std::move(trace)), spec_(spec), salt_(slot_salt) {
    levels_.push_back(leaf_hashes(trace_, spec, slot_salt));
    while (levels_.back().size() > 1) {
        const std::vector<Hash256>& below = levels_.back();
        std::vector<Hash256> level;
        for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
            level.push_back(base::merkle_node(below[i], below[i + 1]));
        }
        if (below.size() % 2 != 0) level.push_back(below.back());
        levels_.push_back(std::move(level));
    }
}

TraceOpening TraceTree::open(TraceLeafKind kind, std::uint32_t place) const {
    const auto index = trace_leaf_index(spec_, kind, place);
    ASSAY_CHECK(index.has_value());
    base::InclusionProof proof{.index = *index, .leaf_count = levels_.front().size(), .siblings = {}};
    std::size_t at = *index;
    for (const std::vector<Hash256>& level : levels_) {
        if ((at ^ 1U) < level.size()) proof.siblings.push_back(level[at ^ 1U]);
        at /= 2;
    }
    return {make_leaf(trace_, RoundPlan(spec_), salt_, {kind, place}, *index), std::move(proof)};
}

bool verify_leaf(const Hash256& root, const JobSpec& spec, const TraceOpening& opening) {
    const auto index = trace_leaf_index(spec, opening.leaf.kind, opening.leaf.place);
    if (!index || opening.proof.index != *index) return false;
    if (opening.proof.leaf_count != trace_leaf_count(spec)) return false;
    return base::merkle_verify(root, hash_of_leaf(opening.leaf), opening.proof);
}

LeafName start_leaf(const JobSpec& spec, std::uint32_t unit) {
    const RoundPlan plan(spec);
    ASSAY_CHECK(unit > 0 && unit < plan.units());
    if (plan.is_finalise(unit)) return {TraceLeafKind::kFinaliseInput, 0};
    return {TraceLeafKind::kStart, unit};
}

std::optional<Hash256> opened_state(const TraceOpening& opening) {
    const TraceLeafKind kind = opening.leaf.kind;
    if (kind != TraceLeafKind::kStart && kind != TraceLeafKind::kEnd &&
        kind != TraceLeafKind::kFinaliseInput) {
        return std::nullopt;
    }
    const auto root = base::decode<Hash256>(opening.leaf.content);
    return root ? std::optional(*root) : std::nullopt;
}

bool is_well_formed(const TraceRecord& trace, const JobSpec& spec) {
    const RoundPlan plan(spec);
    const std::uint32_t last = plan.last_boundary();
    if (trace.boundaries.size() != std::size_t{last} + 1) return false;
    const std::uint32_t steps = spec.train.inner_steps;
    if (trace.divergence.has_value() != trace.update.is_zero()) return false;
    if (trace.carried.has_value() != carries_state(spec)) return false;
    if (trace.carried && trace.carried->out.is_zero() != trace.divergence.has_value()) return false;
    if (!trace.divergence) return trace.fingerprints.size() == steps;
    const std::uint32_t step = trace.divergence->step;
    if (step > steps || trace.fingerprints.size() != step) return false;
    // The state stays as it was before the diverged step: boundaries after it repeat one another, and the one
    // at which it begins, where it is the first step of its segment.
    const std::uint32_t unit = plan.unit_of(step);
    const bool ends_at_its_start = !plan.is_finalise(unit) && plan.steps(unit).first == step;
    for (std::uint32_t i = ends_at_its_start ? unit : unit + 1; i < last; ++i) {
        if (trace.boundaries[i + 1] != trace.boundaries[i]) return false;
    }
    return true;
}

Hash256 segment_unit_root(const Hash256& end_boundary, const std::vector<Fingerprint>& fingerprints,
                          const std::optional<Divergence>& divergence) {
    base::Encoder encoder;
    encoder(end_boundary, fingerprints, divergence);
    return base::hash("assay/unit", std::move(encoder).take());
}

Hash256 finalise_unit_root(const Hash256& update) { return base::hash("assay/unit/finalise", update.view()); }

Hash256 finalise_unit_root(const Hash256& update, const Hash256& carried_out) {
    base::Encoder encoder;
    encoder(update, carried_out);
    return base::hash("assay/unit/finalise/carried", std::move(encoder).take());
}

Hash256 unit_root(const TraceRecord& trace, const JobSpec& spec, std::uint32_t unit) {
    const RoundPlan plan(spec);
    ASSAY_CHECK(unit < plan.units());
    if (plan.is_finalise(unit)) {
        return trace.carried ? finalise_unit_root(trace.update, trace.carried->out)
                             : finalise_unit_root(trace.update);
    }
    const StepRange range = plan.steps(unit);
    const auto completed = static_cast<std::uint32_t>(trace.fingerprints.size());
    const std::uint32_t first = std::min(range.first, completed);
    const std::uint32_t last = std::min(range.last, completed);
    const std::vector<Fingerprint> fingerprints(trace.fingerprints.begin() + first,
                                                trace.fingerprints.begin() + last);
    std::optional<Divergence> divergence;
    if (trace.divergence && trace.divergence->step >= range.first && trace.divergence->step < range.last) {
        divergence = trace.divergence;
    }
    return segment_unit_root(trace.boundaries[unit + 1], fingerprints, divergence);
}

}  // namespace assay::program
