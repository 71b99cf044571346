// SPDX-License-Identifier: Apache-2.0
// Gives JobRunner TokenView, a token stream in memory.
#pragma once

#include <cstdint>
#include <span>

namespace assay::trainer {

/// Borrowed tokens in order, every one below the model's vocabulary. The stream must outlive its users.
struct TokenView {
    std::span<const std::uint32_t> tokens;
};

}  // namespace assay::trainer
