// SPDX-License-Identifier: Apache-2.0
// The register tile of the matrix product and the packing of its operands. Included once per target inside
// its namespace: no guard.

#if HWY_TARGET == HWY_NEON
inline constexpr std::size_t kMr = 8;
#elif HWY_TARGET == HWY_AVX2
inline constexpr std::size_t kMr = 6;
#else
inline constexpr std::size_t kMr = 12;
#endif
inline constexpr std::size_t kNv = 2;  // vectors in a row of the tile
inline constexpr std::size_t kNr = kNv * kN;

// What a tile needs besides its operands. It belongs to one thread.
struct TileRun {
    std::size_t depth = 0;     // terms of the chain
    std::size_t a_stride = 0;  // rows of A: floats from one to the next; of packed A: from one k to the next
    std::size_t b_stride = kNr;  // rows of B
    std::size_t c_stride = 0;
    bool carry = false;           // continue the chain from what c holds
    bool last = false;            // this is the end of the chain: scale, bias, look for infinities and NaN
    float scale = 1.0F;           // at the end of the chain
    const float* bias = nullptr;  // of the tile's columns
};

// The tile's accumulators: registers, once everything below is inlined into tile().
template <std::size_t kRows>
using Sums = V[kRows][kNv];

template <std::size_t kRows>
HWY_INLINE void begin_sums(const TileRun& run, float* HWY_RESTRICT c, Sums<kRows>& sum) {
    const std::size_t c_stride = run.c_stride;
    if (run.carry) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            sum[i][0] = load(c + i * c_stride);
            sum[i][1] = load(c + i * c_stride + kN);
        }
    } else {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            sum[i][0] = hn::Zero(D());
            sum[i][1] = hn::Zero(D());
        }
    }
    // Prefetches the next tile's outputs.
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
        __builtin_prefetch(c + i * c_stride + kNr, 1);
        __builtin_prefetch(c + i * c_stride + 2 * kNr - 1, 1);
    }
}

// A packed: for each k the tile's rows.
template <std::size_t kRows>
HWY_INLINE void add_packed(const TileRun& run, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                           Sums<kRows>& sum) {
    const std::size_t b_stride = run.b_stride;
    const std::size_t a_stride = run.a_stride;
    for (std::size_t k = 0; k < run.depth; ++k) {
        const V b0 = load(b);
        const V b1 = load(b + kN);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            const V x = hn::Set(D(), a[i]);
            sum[i][0] = hn::MulAdd(x, b0, sum[i][0]);
            sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
        }
        a += a_stride;
        b += b_stride;
    }
}

// sum = x · y + sum, rounded once, in sum's own register. Without this GCC 12 renames the sums of the
// unrolled loop below and keeps some of them in memory. In the loop over packed A it keeps them in registers
// by itself.
HWY_INLINE void add_product(V x, V y, V& sum) {
#if HWY_ARCH_X86
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
#else
    sum = hn::MulAdd(x, y, sum);
#endif
}

// A as rows with k contiguous.
template <std::size_t kRows>
HWY_INLINE void add_rows(const TileRun& run, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                         Sums<kRows>& sum) {
    const std::size_t b_stride = run.b_stride;
    const std::size_t a_stride = run.a_stride;
    std::size_t k = 0;
    // Three rows to a pointer: addresses of the form base + 0, 1 or 2 strides are free.
    const float* a0 = a;
    const float* a3 = a + 3 * a_stride;
    const float* a6 = a + 6 * a_stride;
    const float* a9 = a + 9 * a_stride;
    for (; k + 4 <= run.depth; k += 4) {
#pragma GCC unroll 4
        for (std::size_t u = 0; u < 4; ++u) {
            const V b0 = load(b);
            const V b1 = load(b + kN);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < kRows; ++i) {
                const float* base = i < 3 ? a0 : i < 6 ? a3 : i < 9 ? a6 : a9;
                const V x = hn::Set(D(), base[i % 3 * a_stride + u]);
                add_product(x, b0, sum[i][0]);
                add_product(x, b1, sum[i][1]);
            }
            b += b_stride;
        }
        a0 += 4, a3 += 4, a6 += 4, a9 += 4;
    }
    for (; k < run.depth; ++k) {
        const V b0 = load(b);
        const V b1 = load(b + kN);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            const V x = hn::Set(D(), a[i * a_stride + k]);
            add_product(x, b0, sum[i][0]);
            add_product(x, b1, sum[i][1]);
        }
        b += b_stride;
    }
}

// The end of the chain: scale, bias, look for infinities and NaN.
template <std::size_t kRows>
HWY_INLINE void end_sums(const TileRun& run, Sums<kRows>& sum, FiniteWatch& watch) {
    if (run.scale != 1.0F) {
        const V scale = L::set(run.scale);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            sum[i][0] = hn::Mul(sum[i][0], scale);
            sum[i][1] = hn::Mul(sum[i][1], scale);
        }
    }
    if (run.bias != nullptr) {
        const V b0 = load(run.bias);
        const V b1 = load(run.bias + kN);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kRows; ++i) {
            sum[i][0] = hn::Add(sum[i][0], b0);
            sum[i][1] = hn::Add(sum[i][1], b1);
        }
    }
    FiniteWatch own;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
        own.see(sum[i][0]);
        own.see(sum[i][1]);
    }
    watch.add(own);
}

// Continues the chains of c (kRows × kNr) over run.depth terms of a and b.
template <std::size_t kRows, bool kPackedA>
HWY_NOINLINE void tile(const TileRun& run, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                       float* HWY_RESTRICT c, FiniteWatch& watch) {
    Sums<kRows> sum;
    begin_sums<kRows>(run, c, sum);
    if constexpr (kPackedA) {
        add_packed<kRows>(run, a, b, sum);
    } else {
        add_rows<kRows>(run, a, b, sum);
    }
    if (run.last) end_sums<kRows>(run, sum, watch);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
        store(sum[i][0], c + i * run.c_stride);
        store(sum[i][1], c + i * run.c_stride + kN);
    }
}

// The same for `rows` <= kMr rows, in smaller tiles if there are fewer.
template <bool kPackedA>
inline void tile_rows(const TileRun& run, std::size_t rows, const float* a, const float* b, float* c,
                      FiniteWatch& watch) {
    if (rows == kMr) return tile<kMr, kPackedA>(run, a, b, c, watch);
    const std::size_t step = kPackedA ? 1 : run.a_stride;
    std::size_t i = 0;
    if (kMr > 8 && rows >= 8) {
        tile<8, kPackedA>(run, a, b, c, watch);
        i = 8;
    }
    if (rows - i >= 4) {
        tile<4, kPackedA>(run, a + i * step, b, c + i * run.c_stride, watch);
        i += 4;
    }
    if (rows - i >= 2) {
        tile<2, kPackedA>(run, a + i * step, b, c + i * run.c_stride, watch);
        i += 2;
    }
    if (rows - i >= 1) tile<1, kPackedA>(run, a + i * step, b, c + i * run.c_stride, watch);
}

// The same for fewer columns than kNr, through a buffer. REQUIRES initialised numbers in B up to the full
// width.
template <bool kPackedA>
inline void tile_columns(const TileRun& run, std::size_t rows, std::size_t cols, const float* a,
                         const float* b, float* c, FiniteWatch& watch) {
    HWY_ALIGN float buffer[kMr * kNr] = {};
    HWY_ALIGN float bias[kNr] = {};
    TileRun own = run;
    own.c_stride = kNr;
    if (run.carry) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < cols; ++j) buffer[i * kNr + j] = c[i * run.c_stride + j];
        }
    }
    if (run.bias != nullptr) {
        for (std::size_t j = 0; j < cols; ++j) bias[j] = run.bias[j];
        own.bias = bias;
    }
    FiniteWatch beyond;  // columns that do not exist do not count
    tile_rows<kPackedA>(own, rows, a, b, buffer, beyond);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) c[i * run.c_stride + j] = buffer[i * kNr + j];
        if (run.last) watch_row(buffer + i * kNr, cols, watch);
    }
}

// Transposes a 4 × 4 block: out[k·out_stride + i] = in[i·in_stride + k].
HWY_INLINE void transpose_4x4(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
    using D4 = hn::Simd<float, 4, 0>;
    using D2 = hn::Repartition<double, D4>;
    const auto row = [&](std::size_t i) HWY_ATTR { return hn::LoadU(D4(), in + i * in_stride); };
    const auto put = [&](hn::Vec<D2> v, std::size_t k)
                         HWY_ATTR { hn::StoreU(hn::BitCast(D4(), v), D4(), out + k * out_stride); };
    const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
    const auto low01 = hn::BitCast(D2(), hn::InterleaveLower(D4(), r0, r1));
    const auto low23 = hn::BitCast(D2(), hn::InterleaveLower(D4(), r2, r3));
    const auto high01 = hn::BitCast(D2(), hn::InterleaveUpper(D4(), r0, r1));
    const auto high23 = hn::BitCast(D2(), hn::InterleaveUpper(D4(), r2, r3));
    put(hn::InterleaveLower(D2(), low01, low23), 0);
    put(hn::InterleaveUpper(D2(), low01, low23), 1);
    put(hn::InterleaveLower(D2(), high01, high23), 2);
    put(hn::InterleaveUpper(D2(), high01, high23), 3);
}

// Floats from one packed panel to the next. The additional cache line keeps panels that are written together
// out of each other's sets of the cache.
constexpr std::size_t panel_stride(std::size_t side, std::size_t depth) { return side * depth + 16; }

// Packs `count` lanes (rows of A or columns of B) over `depth` terms into panels of `side` lanes, a panel
// after the other: out[panel · panel_stride + k·side + lane], zero for lanes that do not exist.
template <std::size_t side>
inline void pack(const float* data, std::size_t lane_stride, std::size_t k_stride, std::size_t count,
                 std::size_t depth, float* out) {
    const std::size_t whole = count / side * side;
    const std::size_t stride = panel_stride(side, depth);
    if (lane_stride == 1) {
        constexpr std::size_t kAhead = 8;
        for (std::size_t k = 0; k < depth; ++k) {
            const float* source = data + k * k_stride;
            float* to = out + k * side;
            for (std::size_t i = 0; i < whole; i += side, to += stride) {
                // Rows lie pages apart, so no processor predicts the next one.
                __builtin_prefetch(source + kAhead * k_stride + i);
                __builtin_prefetch(source + kAhead * k_stride + i + side - 1);
                __builtin_memcpy(to, source + i, side * sizeof(float));
            }
        }
    } else if (k_stride == 1 && side % 4 == 0) {
        for (std::size_t i = 0; i < whole; i += side) {
            float* panel = out + i / side * stride;
            std::size_t k = 0;
            for (; k + 16 <= depth; k += 16) {  // a cache line of each lane
                for (std::size_t lane = 0; lane < side; lane += 4) {
                    for (std::size_t u = k; u < k + 16; u += 4) {
                        transpose_4x4(data + (i + lane) * lane_stride + u, lane_stride,
                                      panel + u * side + lane, side);
                    }
                }
            }
            for (; k < depth; ++k) {
                for (std::size_t lane = 0; lane < side; ++lane) {
                    panel[k * side + lane] = data[(i + lane) * lane_stride + k];
                }
            }
        }
    } else {
        for (std::size_t i = 0; i < whole; i += side) {
            for (std::size_t k = 0; k < depth; ++k) {
                for (std::size_t lane = 0; lane < side; ++lane) {
                    out[i / side * stride + k * side + lane] = data[(i + lane) * lane_stride + k * k_stride];
                }
            }
        }
    }
    if (whole == count) return;
    float* panel = out + whole / side * stride;
    for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t lane = 0; lane < side; ++lane) {
            panel[k * side + lane] =
                whole + lane < count ? data[(whole + lane) * lane_stride + k * k_stride] : 0.0F;
        }
    }
}
