// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/integer/attention.hpp"

#include <algorithm>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/check.hpp"
#include "trainer/host/scratch.hpp"

namespace assay::trainer::integer {

namespace {
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;
constexpr std::uint64_t kTokens = arithmetic::kAttentionBlock;  // of a block
static_assert(kTokens % kUnit == 0);

std::uint64_t round_up(std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) / unit * unit; }

// Lanes × k of one operand in scratch memory; its blocks of k are packed one after the other.
struct Store {
    std::byte* data = nullptr;
    std::int32_t* exponents = nullptr;
    std::uint64_t panel = 0;
    std::uint64_t panel_bytes = 0;
    std::uint64_t room = 0;  // lanes, whole groups

    Store(std::byte* memory, std::uint64_t lanes, std::uint64_t panel_lanes, std::uint64_t bytes_of_panel,
          std::uint64_t blocks)
        : data(memory), panel(panel_lanes), panel_bytes(bytes_of_panel), room(round_up(lanes, kGroup)) {
        exponents = reinterpret_cast<std::int32_t*>(memory + blocks * block_bytes());
    }
    [[nodiscard]] std::uint64_t block_bytes() const { return room / panel * panel_bytes; }
    [[nodiscard]] std::uint64_t bytes(std::uint64_t blocks) const {
        return blocks * (block_bytes() + round_up(room * 4, kAlignment));
    }
    [[nodiscard]] Packed block(std::uint64_t index) const {
        return {data + index * block_bytes(),
                nullptr,
                exponents + index * room,
                panel_bytes,
                block_bytes(),
                room};
    }
    // Packs all lanes of a block, a group at a time.
    template <bool kSideA>
    void pack(const Machine& machine, Slice all, std::uint64_t index) const {
        for (std::uint64_t lane = 0; lane < all.lanes; lane += kGroup) {
            Slice slice = all;
            slice.data += lane * all.lane_stride;
            slice.lanes = std::min(kGroup, all.lanes - lane);
            std::int32_t* exponent = exponents + index * room + lane;
            std::byte* out = data + index * block_bytes() + lane / panel * panel_bytes;
            if constexpr (kSideA) {
                machine.exponents_a(slice, 2, exponent);
                machine.pack_a(slice, exponent, panel_bytes, out, nullptr);
            } else {
                machine.exponents_b(slice, 2, exponent);
                machine.pack_b(slice, exponent, panel_bytes, out);
            }
        }
    }
};

bool is_finite(float x) { return x - x == 0.0F; }

std::uint64_t blocks_of(std::uint64_t tokens) { return (tokens + kTokens - 1) / kTokens; }

// Packs x, whose rows are tokens, as operand B: columns are lanes, and blocks of tokens are blocks of k.
Store pack_tokens(const Machine& machine, HeadShape shape, HeadView x, std::byte* memory) {
    const std::uint64_t blocks = blocks_of(shape.tokens);
    const Store store(memory, shape.head_dim, machine.b_cols, machine.b_panel_bytes(kTokens), blocks);
    for (std::uint64_t b = 0; b < blocks; ++b) {
        const std::uint64_t first = b * kTokens;
        store.pack<false>(
            machine,
            {x.data + first * x.stride, 1, x.stride, shape.head_dim, std::min(kTokens, shape.tokens - first)},
            b);
    }
    return store;
}

std::uint64_t tokens_bytes(const Machine& machine, HeadShape shape) {
    const std::uint64_t blocks = blocks_of(shape.tokens);
    return Store(nullptr, shape.head_dim, machine.b_cols, machine.b_panel_bytes(kTokens), blocks)
        .bytes(blocks);
}

// A block of m is packed, multiplied and forgotten.
Store one_block(const Machine& machine, std::byte* memory) {
    return {memory, kTokens, machine.a_rows, machine.a_panel_bytes(kTokens), 1};
}

// A block on the diagonal without what the mask hides: rows × rows, a row kTokens floats apart
// from the next.
const float* masked(const float* m, std::uint64_t stride, std::uint64_t rows, float* out) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        std::copy_n(m + i * stride, i + 1, out + i * kTokens);
        std::fill(out + i * kTokens + i + 1, out + i * kTokens + rows, 0.0F);
    }
    return out;
}

enum class Turn : std::uint8_t { kAsItLies, kTransposed };

// A lower triangular m, or its transpose, times x, a block of kTokens × kTokens of m at a time.
class LowerTimes {
public:
    LowerTimes(const Machine& machine, HeadShape shape, std::span<const float> m, HeadView x,
               std::byte* memory)
        : machine_(machine),
          shape_(shape),
          m_(m),
          region_(memory),
          x_(pack_tokens(machine, shape, x, memory + machine.region_bytes)),
          block_(one_block(machine, memory + machine.region_bytes + tokens_bytes(machine, shape))) {
        ASSAY_CHECK(m.size() == shape.tokens * shape.tokens);
    }

    // out[i0…] = or += m[i0…, j0…] · x[j0…]; transposed, out[j0…] = or += m[i0…, j0…]ᵀ · x[i0…].
    bool block(std::uint64_t i0, std::uint64_t j0, Turn turn, HeadOut out, bool carry) {
        const bool turned = turn == Turn::kTransposed;
        const std::uint64_t rows = std::min(kTokens, shape_.tokens - i0);
        const std::uint64_t cols = std::min(kTokens, shape_.tokens - j0);
        const float* data = m_.data() + i0 * shape_.tokens + j0;
        std::uint64_t stride = shape_.tokens;
        if (i0 == j0) data = masked(data, stride, rows, diagonal_), stride = kTokens;
        const Slice slice = turned ? Slice{data, 1, stride, cols, rows} : Slice{data, stride, 1, rows, cols};
        block_.pack<true>(machine_, slice, 0);
        ProductTile product;
        product.a = block_.block(0);
        product.b = x_.block((turned ? i0 : j0) / kTokens);
        product.rows = slice.lanes;
        product.cols = shape_.head_dim;
        product.depth = slice.depth;
        product.last_depth = slice.depth;
        product.blocks = 1;
        product.c = out.data + (turned ? j0 : i0) * out.stride;
        product.c_stride = out.stride;
        product.region = region_;
        product.carry = carry;
        return machine_.multiply(product);
    }

private:
    const Machine& machine_;
    HeadShape shape_;
    std::span<const float> m_;
    std::byte* region_;
    Store x_;
    Store block_;
    alignas(64) float diagonal_[kTokens * kTokens];
};
}  // namespace

std::uint64_t attention_scratch_bytes(const Machine& machine, HeadShape shape) {
    if (shape.tokens == 0 || shape.head_dim == 0) return 0;
    const std::uint64_t of_rows =
        Store(nullptr, shape.tokens, machine.a_rows, machine.a_panel_bytes(shape.head_dim), 1).bytes(1) +
        Store(nullptr, shape.tokens, machine.b_cols, machine.b_panel_bytes(shape.head_dim), 1).bytes(1);
    return machine.region_bytes +
           std::max(of_rows, tokens_bytes(machine, shape) + one_block(machine, nullptr).bytes(1));
}

namespace {
std::byte* scratch(const Machine& machine, HeadShape shape) {
    ASSAY_CHECK(shape.head_dim > 0);
    return attention_scratch().take(attention_scratch_bytes(machine, shape));
}
}  // namespace

bool lower_products(const Machine& machine, HeadShape shape, HeadView a, HeadView b, float scale,
                    std::span<float> out) {
    const std::uint64_t tokens = shape.tokens;
    ASSAY_CHECK(out.size() == tokens * tokens && shape.head_dim <= arithmetic::kMaxProductBlock);
    std::byte* region = scratch(machine, shape);
    std::byte* memory = region + machine.region_bytes;
    const Store side_a(memory, tokens, machine.a_rows, machine.a_panel_bytes(shape.head_dim), 1);
    const Store side_b(memory + side_a.bytes(1), tokens, machine.b_cols,
                       machine.b_panel_bytes(shape.head_dim), 1);
    if (tokens == 0) return true;
    side_a.pack<true>(machine, {a.data, a.stride, 1, tokens, shape.head_dim}, 0);
    side_b.pack<false>(machine, {b.data, b.stride, 1, tokens, shape.head_dim}, 0);
    const std::uint64_t step = round_up(32, machine.a_rows);
    constexpr std::uint64_t kMostRows = 64, kMostCols = 128;
    ASSAY_CHECK(step <= kMostRows && step + machine.b_cols <= kMostCols);
    bool finite = true;
    for (std::uint64_t i0 = 0; i0 < tokens; i0 += step) {
        ProductTile x;
        x.a = side_a.block(0).from(i0, machine.a_rows);
        x.b = side_b.block(0);
        x.rows = std::min(step, tokens - i0);
        x.cols = i0 / machine.b_cols * machine.b_cols;  // all of these lie below the diagonal
        x.depth = shape.head_dim;
        x.last_depth = shape.head_dim;
        x.blocks = 1;
        x.c = out.data() + i0 * tokens;
        x.c_stride = tokens;
        x.scale = scale;
        x.region = region;
        const std::uint64_t below = x.cols;
        if (below > 0) finite = machine.multiply(x) && finite;
        // The rest goes through a buffer. Numbers above the diagonal do not count, even infinite ones.
        alignas(64) float buffer[kMostRows * kMostCols];
        x.b = x.b.from(below, machine.b_cols);
        x.cols = i0 + x.rows - below;
        x.c = buffer;
        x.c_stride = kMostCols;
        const bool all_finite = machine.multiply(x);
        for (std::uint64_t i = 0; i < x.rows; ++i) {
            const float* row = buffer + i * kMostCols;
            const std::uint64_t count = i0 + i + 1 - below;
            std::copy_n(row, count, out.data() + (i0 + i) * tokens + below);
            if (!all_finite) finite = finite && std::all_of(row, row + count, is_finite);
        }
    }
    return finite;
}

bool rows_times(const Machine& machine, HeadShape shape, std::span<const float> m, HeadView x, HeadOut out) {
    LowerTimes product(machine, shape, m, x, scratch(machine, shape));
    bool finite = true;
    for (std::uint64_t i0 = 0; i0 < shape.tokens; i0 += kTokens) {
        for (std::uint64_t j0 = 0; j0 <= i0; j0 += kTokens) {
            finite = product.block(i0, j0, Turn::kAsItLies, out, j0 > 0) && finite;
        }
    }
    return finite;
}

bool columns_times(const Machine& machine, HeadShape shape, std::span<const float> m, HeadView x, HeadOut out,
                   arithmetic::ChainStart start) {
    LowerTimes product(machine, shape, m, x, scratch(machine, shape));
    bool finite = true;
    for (std::uint64_t j0 = 0; j0 < shape.tokens; j0 += kTokens) {
        for (std::uint64_t i0 = j0; i0 < shape.tokens; i0 += kTokens) {
            const bool carry = start == arithmetic::ChainStart::kCarry || i0 > j0;
            finite = product.block(i0, j0, Turn::kTransposed, out, carry) && finite;
        }
    }
    return finite;
}

}  // namespace assay::trainer::integer
