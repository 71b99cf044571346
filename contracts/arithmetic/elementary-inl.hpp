// SPDX-License-Identifier: Apache-2.0
// The operation sequences of exp, tanh, sigmoid, log, sin and cos: the law, written once, over a set of
// lanes. The scalar definition (elementary.hpp) and every vector kernel include this same text, each inside
// its own namespace and under its own target flags; that is why it has no include guard, no namespace and no
// includes of its own.
//
// A lane set L is a class with types F (binary32 lanes), I (32-bit two's-complement lanes, arithmetic
// wraps), M (masks), and static functions, each one IEEE-754 operation rounded to nearest even:
//   F set(float)           I seti(int)
//   F add(F,F)  F sub(F,F)  F mul(F,F)  F div(F,F)  F sqrt(F)
//   F fma(F a, F b, F c)   a·b + c, one rounding
//   M less(F,F)            false when either is NaN
//   M lessi(I,I)           signed
//   F select(M, F yes, F no)    I selecti(M, I yes, I no)
//   I bits(F)   F from_bits(I)
//   I addi(I,I) I subi(I,I) I andi(I,I) I ori(I,I) I xori(I,I)
//   template <int n> I shl(I)   template <int n> I sar(I)   arithmetic right shift
//   F to_float(I)          exact for |i| < 2^24
//
// A file that includes this one may define ASSAY_SEQUENCE, which replaces `inline`: a compiler for GPUs must
// be told where a function may run.
//
// No table, no branch, no libm. Coefficients: S. L. Moshier, Cephes library, single precision
// (expf, tanhf, logf, sinf, cosf), evaluated by Horner's rule with fma. The largest errors are in
// elementary.hpp and measured at all 2^32 inputs by tests/exhaustive.

#ifndef ASSAY_SEQUENCE
#define ASSAY_SEQUENCE inline
#endif

/// The number p, in (1/2, 2), of e^x = p · 2^k. REQUIRES x in [-104, 89].
template <class L>
ASSAY_SEQUENCE typename L::F exp_significand(typename L::F x, typename L::I& k) {
    using F = typename L::F;
    // n = nearest integer of x / ln 2: adding 1.5·2^23 leaves it in the low bits.
    const F magic = L::set(12582912.0F);
    const F shifted = L::fma(x, L::set(1.44269504088896341F), magic);
    const F n = L::sub(shifted, magic);
    k = L::subi(L::bits(shifted), L::bits(magic));
    // r = x - n·ln 2, ln 2 = 0.693359375 - 2.12194440e-4 (the first has few bits: the product is exact).
    F r = L::fma(n, L::set(-0.693359375F), x);
    r = L::fma(n, L::set(2.12194440e-4F), r);
    F p = L::set(1.9875691500e-4F);
    p = L::fma(p, r, L::set(1.3981999507e-3F));
    p = L::fma(p, r, L::set(8.3334519073e-3F));
    p = L::fma(p, r, L::set(4.1665795894e-2F));
    p = L::fma(p, r, L::set(1.6666665459e-1F));
    p = L::fma(p, r, L::set(5.0000001201e-1F));
    p = L::fma(p, L::mul(r, r), r);
    return L::add(p, L::set(1.0F));
}

/// e^x. x is first brought into [-104, 89]: above, the result overflows to +Inf; below, it rounds to +0;
/// denormal results are rounded once. e^0 = 1 exactly. NaN gives +Inf (both end a step as diverged).
template <class L>
ASSAY_SEQUENCE typename L::F exp_sequence(typename L::F x) {
    using F = typename L::F;
    using I = typename L::I;
    x = L::select(L::less(x, L::set(89.0F)), x, L::set(89.0F));
    x = L::select(L::less(L::set(-104.0F), x), x, L::set(-104.0F));
    I k;
    const F p = exp_significand<L>(x, k);
    // p·2^k in two factors, so that each is a normal number; only the last product can round.
    const I half = L::template sar<1>(k);
    const I rest = L::subi(k, half);
    const F first = L::from_bits(L::template shl<23>(L::addi(half, L::seti(127))));
    const F second = L::from_bits(L::template shl<23>(L::addi(rest, L::seti(127))));
    return L::mul(L::mul(p, first), second);
}

/// tanh a by an odd polynomial. REQUIRES a in [0, 0.625) for a result that means something.
template <class L>
ASSAY_SEQUENCE typename L::F tanh_polynomial(typename L::F a) {
    using F = typename L::F;
    const F z = L::mul(a, a);
    F p = L::set(-5.70498872745e-3F);
    p = L::fma(p, z, L::set(2.06390887954e-2F));
    p = L::fma(p, z, L::set(-5.37397155531e-2F));
    p = L::fma(p, z, L::set(1.33314422036e-1F));
    p = L::fma(p, z, L::set(-3.33332819422e-1F));
    return L::fma(L::mul(p, z), a, a);
}

/// tanh x, odd to the bit, in [-1, 1]. Below |x| = 0.625 an odd polynomial, above 1 - 2/(e^(2|x|) + 1);
/// both are computed and one is selected.
template <class L>
ASSAY_SEQUENCE typename L::F tanh_sequence(typename L::F x) {
    using F = typename L::F;
    using I = typename L::I;
    const I sign = L::andi(L::bits(x), L::seti(static_cast<int>(0x80000000U)));
    const F a = L::from_bits(L::xori(L::bits(x), sign));
    const F small = tanh_polynomial<L>(a);
    const F e = exp_sequence<L>(L::add(a, a));
    const F large = L::sub(L::set(1.0F), L::div(L::set(2.0F), L::add(e, L::set(1.0F))));
    const F y = L::select(L::less(a, L::set(0.625F)), small, large);
    return L::from_bits(L::ori(L::bits(y), sign));
}

/// 1 / (1 + e^-x), in [0, 1]: with e = exp(-|x|), 1 / (1 + e) from zero upwards and e / (1 + e) below, so
/// that nothing overflows and small values keep their relative accuracy; sigmoid 0 = 0.5. A NaN gives 0.
template <class L>
ASSAY_SEQUENCE typename L::F sigmoid_sequence(typename L::F x) {
    using F = typename L::F;
    using I = typename L::I;
    const I sign = L::seti(static_cast<int>(0x80000000U));
    const F e = exp_sequence<L>(L::from_bits(L::ori(L::bits(x), sign)));
    const F one = L::set(1.0F);
    return L::div(L::select(L::less(x, L::set(0.0F)), e, one), L::add(one, e));
}

/// Slope of silu(x) = x · s, where s = sigmoid x: s · fma(x, 1 - s, 1).
template <class L>
ASSAY_SEQUENCE typename L::F silu_slope_sequence(typename L::F x, typename L::F s) {
    const typename L::F one = L::set(1.0F);
    return L::mul(s, L::fma(x, L::sub(one, s), one));
}

/// Natural logarithm of a positive normal finite x; log 1 = +0. The operators use it on [1, 2^24] (sums of
/// exponentials) and on [2^-24, 1] (uniform numbers); other inputs give bits that mean nothing.
template <class L>
ASSAY_SEQUENCE typename L::F log_sequence(typename L::F x) {
    using F = typename L::F;
    using I = typename L::I;
    // x = m·2^e with m in [sqrt(1/2), sqrt(2)): subtract the bits of sqrt(1/2) and keep the exponent.
    const I offset = L::subi(L::bits(x), L::seti(0x3f3504f3));
    const I e = L::template sar<23>(offset);
    const F m = L::from_bits(L::subi(L::bits(x), L::template shl<23>(e)));
    const F ef = L::to_float(e);
    const F f = L::sub(m, L::set(1.0F));
    const F z = L::mul(f, f);
    F p = L::set(7.0376836292e-2F);
    p = L::fma(p, f, L::set(-1.1514610310e-1F));
    p = L::fma(p, f, L::set(1.1676998740e-1F));
    p = L::fma(p, f, L::set(-1.2420140846e-1F));
    p = L::fma(p, f, L::set(1.4249322787e-1F));
    p = L::fma(p, f, L::set(-1.6668057665e-1F));
    p = L::fma(p, f, L::set(2.0000714765e-1F));
    p = L::fma(p, f, L::set(-2.4999993993e-1F));
    p = L::fma(p, f, L::set(3.3333331174e-1F));
    F y = L::mul(L::mul(p, f), z);
    y = L::fma(ef, L::set(-2.12194440e-4F), y);
    y = L::fma(z, L::set(-0.5F), y);
    y = L::add(f, y);
    return L::fma(ef, L::set(0.693359375F), y);
}

/// sin (quadrant_offset 0) or cos (1) of x in radians, |x| <= 8192; beyond, the bits mean nothing.
template <class L>
ASSAY_SEQUENCE typename L::F sin_cos_sequence(typename L::F x, int quadrant_offset) {
    using F = typename L::F;
    using I = typename L::I;
    using M = typename L::M;
    const F magic = L::set(12582912.0F);
    const F shifted = L::fma(x, L::set(0.636619772367581343F), magic);
    const F n = L::sub(shifted, magic);
    const I quadrant = L::addi(L::subi(L::bits(shifted), L::bits(magic)), L::seti(quadrant_offset));
    // r = x - n·pi/2, pi/2 in three parts; |r| <= pi/4.
    F r = L::fma(n, L::set(-1.5703125F), x);
    r = L::fma(n, L::set(-4.837512969970703125e-4F), r);
    r = L::fma(n, L::set(-7.54978995489188e-8F), r);
    const F z = L::mul(r, r);
    F s = L::set(-1.9515295891e-4F);
    s = L::fma(s, z, L::set(8.3321608736e-3F));
    s = L::fma(s, z, L::set(-1.6666654611e-1F));
    s = L::fma(L::mul(s, z), r, r);
    F c = L::set(2.443315711809948e-5F);
    c = L::fma(c, z, L::set(-1.388731625493765e-3F));
    c = L::fma(c, z, L::set(4.166664568298827e-2F));
    c = L::fma(L::mul(c, z), z, L::fma(z, L::set(-0.5F), L::set(1.0F)));
    const M odd = L::lessi(L::seti(0), L::andi(quadrant, L::seti(1)));
    const F y = L::select(odd, c, s);
    const I flip = L::template shl<30>(L::andi(quadrant, L::seti(2)));
    return L::from_bits(L::xori(L::bits(y), flip));
}

#undef ASSAY_SEQUENCE
