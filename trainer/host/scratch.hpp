// SPDX-License-Identifier: Apache-2.0
// Scratch is a thread's memory into which products pack their operands. It grows to the largest need so far
// and is kept, so that a step after the first allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::trainer {

class Scratch {
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();

    /// Returns at least `bytes`, aligned to a cache line, valid until the next call. Earlier content is lost.
    /// Throws std::bad_alloc, and then holds no memory.
    std::byte* take(std::uint64_t bytes);

    /// Bytes that it holds after take(bytes): whole pages.
    static std::uint64_t size_for(std::uint64_t bytes);

private:
    void drop();
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t size_ = 0;
};

/// The calling thread's scratch: one for a product's packed operands, one for an attention head's.
Scratch& product_scratch();
Scratch& attention_scratch();
/// Grows the calling thread's attention_scratch() to `bytes`; false when there is no memory.
bool prepare_attention_scratch(std::uint64_t bytes);

/// Use of scratch by all threads together.
struct ScratchUse {
    std::uint64_t bytes = 0;    ///< held now
    std::uint64_t growths = 0;  ///< how often one had to grow since the program began
};
ScratchUse scratch_use();

}  // namespace assay::trainer
