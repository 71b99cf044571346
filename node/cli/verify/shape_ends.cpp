// SPDX-License-Identifier: Apache-2.0
#include "node/cli/verify/shape_ends.hpp"

#include <bit>

#include "contracts/base/check.hpp"
#include "contracts/dispute/end_referee.hpp"

namespace assay::node {

namespace {

using base::Hash256;
using dispute::StepFacts;
using dispute::StoredTree;
using dispute::WayCost;

/// Hashes of nothing: a referee that only opens does not look behind them.
Hash256 named(const std::string& name) { return base::hash("assay/bench", base::as_bytes(name)); }

std::vector<Hash256> named(const std::string& name, std::uint64_t count) {
    std::vector<Hash256> out;
    for (std::uint64_t i = 0; i < count; ++i) out.push_back(named(name + std::to_string(i)));
    return out;
}

void append(base::Bytes& out, const std::vector<Hash256>& hashes) {
    for (const Hash256& hash : hashes) out.insert(out.end(), hash.bytes.begin(), hash.bytes.end());
}

std::uint64_t hashes_to(std::uint64_t leaves) { return dispute::way_cost(leaves).hashes; }
std::uint64_t moves_to(std::uint64_t leaves) { return dispute::way_cost(leaves).moves; }

/// The trees of a state behind a step whose last tensor is opened.
struct OpenedEnd {
    OpenedEnd(const program::Program& program, const StepFacts& facts)
        : place(static_cast<std::uint32_t>(program.parameters.size() - 1)),
          output(dispute::end_output(facts, 0, place)) {
        ASSAY_CHECK(output);
        std::vector<Hash256> roots = named("output", facts.outputs());
        roots[*output] = root;
        outputs = StoredTree(std::move(roots));
        std::vector<Hash256> leaves = named("tensor", program.parameters.size());
        leaves[place] = program::tensor_leaf(program.parameters[place], root);
        array = StoredTree(std::move(leaves));
        std::vector<Hash256> parts = named("component", program::kStateComponents);
        parts[0] = dispute::component_leaf(0, array.root());
        components = StoredTree(std::move(parts));
    }
    [[nodiscard]] base::Bytes witness() const {
        base::Bytes out;
        append(out, {root});
        append(out, outputs.siblings(*output));
        append(out, array.siblings(place));
        append(out, components.siblings(0));
        return out;
    }
    Hash256 root = named("root");
    std::uint32_t place;
    std::optional<std::uint32_t> output;
    StoredTree outputs, array, components;
};

void measure_state_behind(const program::Program& program, const StepFacts& facts,
                          const ShapeSetting& setting, DisputeShape& row) {
    const OpenedEnd end(program, facts);
    const base::Bytes witness = end.witness();
    const std::uint64_t tensors = program.parameters.size();
    const WayCost way{
        moves_to(128) + moves_to(facts.outputs()) + 1 + moves_to(tensors),
        hashes_to(128) + hashes_to(facts.outputs()) + program::kStateComponents + hashes_to(tensors)};
    note_verdicts(row, setting, way, witness.size(), [&] {
        return dispute::judge_end(facts, {dispute::EndPart::kTensor, 0, end.place}, {}, end.outputs.root(),
                                  end.components.root(), witness);
    });
}

void measure_fingerprint(const program::Program& program, const StepFacts& facts, const ShapeSetting& setting,
                         DisputeShape& row) {
    constexpr float kLoss = 10.75F;
    dispute::Cells loss = dispute::Cells::of({dispute::CellKind::kReal, 1});
    loss.real[0] = kLoss;
    std::vector<Hash256> roots = named("output", facts.outputs());
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < program.operators.size(); ++i)
        if (program.operators[i].outputs[0] == program.loss) at = facts.first_output[i];
    roots[at] = dispute::tile_hash(loss, 1);
    const StoredTree outputs(std::move(roots));
    base::Bytes witness;
    append(witness, {dispute::tile_hash(loss, 1)});
    append(witness, outputs.siblings(at));
    const base::Bytes cells = dispute::encode_cells(loss);
    witness.insert(witness.end(), cells.begin(), cells.end());
    const program::Fingerprint claimed{.loss = std::bit_cast<std::uint32_t>(kLoss), .norm = {}};
    const WayCost way{moves_to(128) + moves_to(facts.outputs()), hashes_to(128) + hashes_to(facts.outputs())};
    note_verdicts(row, setting, way, witness.size(),
                  [&] { return dispute::judge_fingerprint(facts, false, claimed, outputs.root(), witness); });
}

void measure_handed_on(const ShapeSetting& setting, DisputeShape& row) {
    constexpr std::uint64_t kAge = 128;
    program::StateRoots end;
    end.first_moment = named("first");
    end.second_moment = named("second");
    end.moment_age = kAge;
    const base::Bytes witness = dispute::carried_witness(end);
    const Hash256 out = program::carried_root(end.first_moment, end.second_moment, kAge);
    note_verdicts(row, setting, {}, witness.size(),
                  [&] { return dispute::judge_carried(program::state_root(end), out, witness); });
}

}  // namespace

void measure_ends(const program::JobSpec& spec, const program::Program& program, const StepFacts& facts,
                  const ShapeSetting& setting, ShapeTable& table) {
    const auto row = [&](const char* name, const char* group) {
        return table.row(name, group, setting.profile);
    };
    if (auto* const one = row("state behind a step", "state"))
        measure_state_behind(program, facts, setting, *one);
    if (auto* const one = row("fingerprint", "state")) measure_fingerprint(program, facts, setting, *one);
    if (auto* const one = row("handed on", "state")) measure_handed_on(setting, *one);
    if (auto* const one = row("batch map", "data"))
        note_time(*one, setting, [&] { static_cast<void>(dispute::facts_of(spec, program, {})); });
}

}  // namespace assay::node
