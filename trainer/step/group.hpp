// SPDX-License-Identifier: Apache-2.0
// A Group is a list of operators that a device runs as one piece of work, so that the tensors between them
// stay in registers and caches. The operators need not be neighbours in the program; every one still finds
// its operands, so no bit changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "contracts/program/program.hpp"

namespace assay::trainer {

enum class GroupKind : std::uint8_t {
    kRows,               ///< operators that work row by row: embedding, norms, activations, adds, rotations
    kLinear,             ///< a linear layer, or its input gradient, then operators as in kRows
    kAttention,          ///< all operators from scores to values, a head at a time
    kAttentionGradient,  ///< rematerialises probabilities, then all gradients, a head at a time
    kHead,               ///< LM head, loss and, in a step, their gradients, some rows at a time
    kLogits,             ///< the LM head for one row
    kWeightGradient,     ///< of one linear layer
    kColumnGradient,     ///< of one bias or of one norm's parameters
    kEmbeddingGradient,
    kCollect,  ///< tied gradient, global norm, clip: once per step
    kUpdate,   ///< AdamW of all parameters; changes none of them when one would not be finite
    kSingle,   ///< any one operator, with all its operands and outputs in memory (single.hpp)
};

/// "rows", "linear", "attention-gradient" and so on.
std::string_view to_text(GroupKind kind);

struct Group {
    GroupKind kind = GroupKind::kRows;
    std::vector<std::uint32_t> operators;  ///< in program order
    std::vector<program::TensorId> reads;  ///< tensors in memory that it reads before writing them, once each
    std::vector<program::TensorId> writes;  ///< tensors in memory that it writes, once each
    /// kAttentionGradient: the softmax's max and sum, from which it rematerialises probabilities.
    program::TensorId max = 0;
    program::TensorId sum = 0;
};

/// Groups operators. `operators` are places in the program, ascending. The groups come in an order in which
/// they may run. Tensors that exist only inside one group, and never as a whole (an attention head's squares,
/// logits), are in no list of reads or writes.
std::vector<Group> group(const program::Program& program, std::span<const std::uint32_t> operators);

/// The first operator that writes each tensor of a program, which must outlive it.
class FirstWriters {
public:
    explicit FirstWriters(const program::Program& program);
    /// REQUIRES a tensor that an operator writes.
    [[nodiscard]] const program::Operator& of(program::TensorId id) const;

private:
    std::vector<const program::Operator*> writers_;
};
/// The same for a program whose writers are known, where parts of it are grouped again and again.
std::vector<Group> group(const program::Program& program, const FirstWriters& writers,
                         std::span<const std::uint32_t> operators);

/// The kind of group that holds an operator.
GroupKind group_kind(const program::Operator& one);

/// The group of the LM head for one row (kLogits); nothing in a program without a head.
std::optional<Group> logits_group(const program::Program& program);

/// Gradient tensors of a matrix that embedding and LM head share: two gradients and their sum.
struct TiedGradient {
    program::TensorId by_head = 0;
    program::TensorId by_embedding = 0;
    program::TensorId sum = 0;
};
std::optional<TiedGradient> tied_gradient(const program::Program& program);

/// Weight gradients that products make, in program order.
std::vector<program::TensorId> weight_gradients(const program::Program& program);

/// Gradients that the embedding adds to, in program order. The first one of a tied matrix is by_embedding.
std::vector<program::TensorId> embedding_gradients(const program::Program& program);

/// True when rematerialising the operator's first output costs little compared with the memory that it saves.
bool is_cheap_to_rematerialise(const program::Operator& one);

}  // namespace assay::trainer
