// SPDX-License-Identifier: Apache-2.0
// Arena is the memory in which the numbers of a step live. The executor asks for it once, when it is made,
// and never within a step.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace assay::trainer {

/// Allocates large blocks of floats; its destructor frees all of them.
class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    virtual ~Arena() = default;

    /// Returns `count` uninitialised floats (one for 0), aligned to 64 bytes, valid until release() or the
    /// arena's end. Throws std::bad_alloc when there is no memory.
    virtual float* allocate(std::size_t count) = 0;
    /// Takes back a block that allocate() returned. The arena may keep its memory until the arena's end.
    virtual void release(float* block) { static_cast<void>(block); }

    /// "heap", or another arena's name.
    [[nodiscard]] virtual std::string_view name() const = 0;
};

/// An arena on the process's heap.
std::unique_ptr<Arena> make_heap_arena();

}  // namespace assay::trainer
