// SPDX-License-Identifier: Apache-2.0
// Scratch: memory of a thread that products pack their operands into. It grows to the largest need so far and
// stays, so that a step after the first allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::trainer::integer {

class Scratch {
public:
    /// At least `bytes`, aligned to a cache line, until the next call. What it held is lost.
    std::byte* take(std::uint64_t bytes);

private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t size_ = 0;
};

/// The calling thread's: one for a product's packed operands, one for an attention head's.
Scratch& product_scratch();
Scratch& attention_scratch();

}  // namespace assay::trainer::integer
