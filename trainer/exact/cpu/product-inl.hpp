// SPDX-License-Identifier: Apache-2.0
// The matrix product, after BLIS (Van Zee & van de Geijn, "BLIS: a framework for rapidly instantiating BLAS
// functionality", TOMS 2015): panels of A and B packed along k, a register tile of kMr × kNr outputs, k in
// blocks. A k-block after the first loads the tile back from C, so every output stays one chain over k.
// Included once per target inside its namespace: no guard.

#if HWY_TARGET == HWY_NEON
inline constexpr std::size_t kMr = 8;
#elif HWY_TARGET == HWY_AVX2
inline constexpr std::size_t kMr = 6;
#else
inline constexpr std::size_t kMr = 12;
#endif
inline constexpr std::size_t kNv = 2;  // vectors in a row of the tile
inline constexpr std::size_t kNr = kNv * kN;
inline constexpr std::size_t kKc = 256;
inline constexpr std::size_t kMc = 8 * kMr;
inline constexpr std::size_t kNc = 512;

struct PackBuffers {
    alignas(64) float a[kMc * kKc];
    alignas(64) float b[kNc * kKc];
};

// out[k·side + i] = element (i, k) of the operand, zero for i >= count.
template <std::size_t side>
inline void pack_panel(const float* data, std::size_t lane_stride, std::size_t k_stride, std::size_t count,
                       std::size_t depth, float* out) {
    if (count < side) {
        for (std::size_t k = 0; k < depth; ++k) {
            for (std::size_t i = 0; i < side; ++i) {
                out[k * side + i] = i < count ? data[i * lane_stride + k * k_stride] : 0.0F;
            }
        }
    } else if (lane_stride == 1) {
        for (std::size_t k = 0; k < depth; ++k) {
            __builtin_memcpy(out + k * side, data + k * k_stride, side * sizeof(float));
        }
    } else {
        constexpr std::size_t kBlock = 16;  // one cache line of the source at a time
        for (std::size_t k0 = 0; k0 < depth; k0 += kBlock) {
            const std::size_t k1 = k0 + kBlock < depth ? k0 + kBlock : depth;
            for (std::size_t i = 0; i < side; ++i) {
                const float* source = data + i * lane_stride;
                for (std::size_t k = k0; k < k1; ++k) out[k * side + i] = source[k * k_stride];
            }
        }
    }
}

// One register tile: c (kMr × kNr, rows c_stride apart) goes on over `depth` terms of packed panels.
HWY_NOINLINE void tile(std::size_t depth, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                       float* HWY_RESTRICT c, std::size_t c_stride, ChainStart start) {
    V sum[kMr][kNv];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kMr; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kNv; ++v) {
            sum[i][v] = start == ChainStart::kZero ? hn::Zero(D()) : load(c + i * c_stride + v * kN);
        }
    }
    for (std::size_t k = 0; k < depth; ++k) {
        const V b0 = hn::Load(D(), b + k * kNr);
        const V b1 = hn::Load(D(), b + k * kNr + kN);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kMr; ++i) {
            const V x = hn::Set(D(), a[k * kMr + i]);
            sum[i][0] = hn::MulAdd(x, b0, sum[i][0]);
            sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kMr; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kNv; ++v) store(sum[i][v], c + i * c_stride + v * kN);
    }
}

// A tile at the border: through a buffer, of which only rows × cols are real.
inline void border_tile(std::size_t depth, const float* a, const float* b, float* c, std::size_t c_stride,
                        std::size_t rows, std::size_t cols, ChainStart start) {
    alignas(64) float buffer[kMr * kNr] = {};
    if (start == ChainStart::kCarry) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < cols; ++j) buffer[i * kNr + j] = c[i * c_stride + j];
        }
    }
    tile(depth, a, b, buffer, kNr, start);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) c[i * c_stride + j] = buffer[i * kNr + j];
    }
}

inline void block(const Product& p, const PackBuffers& packed, std::size_t i0, std::size_t rows,
                  std::size_t j0, std::size_t cols, std::size_t depth, ChainStart start) {
    for (std::size_t j = 0; j < cols; j += kNr) {
        const float* b = packed.b + (j / kNr) * kNr * depth;
        const std::size_t width = cols - j < kNr ? cols - j : kNr;
        for (std::size_t i = 0; i < rows; i += kMr) {
            const float* a = packed.a + (i / kMr) * kMr * depth;
            const std::size_t height = rows - i < kMr ? rows - i : kMr;
            float* c = p.c + (i0 + i) * p.c_stride + j0 + j;
            if (height == kMr && width == kNr) {
                tile(depth, a, b, c, p.c_stride, start);
            } else {
                border_tile(depth, a, b, c, p.c_stride, height, width, start);
            }
        }
    }
}

inline void product_part(const Product& p) {
    // On the heap: as thread-local storage it would come out of every thread's stack.
    static thread_local const std::unique_ptr<PackBuffers> buffers(new PackBuffers);
    PackBuffers& packed = *buffers;
    if (p.k == 0 && p.start == ChainStart::kZero) {
        for (std::size_t i = 0; i < p.m; ++i) {
            for (std::size_t j = 0; j < p.n; ++j) p.c[i * p.c_stride + j] = 0.0F;
        }
    }
    for (std::size_t j0 = 0; j0 < p.n; j0 += kNc) {
        const std::size_t cols = p.n - j0 < kNc ? p.n - j0 : kNc;
        for (std::size_t k0 = 0; k0 < p.k; k0 += kKc) {
            const std::size_t depth = p.k - k0 < kKc ? p.k - k0 : kKc;
            const ChainStart start = k0 == 0 ? p.start : ChainStart::kCarry;
            for (std::size_t j = 0; j < cols; j += kNr) {
                const std::size_t count = cols - j < kNr ? cols - j : kNr;
                pack_panel<kNr>(p.b.data + k0 * p.b.row_stride + (j0 + j) * p.b.col_stride, p.b.col_stride,
                                p.b.row_stride, count, depth, packed.b + (j / kNr) * kNr * depth);
            }
            for (std::size_t i0 = 0; i0 < p.m; i0 += kMc) {
                const std::size_t rows = p.m - i0 < kMc ? p.m - i0 : kMc;
                for (std::size_t i = 0; i < rows; i += kMr) {
                    const std::size_t count = rows - i < kMr ? rows - i : kMr;
                    pack_panel<kMr>(p.a.data + (i0 + i) * p.a.row_stride + k0 * p.a.col_stride,
                                    p.a.row_stride, p.a.col_stride, count, depth,
                                    packed.a + (i / kMr) * kMr * depth);
                }
                block(p, packed, i0, rows, j0, cols, depth, start);
            }
        }
    }
}

// Bias and the finite check, over what a thread has just written.
inline bool finish_part(const Product& p) {
    bool good = true;
    for (std::size_t i = 0; i < p.m; ++i) {
        float* row = p.c + i * p.c_stride;
        if (p.bias == nullptr) {
            Watch watch;
            watch_row(row, p.n, watch);
            good = watch.good() && good;
        } else {
            good = map2(p.n, row, p.bias, row, [](V x, V y) HWY_ATTR { return hn::Add(x, y); }) && good;
        }
    }
    return good;
}

inline bool product(const Product& p, ThreadPool& pool) {
    std::atomic<bool> good = true;
    const auto run = [&](const Product& part) {
        product_part(part);
        if (!finish_part(part)) good = false;
    };
    if (p.n >= p.m) {
        pool.split(p.n, 3 * kNr, [&](std::size_t first, std::size_t last) {
            Product part = p;
            part.n = last - first;
            part.b.data += first * p.b.col_stride;
            part.c += first;
            if (p.bias != nullptr) part.bias += first;
            run(part);
        });
    } else {
        pool.split(p.m, 2 * kMr, [&](std::size_t first, std::size_t last) {
            Product part = p;
            part.m = last - first;
            part.a.data += first * p.a.row_stride;
            part.c += first * p.c_stride;
            run(part);
        });
    }
    return good;
}
