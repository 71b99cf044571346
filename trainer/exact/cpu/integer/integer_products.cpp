// SPDX-License-Identifier: Apache-2.0
#include "trainer/exact/cpu/integer/integer_products.hpp"

#include "contracts/arithmetic/exact_attention.hpp"
#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "trainer/exact/cpu/integer/attention.hpp"
#include "trainer/exact/cpu/integer/machines.hpp"
#include "trainer/exact/cpu/integer/product.hpp"

namespace assay::trainer {

namespace {
namespace law = arithmetic::exact;
using Floats = ProductKernels::Floats;
using View = ProductKernels::View;
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;

bool finite_row(const float* row, std::uint64_t count) { return arithmetic::all_finite({row, count}); }

bool finite_rows(HeadShape shape, HeadOut out) {
    bool finite = true;
    for (std::uint64_t t = 0; t < shape.tokens; ++t) {
        finite = finite_row(out.data + t * out.stride, shape.head_dim) && finite;
    }
    return finite;
}

bool finite_lower(std::uint64_t tokens, View matrix) {
    bool finite = true;
    for (std::uint64_t i = 0; i < tokens; ++i)
        finite = finite_row(matrix.data() + i * tokens, i + 1) && finite;
    return finite;
}

bool law_product(const Product& p, ThreadPool&) {
    arithmetic::exact_product({p.m, p.n, p.k}, p.rule, p.a, p.b, p.start, p.c, p.c_stride);
    bool finite = true;
    for (std::uint64_t i = 0; i < p.m; ++i) {
        float* row = p.c + i * p.c_stride;
        for (std::uint64_t j = 0; p.bias != nullptr && j < p.n; ++j) row[j] = row[j] + p.bias[j];
        finite = finite_row(row, p.n) && finite;
    }
    return finite;
}

bool law_scores(HeadShape shape, HeadView q, HeadView k, Floats scores) {
    law::attention_scores(shape, q, k, scores);
    return finite_lower(shape.tokens, scores);
}
bool law_values(HeadShape shape, View p, HeadView v, HeadOut o) {
    law::attention_values(shape, p, v, o);
    return finite_rows(shape, o);
}
bool law_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, Floats dp) {
    law::attention_probability_gradient(shape, d_o, v, dp);
    return finite_lower(shape.tokens, dp);
}
bool law_query_gradient(HeadShape shape, View ds, HeadView k, HeadOut dq) {
    law::attention_query_gradient(shape, ds, k, dq);
    return finite_rows(shape, dq);
}
bool law_key_gradient(HeadShape shape, View ds, HeadView q, HeadOut dk, ChainStart start) {
    law::attention_key_gradient(shape, ds, q, dk, start);
    return finite_rows(shape, dk);
}
bool law_value_gradient(HeadShape shape, View p, HeadView d_o, HeadOut dv, ChainStart start) {
    law::attention_value_gradient(shape, p, d_o, dv, start);
    return finite_rows(shape, dv);
}

template <const integer::Machine& (*machine)()>
struct On {
    static bool product(const Product& p, ThreadPool& pool) { return integer::product(machine(), p, pool); }
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
    static constexpr ProductKernels kTable = {
        .product = product,
        .attention_scores = scores,
        .attention_values = rows,
        .attention_probability_gradient = lower,
        .attention_query_gradient = rows,
        .attention_key_gradient = columns,
        .attention_value_gradient = columns,
    };
};

const ProductKernels& law_table() {
    static const ProductKernels kernels = {
        .product = law_product,
        .attention_scores = law_scores,
        .attention_values = law_values,
        .attention_probability_gradient = law_probability_gradient,
        .attention_query_gradient = law_query_gradient,
        .attention_key_gradient = law_key_gradient,
        .attention_value_gradient = law_value_gradient,
    };
    return kernels;
}
}  // namespace

const ProductKernels& integer_products(Target target) {
#if defined(__x86_64__)
    if (target == Target::kVnni || target == Target::kAmx) return On<integer::vnni_machine>::kTable;
#endif
    static_cast<void>(target);
    return law_table();
}

std::uint64_t integer_scratch_bytes(Target target, const Product& p) {
#if defined(__x86_64__)
    if (target == Target::kVnni || target == Target::kAmx) {
        return integer::product_scratch_bytes(integer::vnni_machine(), p);
    }
#endif
    static_cast<void>(target), static_cast<void>(p);
    return 0;
}

}  // namespace assay::trainer
