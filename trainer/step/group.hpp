// SPDX-License-Identifier: Apache-2.0
// Gives devices and schedules groups: operators of a program that a device runs as one piece of work, so
// that what lies between them stays in registers and caches. A group may hold operators that are not
// neighbours in the program; every operator still finds its operands, so no bit changes.
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
    kLinear,             ///< a linear layer, or its input gradient, then such operators
    kAttention,          ///< scores … values, a head at a time
    kAttentionGradient,  ///< rematerialises probabilities, then all gradients, a head at a time
    kHead,               ///< head and loss and, in a step, their gradients, some rows at a time
    kLogits,             ///< the head for one row
    kWeightGradient,     ///< of one linear layer
    kColumnGradient,     ///< of one bias or of one norm's parameters
    kEmbeddingGradient,
    kCollect,  ///< tied gradient, global norm, clip: once per step
    kUpdate,   ///< AdamW of all parameters: all of them or, when one would not be finite, none
    kSingle,   ///< any one operator that reads and leaves every tensor in memory (single.hpp)
};

/// "rows", "linear", "attention-gradient" and so on.
std::string_view to_text(GroupKind kind);

struct Group {
    GroupKind kind = GroupKind::kRows;
    std::vector<std::uint32_t> operators;  ///< in program order
    std::vector<program::TensorId> reads;  ///< tensors in memory that it reads before writing them, once each
    std::vector<program::TensorId> writes;  ///< tensors in memory that it writes, once each
    /// kAttentionGradient: max and sum of the softmax, from which probabilities are rematerialised.
    program::TensorId max = 0;
    program::TensorId sum = 0;
};

/// Operators in groups. `operators` are places in the program, ascending; groups are in an order in which
/// they may run. Tensors that live inside one group only and never as a whole (an attention head's squares,
/// logits) are in no list of reads or writes.
std::vector<Group> group(const program::Program& program, std::span<const std::uint32_t> operators);

/// The kind of group that holds an operator.
GroupKind group_kind(const program::Operator& one);

/// The head for one row (kLogits); nothing in a program without a head.
std::optional<Group> logits_group(const program::Program& program);

/// Tensors of a matrix that embedding and head share: two gradients and their sum.
struct TiedGradient {
    program::TensorId by_head = 0;
    program::TensorId by_embedding = 0;
    program::TensorId sum = 0;
};
std::optional<TiedGradient> tied_gradient(const program::Program& program);

/// Gradients of weights that products make, in program order.
std::vector<program::TensorId> weight_gradients(const program::Program& program);

/// True where rematerialising the operator's first output costs little beside the memory that keeping it
/// takes.
bool is_cheap_to_rematerialise(const program::Operator& one);

}  // namespace assay::trainer
