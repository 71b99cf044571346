// SPDX-License-Identifier: Apache-2.0
// SimtBlock on the host: a thread's view of its block. The runner owns the threads (host_runner.hpp).
#pragma once

#include <bit>
#include <cstdint>

#include "trainer/cuda/simt/machine.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class BlockRunner;

/// Operations that the lanes of a warp do together.
enum class WarpOperation : std::uint8_t { kNone, kShuffle, kMultiply, kLoad, kVote, kWait };

/// A lane's operands in an operation of its warp.
struct LaneWords {
    std::uint32_t words[6] = {};
};

class SimtBlock {
public:
    SimtBlock(BlockRunner& runner, unsigned thread) : runner_(runner), thread_(thread) {}

    [[nodiscard]] unsigned x() const { return x_; }
    [[nodiscard]] unsigned y() const { return y_; }
    [[nodiscard]] unsigned z() const { return z_; }
    [[nodiscard]] unsigned thread() const { return thread_; }
    [[nodiscard]] unsigned lane() const { return thread_ % 32; }
    [[nodiscard]] unsigned warp() const { return thread_ / 32; }
    /// Blocks of the grid along x.
    [[nodiscard]] unsigned grid_x() const { return grid_x_; }
    void place(unsigned x, unsigned y, unsigned z, unsigned grid_x) {
        x_ = x;
        y_ = y;
        z_ = z;
        grid_x_ = grid_x;
    }

    template <class Shared>
    [[nodiscard]] Shared& shared() const {
        return *static_cast<Shared*>(shared_memory());
    }
    void sync() const;
    /// Waits for the other lanes of the warp.
    void sync_warp() const { static_cast<void>(meet(WarpOperation::kWait, {})); }

    /// The value of the lane `lanes` higher; its own value when there is no such lane.
    template <class T>
    [[nodiscard]] T shfl_down(T value, unsigned lanes) const {
        const unsigned from = lane() + lanes;
        return exchange(value, from < 32 ? from : lane());
    }
    /// The value of lane `from`.
    template <class T>
    [[nodiscard]] T shfl(T value, unsigned from) const {
        return exchange(value, from);
    }
    template <class T>
    [[nodiscard]] T shfl_xor(T value, unsigned lanes) const {
        return exchange(value, lane() ^ lanes);
    }

    /// Whether it is so in any lane of the warp.
    [[nodiscard]] bool any(bool is_so) const;

    /// d += a · b by the lane layout of mma.m16n8k32 (PTX ISA). With g = lane / 4 and t = lane % 4 a lane
    /// holds of A rows g and g + 8 at k = 4t…4t+3 (a[0], a[1]) and 16+4t…16+4t+3 (a[2], a[3]), of B column g
    /// at the same k (b[0], b[1]), and of D numbers (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
    void mma_s8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) const;

    /// Four matrices of eight rows of four words from shared memory (PTX ISA, ldmatrix.x4): lane l names row
    /// l % 8 of matrix l / 8, at an address of 16 bytes, and gets of each matrix word l % 4 of row l / 4.
    void load_matrices(std::uint32_t (&words)[4], const std::uint32_t* row) const;

    /// A tile in shared memory (swizzled_word).
    struct WgmmaTile {
        const std::uint32_t* start;
        [[nodiscard]] WgmmaTile from(unsigned words) const { return {start + words}; }
    };
    [[nodiscard]] WgmmaTile wgmma_tile(const std::uint32_t* tile) const { return {tile}; }
    /// d += a · b of a warpgroup, 64×32 by 32×(2·words) digits, done at wgmma_wait. `step` chooses 32 of 64
    /// k. With g = lane / 4 and t = lane % 4 a lane of warp w holds of D numbers (16w + g, 8j + 2t), its
    /// right neighbour, and the same of row 16w + g + 8, one j after another (PTX ISA, wgmma.m64nNk32).
    template <unsigned words>
    void wgmma_s8(std::int32_t (&d)[words], WgmmaTile a, WgmmaTile b, unsigned step) const {
        begin_product(d, words, a.start, b.start, step);
    }
    void wgmma_begin() const {}
    void wgmma_commit() const;
    template <int n>
    void wgmma_wait() const {
        finish_products(n);
    }
    template <unsigned words>
    void wgmma_hold(std::int32_t (&)[words]) const {}
    void share_with_wgmma() const {}

    void copy4(void* to, const void* from, bool valid) const { copy(to, from, 4, valid); }
    void copy16(void* to, const void* from, bool valid) const { copy(to, from, 16, valid); }
    void commit_copies() const;
    template <int n>
    void wait_copies() const {
        finish_copies(n);
    }
    void atomic_min(unsigned* at, unsigned value) const;

private:
    template <class T>
    [[nodiscard]] T exchange(T value, unsigned from) const {
        static_assert(sizeof(T) == sizeof(std::uint32_t));
        LaneWords mine;
        mine.words[0] = std::bit_cast<std::uint32_t>(value);
        return std::bit_cast<T>(meet(WarpOperation::kShuffle, mine)[from].words[0]);
    }
    // Waits for the other lanes; what each of them brought, until this lane's next operation.
    [[nodiscard]] const LaneWords* meet(WarpOperation operation, const LaneWords& mine) const;
    [[nodiscard]] void* shared_memory() const;
    void copy(void* to, const void* from, unsigned bytes, bool valid) const;
    void finish_copies(unsigned but_last) const;
    void begin_product(std::int32_t* d, unsigned words, const std::uint32_t* a, const std::uint32_t* b,
                       unsigned step) const;
    void finish_products(unsigned but_last) const;

    BlockRunner& runner_;
    unsigned thread_;
    unsigned x_ = 0, y_ = 0, z_ = 0, grid_x_ = 1;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
