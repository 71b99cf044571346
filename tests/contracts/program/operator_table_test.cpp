// SPDX-License-Identifier: Apache-2.0
// The operator table: one row for each kind, programs that keep to it, and claims about operators that the
// law bears out.
#include <algorithm>
#include <bit>
#include <set>

#include "contracts/program/reference_machine.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

std::vector<ModelConfig> table_models() { return {tiny::model(), tiny::llama(), tiny::untied_llama()}; }

std::vector<Program> table_programs() {
    std::vector<Program> out;
    for (const ModelConfig& model : table_models()) {
        for (const Profile profile : {Profile::kF32, Profile::kI16}) {
            out.push_back(build_step_program(model, tiny::spec().train, profile));
            out.push_back(build_evaluate_program(model, profile));
        }
    }
    return out;
}

/// Runs operators of a program one by one, each as often as wanted from the same numbers.
class Bench {
public:
    static constexpr std::size_t kSequences = 2;

    explicit Bench(const Program& program) : machine_(program, tiny::tokens(program.model, kSequences, 31)) {
        const auto parameters = tiny::parameters(program.model, 9);
        for (TensorId id = 0; id < program.parameters.size(); ++id) {
            const TensorInfo& info = program.parameters[id];
            std::copy_n(parameters.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(),
                        machine_.values(id).begin());
        }
    }

    /// What the operator's outputs become when `change` is done to the numbers before it; then all is as it
    /// was.
    template <class Change>
    std::vector<std::vector<float>> after(const Operator& one, const Change& change) {
        std::set<TensorId> ids(one.operands.begin(), one.operands.end());
        ids.insert(one.outputs.begin(), one.outputs.end());
        std::vector<std::pair<TensorId, std::vector<float>>> before;
        for (const TensorId id : ids) before.emplace_back(id, copy(id));
        change(machine_);
        machine_.execute(one, kCoefficients);
        std::vector<std::vector<float>> outputs;
        for (const TensorId id : one.outputs) outputs.push_back(copy(id));
        for (const auto& [id, values] : before)
            std::copy(values.begin(), values.end(), machine_.values(id).begin());
        return outputs;
    }
    std::vector<std::vector<float>> after(const Operator& one) {
        return after(one, [](ReferenceMachine&) {});
    }
    void run(const Operator& one) { machine_.execute(one, kCoefficients); }
    std::size_t size(TensorId id) { return machine_.values(id).size(); }

private:
    std::vector<float> copy(TensorId id) {
        const auto values = machine_.values(id);
        return {values.begin(), values.end()};
    }
    static constexpr assay::arithmetic::AdamWCoefficients kCoefficients{.learning_rate = 0.01F,
                                                                        .decay = 0.001F,
                                                                        .beta1 = 0.9F,
                                                                        .one_minus_beta1 = 0.1F,
                                                                        .beta2 = 0.95F,
                                                                        .one_minus_beta2 = 0.05F,
                                                                        .correction1 = 10.0F,
                                                                        .correction2 = 20.0F,
                                                                        .epsilon = 1e-8F};
    ReferenceMachine machine_;
};

bool differ(float a, float b) { return std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b); }

/// A number of a tensor that has rows per sequence, or of one that has not.
struct Spot {
    Spot(const Program& program, TensorId id, std::size_t at)
        : index(at),
          rows(program.tensors[id].rows.per_sequence),
          row(at / program.tensors[id].cols),
          token(rows == 0 ? 0 : row % program.model.context) {}
    std::size_t index;
    std::uint64_t rows;  // per sequence
    std::uint64_t row;
    std::uint64_t token;
    [[nodiscard]] std::uint64_t sequence() const { return row / rows; }
};

Reach reach_of(const Spot& from, const Spot& to, bool same_shape) {
    if (same_shape && from.index == to.index) return Reach::kElement;
    if (from.rows == 0 || to.rows == 0) return Reach::kStep;
    if (from.rows == to.rows && from.row == to.row) return Reach::kRow;
    return from.sequence() == to.sequence() ? Reach::kSequence : Reach::kStep;
}

/// Operands whose numbers the table's reach is about: no tokens; parameters and scalars only where the
/// operator is one of theirs.
bool counts_for_reach(const OperatorRow& row, const Tensor& operand) {
    if (operand.role == TensorRole::kTokens) return false;
    if (operand.role == TensorRole::kParameter) return row.cut.reach == Reach::kElement;
    return operand.role != TensorRole::kScalar || row.operands.size() == 1;
}

/// The farthest that a changed operand reached, looking at every number of every operand.
Reach farthest_reach(Bench& bench, const Program& program, const Operator& one) {
    Reach farthest = Reach::kElement;
    const auto before = bench.after(one);
    for (const TensorId operand : one.operands) {
        if (!counts_for_reach(one.row(), program.tensors[operand])) continue;
        for (std::size_t i = 0; i < bench.size(operand); ++i) {
            const auto after =
                bench.after(one, [&](ReferenceMachine& machine) { machine.values(operand)[i] += 10.0F; });
            const Spot from(program, operand, i);
            for (std::size_t output = 0; output < after.size(); ++output) {
                const bool same_shape = after[output].size() == bench.size(operand);
                for (std::size_t j = 0; j < after[output].size(); ++j) {
                    if (!differ(before[output][j], after[output][j])) continue;
                    const Spot to(program, one.outputs[output], j);
                    farthest = std::max(farthest, reach_of(from, to, same_shape));
                    // A sum over keys takes those up to its own place, one over queries those from it on. In
                    // i16 the scale of a block looks at all of the block.
                    if (program.profile == Profile::kI16) continue;
                    if (one.row().cut.chain == SumChain::kKeys) CHECK(to.token >= from.token);
                    if (one.row().cut.chain == SumChain::kQueries) CHECK(to.token <= from.token);
                }
            }
        }
    }
    return farthest;
}
}  // namespace

TEST_CASE("every kind of operator has one row, one name and one definition") {
    std::set<OperatorKind> kinds;
    std::set<std::string_view> names;
    for (const OperatorRow& row : operator_table()) {
        INFO(row.name);
        CHECK(kinds.insert(row.kind).second);
        CHECK(names.insert(row.name).second);
        CHECK(&row_of(row.kind) == &row);
        CHECK(to_text(row.kind) == row.name);
        CHECK(ReferenceMachine::definitions_of(row.kind) == 1);
    }
    for (unsigned byte = 0; byte <= 255; ++byte) {
        const auto kind = static_cast<OperatorKind>(byte);
        if (!kinds.contains(kind)) CHECK(ReferenceMachine::definitions_of(kind) == 0);
    }
}

TEST_CASE("every operator of a program fits its row") {
    std::set<OperatorKind> seen;
    for (const Program& program : table_programs()) {
        const std::uint64_t context = program.model.context;
        Phase phase = Phase::kForward;
        for (const Operator& one : program.operators) {
            INFO(one.name);
            const OperatorRow& row = one.row();
            seen.insert(one.kind);
            CHECK(row.accepts(program.tensors, one.operands, one.outputs));
            CHECK(one.flops == row.flops({program.model, program.tensors, one.operands, one.outputs}));
            CHECK(one.rule == row.rule(context));
            // Forward, backward, once: each phase ends when the next one begins.
            if (row.phase == Phase::kEitherWay) {
                CHECK(phase != Phase::kOncePerStep);
            } else {
                CHECK((row.phase == phase || (phase == Phase::kForward && row.phase == Phase::kBackward) ||
                       (phase == Phase::kBackward && row.phase == Phase::kOncePerStep)));
                phase = row.phase;
            }
        }
    }
    CHECK(seen.size() == operator_table().size());
}

TEST_CASE("a row refuses operands and outputs that are not its own") {
    const Program program = build_step_program(tiny::model(), tiny::spec().train, Profile::kF32);
    const auto first = [&](std::string_view name) -> const Operator& {
        return *std::find_if(program.operators.begin(), program.operators.end(),
                             [&](const Operator& one) { return one.row().name == name; });
    };
    const auto accepts = [&](const Operator& one, std::vector<TensorId> operands,
                             std::vector<TensorId> outputs) {
        return one.row().accepts(program.tensors, operands, outputs);
    };
    const Operator& linear = first("linear");
    const std::vector<TensorId> in = linear.operands;  // x, weight, bias
    const std::vector<TensorId> out = linear.outputs;
    CHECK(accepts(linear, in, out));
    CHECK(accepts(linear, {in[0], in[1]}, out));                      // a bias need not be there
    CHECK_FALSE(accepts(linear, {in[0]}, out));                       // a weight must
    CHECK_FALSE(accepts(linear, {in[1], in[0]}, out));                // each in its place
    CHECK_FALSE(accepts(linear, {in[0], in[1], in[2], in[2]}, out));  // and no more
    CHECK_FALSE(accepts(linear, in, {}));                             // it has an output
    CHECK_FALSE(accepts(linear, in, {in[0]}));                        // that is no operand
    CHECK_FALSE(accepts(linear, in, {static_cast<TensorId>(program.tensors.size())}));  // and exists
    const Operator& norm = first("global_norm");
    CHECK(accepts(norm, {norm.operands.begin(), norm.operands.end() - 1}, norm.outputs));  // any number
    CHECK_FALSE(accepts(norm, {in[1]}, norm.outputs));                                     // of gradients
    const Operator& adamw = first("adamw");
    CHECK_FALSE(accepts(adamw, adamw.operands, {adamw.outputs[0] + 1, adamw.outputs[1], adamw.outputs[2]}));
}

TEST_CASE("the law reaches as far as an operator's row says, and no farther") {
    for (const ModelConfig& model : table_models()) {
        for (const Profile profile : {Profile::kF32, Profile::kI16}) {
            const Program program = build_step_program(model, tiny::spec().train, profile);
            Bench bench(program);
            std::set<OperatorKind> seen;
            for (const Operator& one : program.operators) {
                INFO(one.name);
                const OperatorRow& row = one.row();
                // The first of a kind stands for the others.
                if (seen.insert(one.kind).second) {
                    const bool has_numbers =
                        std::any_of(one.operands.begin(), one.operands.end(),
                                    [&](TensorId id) { return counts_for_reach(row, program.tensors[id]); });
                    const Reach farthest = farthest_reach(bench, program, one);
                    if (has_numbers) CHECK(farthest == row.cut.reach);
                }
                bench.run(one);
            }
        }
    }
}

TEST_CASE("operators write to their outputs what their rows say") {
    for (const ModelConfig& model : table_models()) {
        const Program program = build_step_program(model, tiny::spec().train, Profile::kF32);
        Bench bench(program);
        for (const Operator& one : program.operators) {
            INFO(one.name);
            for (std::size_t output = 0; output < one.outputs.size(); ++output) {
                const TensorId id = one.outputs[output];
                const auto from = [&](float value) {
                    return bench.after(one, [&](ReferenceMachine& machine) {
                        std::fill(machine.values(id).begin(), machine.values(id).end(), value);
                    })[output];
                };
                const std::vector<float> one_way = from(7.0F);
                const std::vector<float> other_way = from(9.0F);
                std::size_t left_alone = 0;
                std::size_t changed = 0;
                for (std::size_t i = 0; i < one_way.size(); ++i) {
                    if (one_way[i] == 7.0F && other_way[i] == 9.0F) {
                        const Spot spot(program, id, i);
                        // Of attention's squares nobody reads or writes what lies above the diagonal.
                        const bool is_square = spot.rows == model.heads * model.context &&
                                               program.tensors[id].cols == model.context;
                        if (!is_square || i % model.context <= spot.token) ++left_alone;
                    } else if (differ(one_way[i], other_way[i])) {
                        ++changed;
                    }
                }
                switch (one.row().outputs[output].write) {
                    case Write::kWhole: CHECK(left_alone + changed == 0); break;
                    case Write::kColumns:
                        CHECK(left_alone > 0);
                        CHECK(left_alone < one_way.size());
                        CHECK(changed == 0);
                        break;
                    case Write::kInPlace:
                    case Write::kAccumulate: CHECK(left_alone + changed > 0); break;
                }
            }
            bench.run(one);
        }
    }
}

TEST_CASE("products are cut along their chains in profile i16") {
    const std::uint64_t context = 4096;
    std::set<SumChain> seen;
    for (const OperatorRow& row : operator_table()) {
        INFO(row.name);
        seen.insert(row.cut.chain);
        const auto rule = row.rule(context);
        const bool over_tokens = row.cut.chain == SumChain::kTokens;
        const bool over_pairs = row.cut.chain == SumChain::kKeys || row.cut.chain == SumChain::kQueries;
        CHECK(rule.block == (over_tokens  ? context
                             : over_pairs ? assay::arithmetic::kAttentionBlock
                                          : assay::arithmetic::kMaxProductBlock));
        CHECK(rule.a_digits == (row.name.starts_with("head_") ? 3 : 2));
    }
    CHECK(seen.size() == 8);
}
