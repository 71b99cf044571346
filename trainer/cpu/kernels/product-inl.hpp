// SPDX-License-Identifier: Apache-2.0
// The matrix product, after BLIS (Van Zee & van de Geijn, "BLIS: a framework for rapidly instantiating BLAS
// functionality", TOMS 2015). A packed block of B stays in the nearer caches while rows of A stream past it.
// A panel of A is multiplied by one panel of B after the other, so that C is written along its rows. It is
// not packed if its k is contiguous and its rows do not collide in the cache. The loop over k goes in blocks;
// each block after the first loads the tile back from C, so every output stays one chain over k. Threads take
// blocks of columns (blocks of rows if there are few columns, or if there are more rows and they are packed).
// They share nothing, so none waits. Included once per target inside its namespace: no guard.

// Terms and columns in a block of B. A is read, and packed, again for each block of columns, so a block has
// many columns, even if it is then larger than the second cache: its panels are read in order, so the
// processor prefetches them. Blocks of k are few and even, since each after the first loads all of C and
// stores it.
struct BlockShape {
    std::size_t depth;
    std::size_t cols;
};
inline constexpr std::size_t kDepth = 768;
inline constexpr std::size_t kCols = 512;
constexpr BlockShape block_shape(bool pack_a, std::size_t k) {
    const std::size_t most = pack_a ? kDepth / 2 : kDepth;
    const std::size_t blocks = k == 0 ? 1 : (k + most - 1) / most;
    const std::size_t depth = ((k + blocks - 1) / blocks + 15) / 16 * 16;  // whole cache lines of A
    return {depth, pack_a ? kCols * 2 : kCols};
}
// Rows of A that are packed at a time: one panel, which stays in the first cache, if they are contiguous;
// else several, so that whole cache lines are read.
inline constexpr std::size_t kMc = 16 * kMr;
inline std::size_t rows_at_a_time(const Product& p) { return p.a.col_stride == 1 ? kMr : kMc; }

// Rows of A a whole number of pages apart have all their cache lines in one set of the first cache, which has
// 8 to 12 ways, fewer when another program shares the core. Tiles of few rows leave room in it.
inline bool packs_a(const Product& p) {
    constexpr std::size_t kPage = 4096 / sizeof(float);
    constexpr bool kFills = kMr > 8;
    return p.a.col_stride != 1 || (kFills && p.a.row_stride % kPage == 0);
}

struct PackBuffers {
    alignas(64) float a[kMc / kMr * panel_stride(kMr, kDepth / 2)];
    alignas(64) float b[2 * kCols / kNr * panel_stride(kNr, kDepth / 2)];
};
static_assert(kCols / kNr * panel_stride(kNr, kDepth) <= sizeof(PackBuffers::b) / sizeof(float));
static_assert(kDepth / 2 % 16 == 0);  // no depth of block_shape() is rounded up beyond what is meant

inline PackBuffers& pack_buffers() {
    return *reinterpret_cast<PackBuffers*>(product_scratch().take(sizeof(PackBuffers)));
}

inline bool prepare_thread(arithmetic::HeadShape) {
    try {
        pack_buffers();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}
inline std::uint64_t thread_bytes(arithmetic::HeadShape) { return Scratch::size_for(sizeof(PackBuffers)); }

// Prefetches part `part` of `parts` of the next panel's rows of A into the second cache; the first is full of
// the current panel. No row begins where the last one ended, so no processor prefetches it by itself, and the
// first tile of every panel would wait.
inline void fetch_rows(const float* a, std::size_t stride, std::size_t depth, std::size_t part,
                       std::size_t parts) {
    constexpr std::size_t kLine = 64 / sizeof(float);
    constexpr int kRead = 0, kSecondCache = 2;
    const std::size_t lines = (depth + kLine - 1) / kLine;
    const std::size_t first = part * lines / parts, last = (part + 1) * lines / parts;
    for (std::size_t i = 0; i < kMr; ++i) {
        for (std::size_t line = first; line < last; ++line) {
            __builtin_prefetch(a + i * stride + line * kLine, kRead, kSecondCache);
        }
    }
}

template <bool kPackedA>
inline void row_panels(const Product& p, TileRun run, const PackBuffers& packed, std::size_t i0,
                       std::size_t rows, std::size_t j0, std::size_t cols, std::size_t k0,
                       FiniteWatch& watch) {
    for (std::size_t i = 0; i < rows; i += kMr) {
        const std::size_t height = rows - i < kMr ? rows - i : kMr;
        const float* a = kPackedA ? packed.a + i / kMr * panel_stride(kMr, run.depth)
                                  : p.a.data + (i0 + i) * p.a.row_stride + k0;
        const bool fetches = p.a.col_stride == 1 && i0 + i + 2 * kMr <= p.m;
        const float* next = fetches ? p.a.data + (i0 + i + kMr) * p.a.row_stride + k0 : nullptr;
        for (std::size_t j = 0; j < cols; j += kNr) {
            const float* b = packed.b + j / kNr * panel_stride(kNr, run.depth);
            float* c = p.c + (i0 + i) * p.c_stride + j0 + j;
            if (p.bias != nullptr) run.bias = p.bias + j0 + j;
            if (fetches) fetch_rows(next, p.a.row_stride, run.depth, j / kNr, (cols + kNr - 1) / kNr);
            if (cols - j >= kNr) {
                tile_rows<kPackedA>(run, height, a, b, c, watch);
            } else {
                tile_columns<kPackedA>(run, height, cols - j, a, b, c, watch);
            }
        }
    }
}

// On the calling thread.
inline bool product_part(const Product& p) {
    PackBuffers& packed = pack_buffers();
    const bool pack_a = packs_a(p);
    const BlockShape block = block_shape(pack_a, p.k);
    FiniteWatch watch;
    for (std::size_t j0 = 0; j0 < p.n; j0 += block.cols) {
        const std::size_t cols = p.n - j0 < block.cols ? p.n - j0 : block.cols;
        std::size_t k0 = 0;
        do {  // once even if k is 0: c is then the chain's start
            TileRun run;
            run.depth = p.k - k0 < block.depth ? p.k - k0 : block.depth;
            run.a_stride = pack_a ? kMr : p.a.row_stride;
            run.c_stride = p.c_stride;
            run.carry = k0 > 0 || p.start == ChainStart::kCarry;
            run.last = k0 + run.depth == p.k;
            pack<kNr>(p.b.data + k0 * p.b.row_stride + j0 * p.b.col_stride, p.b.col_stride, p.b.row_stride,
                      cols, run.depth, packed.b);
            if (pack_a) {
                const std::size_t most = rows_at_a_time(p);
                for (std::size_t i0 = 0; i0 < p.m; i0 += most) {
                    const std::size_t rows = p.m - i0 < most ? p.m - i0 : most;
                    pack<kMr>(p.a.data + i0 * p.a.row_stride + k0 * p.a.col_stride, p.a.row_stride,
                              p.a.col_stride, rows, run.depth, packed.a);
                    row_panels<true>(p, run, packed, i0, rows, j0, cols, k0, watch);
                }
            } else {
                row_panels<false>(p, run, packed, 0, p.m, j0, cols, k0, watch);
            }
            k0 += block.depth;
        } while (k0 < p.k);
    }
    return watch.good();
}

// The length of equal shares of `count` for the threads: in as few rounds as possible, none longer than
// `most`.
inline std::size_t share_of(std::size_t count, std::size_t threads, std::size_t unit, std::size_t most) {
    const std::size_t rounds = (count + threads * most - 1) / (threads * most);
    const std::size_t share = (count + threads * rounds - 1) / (threads * rounds);
    return (share + unit - 1) / unit * unit;
}

inline bool product(const Product& p, ThreadPool& pool) {
    if (p.m == 0 || p.n == 0) return true;
    const std::size_t threads = pool.threads();
    if (threads == 1) return product_part(p);
    std::atomic<bool> good = true;
    // Threads with columns of their own each read all of A; that is expensive if each of them also packs it.
    const bool by_columns = p.n >= threads * 4 * kNr && (p.n >= p.m || !packs_a(p));
    if (by_columns) {
        const std::size_t share = share_of(p.n, threads, kNr, block_shape(packs_a(p), p.k).cols);
        pool.deal(p.n, share, [&](std::size_t first, std::size_t last) {
            Product part = p;
            part.n = last - first;
            part.b.data += first * p.b.col_stride;
            part.c += first;
            if (p.bias != nullptr) part.bias += first;
            if (!product_part(part)) good.store(false, std::memory_order_relaxed);
        });
    } else {
        pool.split(p.m, kMr, [&](std::size_t first, std::size_t last) {
            Product part = p;
            part.m = last - first;
            part.a.data += first * p.a.row_stride;
            part.c += first * p.c_stride;
            if (!product_part(part)) good.store(false, std::memory_order_relaxed);
        });
    }
    return good;
}
