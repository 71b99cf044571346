// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/integer/product.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cpu/integer/guard.hpp"
#include "trainer/host/scratch.hpp"

namespace assay::trainer::integer {

namespace {
constexpr std::uint64_t kTaskRows = 4 * kGroup;

std::uint64_t round_up(std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) / unit * unit; }
// Panels must not all start in the same sets of a cache.
std::uint64_t panel_stride(std::uint64_t bytes) { return bytes % 32768 == 0 ? bytes + 12288 + 64 : bytes; }
std::uint64_t groups_of(std::uint64_t lanes) { return (lanes + kGroup - 1) / kGroup; }

// One operand: how its slabs lie in memory, and where the current one is.
struct Side {
    MatrixView view;  // element (lane, k) is data[lane · row_stride + k · col_stride]
    std::uint64_t lanes = 0;
    std::uint64_t panel = 0;  // lanes of one
    std::uint64_t panel_bytes = 0;
    int digits = 2;
    bool is_a = false;
    std::uint64_t slab_lanes = 0;  // a multiple of kGroup, or all lanes
    std::uint64_t first = 0;       // of the current slab
    std::uint64_t count = 0;
    LaneMaxima maxima;  // of all lanes and blocks, if they are known
    std::byte* data = nullptr;
    std::byte* lower = nullptr;
    std::int32_t* exponents = nullptr;

    [[nodiscard]] std::uint64_t slab_groups() const { return groups_of(slab_lanes); }
    [[nodiscard]] std::uint64_t block_bytes() const { return (slab_lanes + panel - 1) / panel * panel_bytes; }
    [[nodiscard]] std::uint64_t parts() const { return digits == 3 ? 2 : 1; }
    [[nodiscard]] std::uint64_t exponent_stride() const { return slab_groups() * kGroup; }
    [[nodiscard]] std::uint64_t bytes(std::uint64_t blocks) const {
        return blocks * (parts() * block_bytes() + round_up(exponent_stride() * 4, kAlignment));
    }
    [[nodiscard]] std::uint64_t lane_bytes(std::uint64_t blocks) const {
        return std::max<std::uint64_t>(1, blocks * parts() * panel_bytes / panel);
    }
    void choose_slab(std::uint64_t limit, std::uint64_t blocks, std::uint64_t least_groups = 1) {
        const std::uint64_t most =
            std::max(kGroup * least_groups, limit / lane_bytes(blocks) / kGroup * kGroup);
        slab_lanes = std::min(lanes, most);
    }
    void place(std::byte* memory, std::uint64_t blocks) {
        data = memory;
        lower = parts() == 2 ? memory + blocks * block_bytes() : nullptr;
        exponents = reinterpret_cast<std::int32_t*>(memory + blocks * parts() * block_bytes());
    }
    void go_to(std::uint64_t lane) {
        first = lane;
        count = std::min(slab_lanes, lanes - lane);
    }
    [[nodiscard]] Packed packed() const {
        return {data, lower, exponents, panel_bytes, block_bytes(), exponent_stride()};
    }
    // Where place(memory, blocks) would put it; of two digits.
    [[nodiscard]] Packed packed_at(const std::byte* memory, std::uint64_t blocks) const {
        const auto* at = reinterpret_cast<const std::int32_t*>(memory + blocks * block_bytes());
        return {memory, nullptr, at, panel_bytes, block_bytes(), exponent_stride()};
    }
};

std::uint64_t block_of(const Product& p) { return std::min(p.rule.block, p.k); }
std::uint64_t blocks_of(const Product& p) { return (p.k + block_of(p) - 1) / block_of(p); }

Side side_b(const Machine& machine, const Product& p) {
    return {{p.b.data, p.b.col_stride, p.b.row_stride},
            p.n,
            machine.b_cols,
            machine.b_panel_bytes(block_of(p)),
            p.rule.b_digits,
            false};
}

// All of b in one slab.
Side whole_b(const Machine& machine, const Product& p) {
    Side side = side_b(machine, p);
    side.slab_lanes = side.lanes;
    return side;
}

struct ProductPlan {
    Side a, b;
    bool a_resident = false;
    std::uint64_t block = 0;        // k of one
    std::uint64_t slab_blocks = 0;  // blocks packed together
    PackedB packed = PackedB::kNo;
    [[nodiscard]] std::uint64_t bytes() const {
        return a.bytes(slab_blocks) + (packed == PackedB::kYes ? 0 : b.bytes(slab_blocks));
    }
};

ProductPlan plan_of(const Machine& machine, const Product& p, std::uint64_t threads, PackedB packed,
                    const Limits& limits) {
    ProductPlan plan;
    plan.packed = packed;
    plan.block = block_of(p);
    plan.slab_blocks = std::clamp<std::uint64_t>(limits.depth / round_up(plan.block, kUnit), 1, blocks_of(p));
    plan.a = {p.a, p.m, machine.a_rows, panel_stride(machine.a_panel_bytes(plan.block)), p.rule.a_digits,
              true};
    // Of the streamed operand's slab so many groups that the threads have two blocks of outputs each.
    const auto least_groups = [&](const Side& resident) {
        const std::uint64_t groups = resident.slab_groups();
        return threads == 1 ? 1 : (2 * threads + groups - 1) / groups;
    };
    if (packed == PackedB::kYes) {
        // a goes past all of b, packed once: fewer rows never take more memory than more rows do.
        plan.b = whole_b(machine, p);
        plan.a.choose_slab(limits.streamed_bytes, plan.slab_blocks, least_groups(plan.b));
        return plan;
    }
    plan.b = side_b(machine, p);
    const std::uint64_t a_bytes = plan.a.lanes * plan.a.lane_bytes(plan.slab_blocks);
    const std::uint64_t b_bytes = plan.b.lanes * plan.b.lane_bytes(plan.slab_blocks);
    // Every slab of the resident operand costs one packing of all of the other.
    plan.a_resident = a_bytes <= b_bytes;
    Side& resident = plan.a_resident ? plan.a : plan.b;
    Side& streamed = plan.a_resident ? plan.b : plan.a;
    resident.choose_slab(limits.resident_bytes, plan.slab_blocks);
    streamed.choose_slab(limits.streamed_bytes, plan.slab_blocks, least_groups(resident));
    return plan;
}

// The blocks [first, first + count) of k, `depth` each but the last.
struct Depths {
    std::uint64_t first_k = 0;
    std::uint64_t blocks = 0;
    std::uint64_t depth = 0;
    std::uint64_t last_depth = 0;
};

// Lanes of a task: a group, or fewer if there would be too few tasks for the threads.
std::uint64_t lanes_of_task(const Side& side, const Depths& depths, std::uint64_t threads) {
    if (threads == 1) return kGroup;
    const std::uint64_t unit = std::lcm(side.panel, kMostVectorLanes), wanted = 4 * threads;
    const std::uint64_t share = (side.count * depths.blocks + wanted - 1) / wanted;
    return std::min(kGroup, round_up(share, unit));
}

// One task: `step` lanes of a block. Tasks of neighbouring lanes follow one another, so that a thread packs
// what it will multiply.
void pack_lanes(const Machine& machine, const Side& side, const Depths& depths, std::uint64_t step,
                std::uint64_t task) {
    const std::uint64_t block = task % depths.blocks, lane = task / depths.blocks * step;
    const std::uint64_t depth = block + 1 == depths.blocks ? depths.last_depth : depths.depth;
    const float* data = side.view.data + (side.first + lane) * side.view.row_stride +
                        (depths.first_k + block * depths.depth) * side.view.col_stride;
    const Slice slice{data, side.view.row_stride, side.view.col_stride, std::min(step, side.count - lane),
                      depth};
    std::int32_t* exponents = side.exponents + block * side.exponent_stride() + lane;
    const std::uint64_t at = block * side.block_bytes() + lane / side.panel * side.panel_bytes;
    if (side.maxima.data != nullptr) {
        const std::uint64_t of_all = depths.first_k / depths.depth + block;
        machine.exponents_of(side.maxima.data + of_all * side.maxima.stride + side.first + lane, slice.lanes,
                             side.digits, side.panel, exponents);
    } else {
        (side.is_a ? machine.exponents_a : machine.exponents_b)(slice, side.digits, exponents);
    }
    if (!side.is_a) {
        machine.pack_b(slice, exponents, side.panel_bytes, side.data + at);
        return;
    }
    std::byte* lower = side.digits == 3 ? side.lower + at : nullptr;
    machine.pack_a(slice, exponents, side.panel_bytes, side.data + at, lower);
}

void pack(const Machine& machine, const Side& side, const Depths& depths, ThreadPool& pool) {
    const std::uint64_t step = lanes_of_task(side, depths, pool.threads());
    const std::uint64_t lanes = (side.count + step - 1) / step;
    pool.deal_tasks(lanes * depths.blocks,
                    [&](std::size_t, std::size_t task) { pack_lanes(machine, side, depths, step, task); });
}

// A region of sums for each thread that may have a task: none is smaller than a group of either side.
std::uint64_t regions_bytes(const Machine& machine, const Product& p, std::uint64_t threads) {
    return std::min(threads, groups_of(p.m) * groups_of(p.n)) * machine.region_bytes;
}

// Multiplies a tile whose first output is (row, col) of p, over the k from first_k on, and judges its sums.
bool multiply_judged(const Machine& machine, const Product& p, ProductTile tile, std::uint64_t row,
                     std::uint64_t col, std::uint64_t first_k) {
    ProductGuard& guard = *p.guard;
    tile.shown = {guard.sums(), guard.pick(groups_of(tile.rows)) * kGroup,
                  guard.pick(groups_of(tile.cols)) * kGroup, guard.pick(tile.blocks)};
    const bool finite = machine.multiply(tile);
    const ShownSums& shown = tile.shown;
    guard.judge(p, {row + shown.row, std::min(kGroup, tile.rows - shown.row), col + shown.col,
                    std::min(kGroup, tile.cols - shown.col), first_k + shown.block * tile.depth,
                    shown.block + 1 == tile.blocks ? tile.last_depth : tile.depth});
    return finite;
}

bool multiply(const Machine& machine, const Product& p, const ProductPlan& plan, const Packed& packed_b,
              const Depths& depths, ThreadPool& pool, std::byte* regions, bool judged) {
    const Side &a = plan.a, &b = plan.b;
    std::uint64_t rows = std::min(kTaskRows, round_up(a.count, kGroup));
    std::uint64_t cols = round_up(b.count, kGroup);
    const auto tasks = [&] { return (a.count + rows - 1) / rows * ((b.count + cols - 1) / cols); };
    while (pool.threads() > 1 && tasks() < 4 * pool.threads() && (cols > kGroup || rows > kGroup)) {
        std::uint64_t& side = cols > kGroup ? cols : rows;
        side = round_up(side / 2, kGroup);
    }
    const std::uint64_t across = (b.count + cols - 1) / cols;
    std::atomic<bool> finite = true;
    const Packed packed_a = a.packed();
    // Slots run at the same time, each with its region.
    const std::uint64_t all = tasks();
    const std::uint64_t to_judge = judged ? p.guard->pick(all) : all;
    pool.deal_tasks(all, [&](std::size_t slot, std::size_t task) {
        const std::uint64_t i = task / across * rows, j = task % across * cols;
        ProductTile block;
        block.a = packed_a.from(i, a.panel);
        block.b = packed_b.from(j, b.panel);
        block.rows = std::min(rows, a.count - i);
        block.cols = std::min(cols, b.count - j);
        block.depth = depths.depth;
        block.last_depth = depths.last_depth;
        block.blocks = depths.blocks;
        block.c = p.c + (a.first + i) * p.c_stride + b.first + j;
        block.c_stride = p.c_stride;
        block.region = regions + slot * machine.region_bytes;
        block.carry = p.start == ChainStart::kCarry || depths.first_k > 0;
        const bool last = depths.first_k + (depths.blocks - 1) * depths.depth + depths.last_depth == p.k;
        block.bias = p.bias == nullptr || !last ? nullptr : p.bias + b.first + j;
        const bool right = task == to_judge
                               ? multiply_judged(machine, p, block, a.first + i, b.first + j, depths.first_k)
                               : machine.multiply(block);
        if (!right) finite.store(false, std::memory_order_relaxed);
    });
    return finite;
}

// k = 0: the sum is what it starts from.
bool nothing_to_multiply(const Product& p) {
    bool finite = true;
    for (std::uint64_t i = 0; i < p.m; ++i) {
        for (std::uint64_t j = 0; j < p.n; ++j) {
            float& c = p.c[i * p.c_stride + j];
            if (p.start == ChainStart::kZero) c = 0.0F;
            if (p.bias != nullptr) c = c + p.bias[j];
            finite = finite && c - c == 0.0F;
        }
    }
    return finite;
}
}  // namespace

std::uint64_t product_scratch_bytes(const Machine& machine, const Product& p, std::uint64_t threads,
                                    PackedB packed, const Limits& limits) {
    if (p.m == 0 || p.n == 0 || p.k == 0) return 0;
    return regions_bytes(machine, p, threads) + plan_of(machine, p, threads, packed, limits).bytes();
}

std::uint64_t packed_b_bytes(const Machine& machine, const Product& p) {
    return p.n == 0 || p.k == 0 ? 0 : whole_b(machine, p).bytes(blocks_of(p));
}

void pack_b(const Machine& machine, const Product& p, ThreadPool& pool, std::byte* memory) {
    if (p.n == 0 || p.k == 0) return;
    Side side = whole_b(machine, p);
    side.maxima = p.b_maxima;
    const std::uint64_t blocks = blocks_of(p);
    side.place(memory, blocks);
    side.go_to(0);
    pack(machine, side, {0, blocks, block_of(p), p.k - (blocks - 1) * block_of(p)}, pool);
}

namespace {
bool whole_product(const Machine& machine, const Product& p, ThreadPool& pool, const Limits& limits,
                   bool judged) {
    ASSAY_CHECK(p.rule.block >= 1 && p.rule.block <= arithmetic::kMaxProductBlock);
    ASSAY_CHECK((p.rule.a_digits == 2 || p.rule.a_digits == 3) && p.rule.b_digits == 2);
    const bool b_is_packed = p.packed_b != nullptr;
    ProductPlan plan =
        plan_of(machine, p, pool.threads(), b_is_packed ? PackedB::kYes : PackedB::kNo, limits);
    plan.a.maxima = p.a_maxima;
    plan.b.maxima = p.b_maxima;
    const std::uint64_t of_regions = regions_bytes(machine, p, pool.threads());
    std::byte* regions = product_scratch().take(of_regions + plan.bytes());
    std::byte* memory = regions + of_regions;
    plan.a.place(memory, plan.slab_blocks);
    if (!b_is_packed) plan.b.place(memory + plan.a.bytes(plan.slab_blocks), plan.slab_blocks);
    const Packed whole = b_is_packed ? whole_b(machine, p).packed_at(p.packed_b, blocks_of(p)) : Packed{};
    const auto is_packed_here = [&](const Side& side) { return side.is_a || !b_is_packed; };
    Side& resident = plan.a_resident ? plan.a : plan.b;
    Side& streamed = plan.a_resident ? plan.b : plan.a;
    // Of the pairs of slabs one is judged.
    const auto slabs = [](const Side& side) { return (side.lanes + side.slab_lanes - 1) / side.slab_lanes; };
    const std::uint64_t stretch = plan.slab_blocks * plan.block;
    const std::uint64_t pairs = slabs(resident) * slabs(streamed) * ((p.k + stretch - 1) / stretch);
    std::uint64_t until_judged = judged ? p.guard->pick(pairs) : pairs;
    bool finite = true;
    for (std::uint64_t k = 0; k < p.k; k += plan.slab_blocks * plan.block) {
        const std::uint64_t all = std::min(plan.slab_blocks * plan.block, p.k - k);
        const std::uint64_t blocks = (all + plan.block - 1) / plan.block;
        const Depths depths{k, blocks, plan.block, all - (blocks - 1) * plan.block};
        for (std::uint64_t r = 0; r < resident.lanes; r += resident.slab_lanes) {
            resident.go_to(r);
            for (std::uint64_t s = 0; s < streamed.lanes; s += streamed.slab_lanes) {
                streamed.go_to(s);
                if (s == 0 && is_packed_here(resident)) pack(machine, resident, depths, pool);
                if (is_packed_here(streamed)) pack(machine, streamed, depths, pool);
                const Packed b = b_is_packed ? whole.from(plan.b.first, plan.b.panel).at_block(k / plan.block)
                                             : plan.b.packed();
                finite = multiply(machine, p, plan, b, depths, pool, regions, until_judged-- == 0) && finite;
            }
        }
    }
    return finite;
}
}  // namespace

bool product(const Machine& machine, const Product& p, ThreadPool& pool, const Limits& limits) {
    if (p.m == 0 || p.n == 0 || p.k == 0) return nothing_to_multiply(p);
    if (p.guard == nullptr) return whole_product(machine, p, pool, limits, false);
    const auto start = std::chrono::steady_clock::now();
    const bool finite = whole_product(machine, p, pool, limits, p.guard->is_due());
    p.guard->took(std::chrono::steady_clock::now() - start);
    return finite;
}

}  // namespace assay::trainer::integer
