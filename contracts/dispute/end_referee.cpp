// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/end_referee.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {
using program::StateComponent;

constexpr GameVerdict kWins{.outcome = GameOutcome::kClaimantWins, .reason = GameReason::kAgrees};

// The hashes of a witness that has nothing else; refuses by the reason that it returns.
class HashReader {
public:
    explicit HashReader(base::ByteView witness) : rest_(witness) {}
    [[nodiscard]] std::optional<GameReason> refusal() const { return refusal_; }
    Hash256 take() {
        constexpr std::size_t kHash = sizeof(Hash256::bytes);
        if (rest_.size() < kHash) refusal_ = GameReason::kWitnessEnds;
        if (refusal_) return {};
        const Hash256 out = base::hash_from(rest_.first(kHash));
        rest_ = rest_.subspan(kHash);
        return out;
    }
    std::uint64_t take_number() {
        constexpr std::size_t kNumber = sizeof(std::uint64_t);
        if (rest_.size() < kNumber) refusal_ = GameReason::kWitnessEnds;
        if (refusal_) return 0;
        const auto number = base::decode<std::uint64_t>(rest_.first(kNumber));
        rest_ = rest_.subspan(kNumber);
        return *number;
    }
    Hash256 above(const Hash256& leaf, std::uint64_t index, std::uint64_t leaves) {
        std::vector<Hash256> siblings(sibling_count(index, leaves));
        for (Hash256& one : siblings) one = take();
        return climb(leaf, index, leaves, siblings);
    }
    void expect(const Hash256& root, const Hash256& fixed) {
        if (!refusal_ && root != fixed) refusal_ = GameReason::kNotOpened;
    }
    GameVerdict verdict() {
        if (!refusal_ && !rest_.empty()) refusal_ = GameReason::kWitnessTrails;
        return refusal_ ? GameVerdict{.reason = *refusal_} : kWins;
    }

private:
    base::ByteView rest_;
    std::optional<GameReason> refusal_;
};

bool is_array_of_step(std::uint32_t component) {
    return component <= static_cast<std::uint32_t>(StateComponent::kSecondMoment);
}

// The operator that writes the loss or the norm.
std::optional<std::uint32_t> writer_of(const StepFacts& facts, bool is_norm) {
    const program::TensorId wanted = is_norm ? facts.program->norm : facts.program->loss;
    for (std::uint32_t i = 0; i < facts.operators(); ++i) {
        const auto& outputs = facts.program->operators[i].outputs;
        if (outputs.size() == 1 && outputs[0] == wanted) return i;
    }
    return std::nullopt;
}

// A tile of an output, opened alone.
base::Bytes tile_witness(StepMemory& memory, const Source& source, std::uint64_t tile) {
    const std::vector<Cells> none;
    const StoredTree empty;
    Prover prover(memory, none, &empty);
    [[maybe_unused]] const Tile& read = prover.tile(source, tile);
    return prover.take_openings();
}
}  // namespace

std::optional<std::uint32_t> end_output(const StepFacts& facts, std::uint32_t component,
                                        std::uint32_t place) {
    if (!is_array_of_step(component) || place >= facts.program->parameters.size()) return std::nullopt;
    const program::TensorRole roles[] = {program::TensorRole::kParameter, program::TensorRole::kFirstMoment,
                                         program::TensorRole::kSecondMoment};
    const auto& tensors = facts.program->tensors;
    const auto first = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const program::Tensor& one) { return one.role == roles[component]; });
    // Tensors of a role stand side by side, in canonical order.
    const auto wanted = static_cast<program::TensorId>(first - tensors.begin()) + place;
    for (std::uint32_t i = facts.operators(); i-- > 0;) {
        const auto& outputs = facts.program->operators[i].outputs;
        const auto found = std::find(outputs.begin(), outputs.end(), wanted);
        if (found != outputs.end()) {
            return facts.first_output[i] + static_cast<std::uint32_t>(found - outputs.begin());
        }
    }
    return std::nullopt;
}

GameVerdict judge_end(const StepFacts& facts, const EndPosition& position, const program::StateRoots& known,
                      const Hash256& outputs, const Hash256& end, base::ByteView witness) {
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    HashReader reader(witness);
    if (position.part == EndPart::kCounter) {
        if (position.component >= program::kStateComponents || is_array_of_step(position.component)) {
            return {.reason = GameReason::kPosition};
        }
        const Hash256 leaf = program::component_leaves(known)[position.component];
        reader.expect(reader.above(leaf, position.component, program::kStateComponents), end);
        return reader.verdict();
    }
    const auto output = end_output(facts, position.component, position.place);
    if (!output) return {.reason = GameReason::kPosition};
    const Hash256 root = reader.take();
    reader.expect(reader.above(root, *output, facts.outputs()), outputs);
    const auto& tensors = facts.program->parameters;
    const Hash256 leaf = program::tensor_leaf(tensors[position.place], root);
    const Hash256 array = reader.above(leaf, position.place, tensors.size());
    reader.expect(reader.above(component_leaf(position.component, array), position.component,
                               program::kStateComponents),
                  end);
    return reader.verdict();
}

GameVerdict judge_carried(const Hash256& end, const Hash256& carried_out, base::ByteView witness) {
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    HashReader reader(witness);
    std::array<Hash256, 2> roots;
    for (std::uint32_t i = 0; i < roots.size(); ++i) {
        const std::uint32_t component = static_cast<std::uint32_t>(StateComponent::kFirstMoment) + i;
        roots[i] = reader.take();
        reader.expect(reader.above(component_leaf(component, roots[i]), component, program::kStateComponents),
                      end);
    }
    program::StateRoots counted;
    counted.step_count = reader.take_number();
    counted.moment_age = reader.take_number();
    const auto steps = static_cast<std::uint32_t>(StateComponent::kSteps);
    const Hash256 leaf = program::component_leaves(counted)[steps];
    reader.expect(reader.above(leaf, steps, program::kStateComponents), end);
    reader.expect(program::carried_root(roots[0], roots[1], *counted.moment_age), carried_out);
    return reader.verdict();
}

GameVerdict judge_fingerprint(const StepFacts& facts, bool is_norm, const program::Fingerprint& fingerprint,
                              const Hash256& outputs, base::ByteView witness) {
    const auto writer = writer_of(facts, is_norm);
    if (!writer) return {.reason = GameReason::kPosition};
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    const FixedHashes fixed{
        .claimed = {}, .outputs = outputs, .partials = {}, .data = {}, .states = {}, .arrays = {}};
    WitnessReader reader(&facts, facts.program->parameters, fixed, 1, witness);
    const float value = reader.tile(output_source(facts, *writer, 0), 0)[0];
    if (!reader.refusal() && reader.left() != 0) reader.refuse(GameReason::kWitnessTrails);
    if (reader.refusal()) return detail::refused(reader);
    const std::uint32_t claimed = is_norm ? fingerprint.norm : fingerprint.loss;
    const auto computed = std::bit_cast<std::uint32_t>(value);
    if (claimed == computed) return kWins;
    return {.reason = GameReason::kDiffers, .claimed = claimed, .computed = computed};
}

GameVerdict judge_divergence(const StepFacts& facts, const Hash256& outputs, base::ByteView witness) {
    ASSAY_CHECK(facts.diverged_at && *facts.diverged_at < facts.program->operators.size());
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    std::uint32_t output = 0;
    std::uint64_t tile = 0;
    base::Decoder decoder(witness);
    decoder(output, tile);
    if (decoder.error()) return {.reason = GameReason::kWitnessEnds};
    const auto& written = facts.program->operators[*facts.diverged_at].outputs;
    if (output >= written.size()) return {.reason = GameReason::kPosition};
    const Source source = output_source(facts, *facts.diverged_at, output);
    if (tile >= source.tiles() || held_extent(source, tile).width == 0)
        return {.reason = GameReason::kPosition};
    const FixedHashes fixed{
        .claimed = {}, .outputs = outputs, .partials = {}, .data = {}, .states = {}, .arrays = {}};
    WitnessReader reader(&facts, facts.program->parameters, fixed, 1, decoder.rest());
    const Tile& numbers = reader.tile(source, tile);
    if (!reader.refusal() && reader.left() != 0) reader.refuse(GameReason::kWitnessTrails);
    if (reader.refusal()) return detail::refused(reader);
    return arithmetic::all_finite(numbers) ? GameVerdict{.reason = GameReason::kDiffers} : kWins;
}

base::Bytes end_witness(const EndPosition& position, StepMemory& memory, const StoredTree& array,
                        const StoredTree& components, const Hash256& root) {
    base::Bytes out;
    const auto put = [&](const std::vector<Hash256>& hashes) {
        for (const Hash256& hash : hashes) out.insert(out.end(), hash.bytes.begin(), hash.bytes.end());
    };
    if (position.part == EndPart::kTensor) {
        const StepFacts& facts = *memory.facts();
        const auto output = end_output(facts, position.component, position.place);
        ASSAY_CHECK(output);
        put({root});
        put(memory.above({.from = Source::From::kOutput}).siblings(*output));
        put(array.siblings(position.place));
    }
    put(components.siblings(position.component));
    return out;
}

base::Bytes carried_witness(const program::StateRoots& end) {
    const auto leaves = program::component_leaves(end);
    const StoredTree tree({leaves.begin(), leaves.end()});
    base::Bytes out;
    const auto put = [&](const Hash256& hash) {
        out.insert(out.end(), hash.bytes.begin(), hash.bytes.end());
    };
    for (const StateComponent component : {StateComponent::kFirstMoment, StateComponent::kSecondMoment}) {
        put(component == StateComponent::kFirstMoment ? end.first_moment : end.second_moment);
        for (const Hash256& one : tree.siblings(static_cast<std::uint64_t>(component))) put(one);
    }
    base::Encoder counters;
    counters(end.step_count, end.moment_age.value_or(end.step_count));
    const base::Bytes counted = std::move(counters).take();
    out.insert(out.end(), counted.begin(), counted.end());
    for (const Hash256& one : tree.siblings(static_cast<std::uint64_t>(StateComponent::kSteps))) put(one);
    return out;
}

base::Bytes fingerprint_witness(StepMemory& memory, bool is_norm) {
    const auto writer = writer_of(*memory.facts(), is_norm);
    ASSAY_CHECK(writer);
    return tile_witness(memory, output_source(*memory.facts(), *writer, 0), 0);
}

base::Bytes divergence_witness(StepMemory& memory, std::uint32_t output, std::uint64_t tile) {
    base::Encoder encoder;
    encoder(output, tile);
    base::Bytes out = std::move(encoder).take();
    const StepFacts& facts = *memory.facts();
    const base::Bytes opened = tile_witness(memory, output_source(facts, *facts.diverged_at, output), tile);
    out.insert(out.end(), opened.begin(), opened.end());
    return out;
}

}  // namespace assay::dispute
