// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/integer/integer_products.hpp"

#include "trainer/cpu/integer/attention.hpp"
#include "trainer/cpu/integer/machines.hpp"
#include "trainer/cpu/integer/product.hpp"
#include "trainer/host/scratch.hpp"

namespace assay::trainer {

namespace {
using Floats = ProductKernels::Floats;
using View = ProductKernels::View;
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;

template <const integer::Machine& (*machine)()>
struct On {
    static bool product(const Product& p, ThreadPool& pool) { return integer::product(machine(), p, pool); }
    static std::uint64_t packed_b_bytes(const Product& p) { return integer::packed_b_bytes(machine(), p); }
    static void pack_b(const Product& p, ThreadPool& pool, std::byte* memory) {
        integer::pack_b(machine(), p, pool, memory);
    }
    static bool scores(HeadShape shape, HeadView q, HeadView k, Floats scores) {
        return integer::lower_products(machine(), shape, q, k, arithmetic::attention_scale(shape.head_dim),
                                       scores);
    }
    static bool lower(HeadShape shape, HeadView a, HeadView b, Floats out) {
        return integer::lower_products(machine(), shape, a, b, 1.0F, out);
    }
    static bool rows(HeadShape shape, View m, HeadView x, HeadOut out) {
        return integer::rows_times(machine(), shape, m, x, out);
    }
    static bool columns(HeadShape shape, View m, HeadView x, HeadOut out, ChainStart start) {
        return integer::columns_times(machine(), shape, m, x, out, start);
    }
    static bool prepare(HeadShape shape) {
        return prepare_attention_scratch(integer::attention_scratch_bytes(machine(), shape));
    }
    static std::uint64_t bytes(HeadShape shape) {
        return Scratch::size_for(integer::attention_scratch_bytes(machine(), shape));
    }
    static constexpr ProductKernels kTable = {
        .product = product,
        .packed_b_bytes = packed_b_bytes,
        .pack_b = pack_b,
        .attention_scores = scores,
        .attention_values = rows,
        .attention_probability_gradient = lower,
        .attention_query_gradient = rows,
        .attention_key_gradient = columns,
        .attention_value_gradient = columns,
        .prepare_thread = prepare,
        .thread_bytes = bytes,
    };
};

struct TargetProducts {
    const ProductKernels& table;
    const integer::Machine& machine;
};

template <const integer::Machine& (*machine)()>
TargetProducts entry() {
    return {On<machine>::kTable, machine()};
}

TargetProducts entry_of(Target target) {
    switch (target) {
#if defined(__aarch64__)
        case Target::kNeon:
            return integer::has_dot_products() ? entry<integer::neon_dot_machine>()
                                               : entry<integer::neon_machine>();
#elif defined(__x86_64__)
        case Target::kAvx2: return entry<integer::avx2_machine>();
        case Target::kAvxVnni: return entry<integer::avx_vnni_machine>();
        case Target::kAvx512: return entry<integer::avx512_machine>();
        case Target::kVnni:
            return integer::prefers_runs() ? entry<integer::vnni_runs_machine>()
                                           : entry<integer::vnni_bytes_machine>();
        case Target::kAmx: return entry<integer::amx_machine>();
#endif
        default: return entry<integer::plain_machine>();
    }
}
}  // namespace

const ProductKernels& integer_products(Target target) { return entry_of(target).table; }

std::uint64_t integer_scratch_bytes(Target target, const Product& p, std::uint64_t threads,
                                    integer::PackedB packed) {
    return Scratch::size_for(integer::product_scratch_bytes(entry_of(target).machine, p, threads, packed));
}

}  // namespace assay::trainer
