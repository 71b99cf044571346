// SPDX-License-Identifier: Apache-2.0
// Gives the executor Arena, where the numbers of a step live. The executor asks once, at its start, and
// never again within a step.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace assay::trainer {

/// Gives out large blocks of floats and takes all of them back when it ends.
class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    virtual ~Arena() = default;

    /// `count` floats of any value, aligned to 64 bytes, valid until the arena ends; at least one float is
    /// given even for 0. Throws std::bad_alloc when there is no memory.
    virtual float* allocate(std::size_t count) = 0;
    /// Takes back, before its end, a block that allocate() gave. An arena may keep it until then.
    virtual void release(float* block) { static_cast<void>(block); }

    /// "heap", or the name that another arena has.
    [[nodiscard]] virtual std::string_view name() const = 0;
};

/// An arena on the process's heap.
std::unique_ptr<Arena> make_heap_arena();

}  // namespace assay::trainer
