// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/group.hpp"

#include <algorithm>
#include <map>

#include "contracts/base/check.hpp"

namespace assay::trainer {

using program::Operator;
using program::TensorId;
using Kind = program::OperatorKind;

GroupKind group_kind(const Operator& one) {
    switch (one.kind) {
        case Kind::kEmbedding:
        case Kind::kLayerNorm:
        case Kind::kRmsNorm:
        case Kind::kRope:
        case Kind::kGelu:
        case Kind::kSwiGlu:
        case Kind::kAdd:
        case Kind::kLayerNormInputGradient:
        case Kind::kRmsNormInputGradient:
        case Kind::kGeluGradient:
        case Kind::kSwiGluGradient:
        case Kind::kRopeGradient: return GroupKind::kRows;
        case Kind::kLinear:
        case Kind::kLinearInputGradient: return GroupKind::kLinear;
        case Kind::kAttentionScores:
        case Kind::kSoftmaxMax:
        case Kind::kSoftmaxExp:
        case Kind::kSoftmaxSum:
        case Kind::kSoftmaxDivide:
        case Kind::kAttentionValues: return GroupKind::kAttention;
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionProbabilityGradient:
        case Kind::kSoftmaxDot:
        case Kind::kSoftmaxGradient:
        case Kind::kAttentionQueryGradient:
        case Kind::kAttentionKeyGradient: return GroupKind::kAttentionGradient;
        case Kind::kHead:
        case Kind::kLossMax:
        case Kind::kLossExp:
        case Kind::kLossSum:
        case Kind::kLossTokens:
        case Kind::kLossTotal:
        case Kind::kLossGradient:
        case Kind::kHeadInputGradient:
        case Kind::kHeadWeightGradient: return GroupKind::kHead;
        case Kind::kLinearWeightGradient: return GroupKind::kWeightGradient;
        case Kind::kLinearBiasGradient:
        case Kind::kLayerNormParameterGradient:
        case Kind::kRmsNormParameterGradient: return GroupKind::kColumnGradient;
        case Kind::kEmbeddingGradient: return GroupKind::kEmbeddingGradient;
        case Kind::kTiedGradient:
        case Kind::kGlobalNorm:
        case Kind::kClip: return GroupKind::kCollect;
        case Kind::kAdamW: return GroupKind::kUpdate;
    }
    ASSAY_CHECK(false);
    return GroupKind::kRows;
}

namespace {
bool contains(const std::vector<TensorId>& list, TensorId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

class Grouper {
public:
    Grouper(const program::Program& program, const FirstWriters& writers)
        : program_(program), writers_(writers) {}

    void add(std::uint32_t index) {
        const Operator& one = program_.operators[index];
        const GroupKind kind = group_kind(one);
        switch (kind) {
            case GroupKind::kAttention:
                if (one.kind == Kind::kAttentionScores) break;
                return join(groups_.size() - 1, index);
            case GroupKind::kAttentionGradient:
                if (one.kind == Kind::kAttentionValueGradient) break;
                return join(groups_.size() - 1, index);
            case GroupKind::kHead:
                if (one.kind == Kind::kHead) break;
                return join(groups_.size() - 1, index);
            case GroupKind::kCollect:
            case GroupKind::kUpdate:
                if (groups_.empty() || groups_.back().kind != kind) break;
                return join(groups_.size() - 1, index);
            case GroupKind::kRows:
                if (const auto earlier = place_for(one)) return join(*earlier, index);
                break;
            default: break;
        }
        Group fresh;
        fresh.kind = kind;
        groups_.push_back(std::move(fresh));
        if (one.kind == Kind::kAttentionValueGradient) read_probabilities(one);
        join(groups_.size() - 1, index);
    }

    std::vector<Group> take() && { return std::move(groups_); }

private:
    // The last group that writes an operand, when an operator over rows can be done right there: nothing
    // after it touches what the operator writes.
    std::optional<std::size_t> place_for(const Operator& one) {
        for (std::size_t i = groups_.size(); i-- > 0;) {
            const Group& group = groups_[i];
            const auto touched = [&](TensorId id) {
                return contains(group.writes, id) || contains(group.reads, id);
            };
            const bool produces = std::any_of(one.operands.begin(), one.operands.end(),
                                              [&](TensorId id) { return contains(group.writes, id); });
            if (produces) {
                const bool by_rows = group.kind == GroupKind::kRows || group.kind == GroupKind::kLinear;
                return by_rows ? std::optional(i) : std::nullopt;
            }
            if (std::any_of(one.outputs.begin(), one.outputs.end(), touched)) return std::nullopt;
        }
        return std::nullopt;
    }

    void join(std::size_t at, std::uint32_t index) {
        Group& group = groups_[at];
        const Operator& one = program_.operators[index];
        ASSAY_CHECK(group.operators.empty() || group.kind == group_kind(one) ||
                    group_kind(one) == GroupKind::kRows);
        group.operators.push_back(index);
        for (const TensorId id : one.operands) {
            if (!transient(id) && !is_in(group.writes, last_written_, at, id))
                add(group.reads, last_read_, at, id);
        }
        if (one.row().is_transient) return;
        for (const TensorId id : one.outputs) add(group.writes, last_written_, at, id);
    }

    void read_probabilities(const Operator& one) {
        Group& group = groups_.back();
        const Operator& divide = writer(one.operands[0]);
        group.sum = divide.operands[1];
        group.max = writer(divide.operands[0]).operands[1];
        for (const TensorId id : {group.max, group.sum}) add(group.reads, last_read_, groups_.size() - 1, id);
    }

    // Of the last group, which may be that of all parameters, a tensor is known to be in a list by the number
    // that it has among `last`: one more than that of the last group whose list it is in.
    using LastGroups = std::map<TensorId, std::size_t>;
    [[nodiscard]] bool is_in(const std::vector<TensorId>& list, const LastGroups& last, std::size_t at,
                             TensorId id) const {
        if (at + 1 < groups_.size()) return contains(list, id);
        const auto found = last.find(id);
        return found != last.end() && found->second == at + 1;
    }
    void add(std::vector<TensorId>& list, LastGroups& last, std::size_t at, TensorId id) {
        if (is_in(list, last, at, id)) return;
        list.push_back(id);
        std::size_t& newest = last[id];
        newest = std::max(newest, at + 1);
    }

    [[nodiscard]] const Operator& writer(TensorId id) const { return writers_.of(id); }

    [[nodiscard]] bool transient(TensorId id) const {
        const program::TensorRole role = program_.tensors[id].role;
        if (role != program::TensorRole::kActivation && role != program::TensorRole::kGradient) return false;
        return writer(id).row().is_transient;
    }

    const program::Program& program_;
    const FirstWriters& writers_;
    LastGroups last_read_, last_written_;
    std::vector<Group> groups_;
};
}  // namespace

std::optional<Group> logits_group(const program::Program& program) {
    for (std::uint32_t i = 0; i < program.operators.size(); ++i) {
        const Operator& one = program.operators[i];
        if (one.kind == Kind::kHead) return Group{GroupKind::kLogits, {i}, one.operands, {}};
    }
    return std::nullopt;
}

std::string_view to_text(GroupKind kind) {
    switch (kind) {
        case GroupKind::kRows: return "rows";
        case GroupKind::kLinear: return "linear";
        case GroupKind::kAttention: return "attention";
        case GroupKind::kAttentionGradient: return "attention-gradient";
        case GroupKind::kHead: return "head";
        case GroupKind::kLogits: return "logits";
        case GroupKind::kWeightGradient: return "weight-gradient";
        case GroupKind::kColumnGradient: return "column-gradient";
        case GroupKind::kEmbeddingGradient: return "embedding-gradient";
        case GroupKind::kCollect: return "collect";
        case GroupKind::kUpdate: return "update";
        case GroupKind::kSingle: return "single";
    }
    ASSAY_CHECK(false);
}

std::vector<TensorId> weight_gradients(const program::Program& program) {
    std::vector<TensorId> found;
    for (const Operator& one : program.operators) {
        if (one.kind == Kind::kLinearWeightGradient || one.kind == Kind::kHeadWeightGradient) {
            found.push_back(one.outputs[0]);
        }
    }
    return found;
}

std::vector<TensorId> embedding_gradients(const program::Program& program) {
    std::vector<TensorId> found;
    for (const Operator& one : program.operators) {
        if (one.kind == Kind::kEmbeddingGradient)
            found.insert(found.end(), one.outputs.begin(), one.outputs.end());
    }
    return found;
}

std::optional<TiedGradient> tied_gradient(const program::Program& program) {
    for (const Operator& one : program.operators) {
        if (one.kind == Kind::kTiedGradient)
            return TiedGradient{one.operands[0], one.operands[1], one.outputs[0]};
    }
    return std::nullopt;
}

bool is_cheap_to_rematerialise(const Operator& one) {
    switch (one.kind) {
        case Kind::kLayerNorm:
        case Kind::kRmsNorm:
        case Kind::kGelu:
        case Kind::kSwiGlu: return true;
        default: return false;
    }
}

FirstWriters::FirstWriters(const program::Program& program) : writers_(program.tensors.size()) {
    for (const Operator& one : program.operators) {
        for (const TensorId id : one.outputs)
            if (writers_[id] == nullptr) writers_[id] = &one;
    }
}

const Operator& FirstWriters::of(TensorId id) const {
    ASSAY_CHECK(writers_[id] != nullptr);
    return *writers_[id];
}

std::vector<Group> group(const program::Program& program, const FirstWriters& writers,
                         std::span<const std::uint32_t> operators) {
    Grouper grouper(program, writers);
    for (const std::uint32_t index : operators) grouper.add(index);
    return std::move(grouper).take();
}

std::vector<Group> group(const program::Program& program, std::span<const std::uint32_t> operators) {
    return group(program, FirstWriters(program), operators);
}

}  // namespace assay::trainer
