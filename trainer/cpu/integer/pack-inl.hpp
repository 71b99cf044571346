// SPDX-License-Identifier: Apache-2.0
// Packing: exponents of lanes, then 16-bit numbers of kUnit k at a time: of kL lanes, or of all lanes of a
// group where they lie side by side. They are read in the source's form, rows [lane][k] or lanes [pair of
// k][lane], and leave in the form that the side needs (A: rows, B: lanes). A transposition of 32-bit pairs
// turns one form into the other. emit_a and emit_b, which each way of multiplying defines, then write a unit.
// Included once per target inside its namespace: no guard.

static_assert(kL <= kMostVectorLanes && kMostVectorLanes % kL == 0 && kGroup % kMostVectorLanes == 0);

inline constexpr std::size_t kStrips = kGroup / kL;  // of kL lanes each, in a group
// Of lanes that lie side by side each k is a row of memory, maybe on a page of its own, so that the processor
// cannot guess the next. So many rows are fetched ahead, and no more: rows that are a power of two apart
// share sets of the caches. Those past the end are only hints.
inline constexpr std::uint64_t kRowsAhead = 16;
// Numbers that lie one behind the other are fetched a page ahead: a processor's own prefetchers stop at the
// end of one.
inline constexpr std::uint64_t kFloatsAhead = 1024, kLine = 16;

struct UnitBuffers {
    alignas(64) float source[kL * kUnit];
    alignas(64) std::int32_t rows[kL * kUnit / 2];            // kUnit numbers of 16 bits per lane
    alignas(64) std::int32_t lanes[kStrips][kUnit / 2 * kL];  // per pair of k, one pair per lane
    // The lower parts of 24-bit numbers, whose upper ones are above.
    alignas(64) std::int32_t lower_rows[kL * kUnit / 2];
    alignas(64) std::int32_t lower_lanes[kStrips][kUnit / 2 * kL];
};

// The largest magnitude of a lane whose numbers lie side by side.
inline std::uint32_t row_maximum(const float* row, std::uint64_t depth) {
    I most = set(0), more = set(0);
    std::uint64_t k = 0;
    for (; k + 2 * kL <= depth; k += 2 * kL) {
        for (std::size_t at = 0; at < 2 * kL; at += kLine) __builtin_prefetch(row + k + kFloatsAhead + at);
        most = max(most, magnitude(load_float(row + k)));
        more = max(more, magnitude(load_float(row + k + kL)));
    }
    auto result = static_cast<std::uint32_t>(largest(max(most, more)));
    for (; k < depth; ++k) {
        const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, row[k]) & 0x7fffffffU;
        result = bits > result ? bits : result;
    }
    return result;
}

// The largest magnitudes of kCount · kL lanes that lie side by side.
template <std::size_t kCount>
inline void column_maxima(const float* data, std::uint64_t k_stride, std::uint64_t depth,
                          std::int32_t* most) {
    I m[kCount];
#pragma GCC unroll 24
    for (std::size_t v = 0; v < kCount; ++v) m[v] = set(0);
    for (std::uint64_t k = 0; k < depth; ++k) {
#pragma GCC unroll 24
        for (std::size_t v = 0; v < kCount; ++v) {
            __builtin_prefetch(data + (k + kRowsAhead) * k_stride + v * kL);
            m[v] = max(m[v], magnitude(load_float(data + k * k_stride + v * kL)));
        }
    }
#pragma GCC unroll 24
    for (std::size_t v = 0; v < kCount; ++v) store(most + v * kL, m[v]);
}

// arithmetic::row_exponent of `lanes` <= kGroup lanes; `most` has room for whole vectors. No finite magnitude
// reaches the sign bit. A NaN does, but only in a step that has already diverged, whose numbers are
// meaningless.
inline void exponents_of_aligned(const std::int32_t* most, std::uint64_t lanes, int digits,
                                 std::uint64_t panel, std::int32_t* out) {
    const I offset = set(digits == 2 ? 0x10100 : 0x10101), base = set(digits == 2 ? 141 : 149);
    for (std::uint64_t i = 0; i < lanes; i += kL) {
        store(out + i, sub(max(set(1), shift_right<23>(add(load(most + i), offset))), base));
    }
    for (std::uint64_t i = lanes; i < (lanes + panel - 1) / panel * panel; ++i) {
        out[i] = arithmetic::row_exponent(0, digits);
    }
}
inline void exponents_of(const std::int32_t* maxima, std::uint64_t lanes, int digits, std::uint64_t panel,
                         std::int32_t* out) {
    alignas(64) std::int32_t most[kGroup] = {};
    __builtin_memcpy(most, maxima, lanes * sizeof(std::int32_t));
    exponents_of_aligned(most, lanes, digits, panel, out);
}

inline void exponents(const Slice& slice, int digits, std::uint64_t panel, std::int32_t* out) {
    alignas(64) std::int32_t most[kGroup] = {};
    std::uint64_t lane = 0;
    if (slice.k_stride == 1) {
        for (; lane < slice.lanes; ++lane) {
            most[lane] =
                static_cast<std::int32_t>(row_maximum(slice.data + lane * slice.lane_stride, slice.depth));
        }
    } else if (slice.lane_stride == 1) {
        if (slice.lanes == kGroup) {
            column_maxima<kStrips>(slice.data, slice.k_stride, slice.depth, most);
            lane = kGroup;
        }
        for (; lane + kL <= slice.lanes; lane += kL) {
            column_maxima<1>(slice.data + lane, slice.k_stride, slice.depth, most + lane);
        }
    }
    for (; lane < slice.lanes; ++lane) {
        const float* data = slice.data + lane * slice.lane_stride;
        for (std::uint64_t k = 0; k < slice.depth; ++k) {
            const auto bits = __builtin_bit_cast(std::int32_t, data[k * slice.k_stride]) & 0x7fffffff;
            most[lane] = bits > most[lane] ? bits : most[lane];
        }
    }
    exponents_of_aligned(most, slice.lanes, digits, panel, out);
}

// Of a 24-bit number.
inline I upper_of(I v) { return shift_right<kLowerBits>(add(v, set(1 << (kLowerBits - 1)))); }
inline I lower_of(I v) { return shift_right<32 - kLowerBits>(shift_left<32 - kLowerBits>(v)); }

// The largest power of two by which one multiplication can scale. Only lanes of tiny numbers need a larger
// one.
inline constexpr std::int32_t kMostOnce = 127;

template <bool kWide, bool kOnce>
inline void integers_of_row(const float* row, Power p, std::int32_t* out, std::int32_t* lower) {
    static_assert(kUnit % (2 * kL) == 0);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kUnit; k += 2 * kL) {
        const I x = to_integer<kOnce>(load_float(row + k), p);
        const I y = to_integer<kOnce>(load_float(row + k + kL), p);
        store_narrow(out + k / 2, kWide ? upper_of(x) : x, kWide ? upper_of(y) : y);
        if (kWide) store_narrow(lower + k / 2, lower_of(x), lower_of(y));
    }
}

template <bool kWide>
inline void integers_of_rows(const float* data, std::uint64_t lane_stride, const std::int32_t* exponents,
                             UnitBuffers& to) {
    for (std::size_t lane = 0; lane < kL; ++lane) {
        const Power p = power(set(-exponents[lane]));
        const auto row =
            -exponents[lane] <= kMostOnce ? integers_of_row<kWide, true> : integers_of_row<kWide, false>;
        const std::size_t at = lane * kUnit / 2;
        // The next unit: more rows than a processor follows by itself. Past the end it is only a hint.
        for (std::size_t k = 0; k < kUnit; k += 16) {
            __builtin_prefetch(data + lane * lane_stride + kUnit + k);
        }
        row(data + lane * lane_stride, p, to.rows + at, to.lower_rows + at);
    }
}

// `strips` strips of lanes that lie side by side, a row of memory at a time.
template <bool kWide, bool kOnce>
inline void integers_of_lanes(const float* data, std::uint64_t k_stride, std::size_t strips,
                              const Power* powers, UnitBuffers& to) {
    const I low = set(0xffff);
    const auto pair = [&](I x, I y) { return bit_or(bit_and(x, low), shift_left<16>(y)); };
    for (std::size_t k = 0; k < kUnit; k += 2) {
        const float* row = data + k * k_stride;
        for (std::size_t s = 0; s < strips; ++s, row += kL) {
            __builtin_prefetch(row + kRowsAhead * k_stride);
            __builtin_prefetch(row + (kRowsAhead + 1) * k_stride);
            const I even = to_integer<kOnce>(load_float(row), powers[s]);
            const I odd = to_integer<kOnce>(load_float(row + k_stride), powers[s]);
            store(to.lanes[s] + k / 2 * kL, kWide ? pair(upper_of(even), upper_of(odd)) : pair(even, odd));
            if (kWide) store(to.lower_lanes[s] + k / 2 * kL, pair(lower_of(even), lower_of(odd)));
        }
    }
}
template <bool kWide>
inline void integers_of_lanes(const float* data, std::uint64_t k_stride, std::size_t strips,
                              const std::int32_t* exponents, UnitBuffers& to) {
    Power powers[kStrips];
    I most = set(0);
    for (std::size_t s = 0; s < strips; ++s) {
        const I power_of = sub(set(0), load(exponents + s * kL));
        powers[s] = power(power_of);
        most = max(most, power_of);
    }
    const bool once = largest(most) <= kMostOnce;
    (once ? integers_of_lanes<kWide, true> : integers_of_lanes<kWide, false>)(data, k_stride, strips, powers,
                                                                              to);
}

inline void rows_to_lanes(const std::int32_t* rows, std::int32_t* lanes) {
    for (std::size_t t = 0; t < kUnit / 2; t += kL) transpose(rows + t, kUnit / 2, lanes + t * kL, kL);
}
inline void lanes_to_rows(const std::int32_t* lanes, std::int32_t* rows) {
    for (std::size_t t = 0; t < kUnit / 2; t += kL) transpose(lanes + t * kL, kL, rows + t, kUnit / 2);
}

enum class Form : std::uint8_t { kByRow, kByPair };

// kL lanes from `lane` on, k from `k` on, in the form `wanted`, as strip 0 of `to`.
template <bool kWide>
inline void integers(const Slice& slice, std::uint64_t lane, std::uint64_t k, const std::int32_t* exponents,
                     Form wanted, UnitBuffers& to) {
    const float* data = slice.data + lane * slice.lane_stride + k * slice.k_stride;
    const std::uint64_t lanes = slice.lanes > lane ? slice.lanes - lane : 0;
    const std::uint64_t depth = slice.depth - k;
    std::uint64_t lane_stride = slice.lane_stride;
    if (lanes < kL || depth < kUnit || slice.k_stride != 1) {
        __builtin_memset(to.source, 0, sizeof(to.source));
        for (std::uint64_t i = 0; i < lanes && i < kL; ++i) {
            for (std::uint64_t j = 0; j < depth && j < kUnit; ++j) {
                to.source[i * kUnit + j] = data[i * slice.lane_stride + j * slice.k_stride];
            }
        }
        data = to.source;
        lane_stride = kUnit;
    }
    integers_of_rows<kWide>(data, lane_stride, exponents, to);
    if (wanted == Form::kByPair) rows_to_lanes(to.rows, to.lanes[0]);
}

// Calls emit(lane, unit, strip) for every kL of `padded` lanes in every unit of k, in the order in which
// memory is read, when `to` has their numbers in the form `wanted`: its rows, or the lanes of that strip.
template <bool kWide, class Emit>
inline void for_each_strip(const Slice& slice, std::uint64_t padded, const std::int32_t* exponents,
                           Form wanted, UnitBuffers& to, const Emit& emit) {
    const std::uint64_t units = units_of(slice.depth);
    if (slice.k_stride == 1 || slice.lane_stride != 1) {
        for (std::uint64_t lane = 0; lane < padded; lane += kL) {
            for (std::uint64_t u = 0; u < units; ++u) {
                integers<kWide>(slice, lane, u * kUnit, exponents + lane, wanted, to);
                emit(lane, u, 0);
            }
        }
        return;
    }
    for (std::uint64_t u = 0; u < units; ++u) {
        const bool whole = slice.depth - u * kUnit >= kUnit;
        const std::size_t strips = whole ? slice.lanes / kL : 0;
        if (strips != 0) {
            integers_of_lanes<kWide>(slice.data + u * kUnit * slice.k_stride, slice.k_stride, strips,
                                     exponents, to);
        }
        for (std::size_t strip = 0; strip < strips; ++strip) {
            if (wanted == Form::kByRow) lanes_to_rows(to.lanes[strip], to.rows);
            if (kWide && wanted == Form::kByRow) lanes_to_rows(to.lower_lanes[strip], to.lower_rows);
            emit(strip * kL, u, strip);
        }
        for (std::uint64_t lane = strips * kL; lane < padded; lane += kL) {
            integers<kWide>(slice, lane, u * kUnit, exponents + lane, wanted, to);
            emit(lane, u, 0);
        }
    }
}

template <bool kWide>
inline void pack_rows(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                      std::byte* out, std::byte* lower) {
    UnitBuffers buffers;
    const std::uint64_t padded = (slice.lanes + kRows - 1) / kRows * kRows, units = units_of(slice.depth);
    alignas(64) std::int32_t scales[kGroup + kL] = {};
    for (std::uint64_t i = 0; i < padded; ++i) scales[i] = exponents[i];
    for_each_strip<kWide>(
        slice, padded, scales, Form::kByRow, buffers, [&](std::uint64_t lane, std::uint64_t u, std::size_t) {
            for (std::uint64_t i = 0; i < kL && lane + i < padded; ++i) {
                const std::uint64_t row = (lane + i) % kRows;
                const std::uint64_t panel = (lane + i) / kRows * panel_stride;
                if constexpr (kWide) {
                    emit_upper(buffers.rows + i * kUnit / 2, out + panel, units, u, row);
                    emit_lower(buffers.lower_rows + i * kUnit / 2, lower + panel, units, u, row);
                } else {
                    emit_a(buffers.rows + i * kUnit / 2, out + panel, units, u, row);
                }
            }
        });
}

inline void pack_a(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out, std::byte* lower) {
    if (lower == nullptr) {
        pack_rows<false>(slice, exponents, panel_stride, out, nullptr);
    } else {
        pack_rows<true>(slice, exponents, panel_stride, out, lower);
    }
}

inline void pack_b(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out) {
    static_assert(kCols % kL == 0);
    UnitBuffers buffers;
    const std::uint64_t padded = (slice.lanes + kCols - 1) / kCols * kCols, units = units_of(slice.depth);
    for_each_strip<false>(slice, padded, exponents, Form::kByPair, buffers,
                          [&](std::uint64_t lane, std::uint64_t u, std::size_t strip) {
                              std::byte* panel = out + lane / kCols * panel_stride;
                              emit_b(buffers.lanes[strip], panel, units, u, lane % kCols);
                          });
    for (std::uint64_t lane = 0; lane < padded; lane += kCols) {
        complete_b(out + lane / kCols * panel_stride, units);
    }
}

inline void exponents_a(const Slice& slice, int digits, std::int32_t* out) {
    exponents(slice, digits, kRows, out);
}
inline void exponents_b(const Slice& slice, int digits, std::int32_t* out) {
    exponents(slice, digits, kCols, out);
}
