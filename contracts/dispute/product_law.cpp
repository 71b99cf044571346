// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/product_law.hpp"

#include <bit>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/exact_product.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;
using base::Int128;

// Integer sums of a block stay far below it; a claimed one beyond is refused before it can overflow.
constexpr Int128 kSumEnd = Int128{1} << 60;

struct TermPlace {
    KRange k;                  // the term
    std::uint64_t term = 0;    // in its block
    std::uint64_t terms = 0;   // of its block
    std::uint64_t before = 0;  // partials before the block's first
    std::uint64_t block = 0;   // over all stretches
};

class ProductLaw : public PartialLaw {
public:
    ProductLaw(TileWork& work, const ProductSpec& spec)
        : PartialLaw(work),
          spec_(spec),
          stretches_(spec.stretches(work)),
          length_(spec.length(work)),
          parts_(spec.parts(work)),
          term_(term_length(work, spec, parts_.size())) {}

protected:
    // A part of a tile reads rows and columns of its own; numbers of heads and sequences that do not begin
    // where tiles do lie in twice as many.
    static std::uint64_t term_length(const TileWork& work, const ProductSpec& spec, std::size_t parts) {
        if (!spec.is_attention) return kTermLength;
        const bool is_ragged = work.context() % kTile != 0 || work.model().head_dim() % kTile != 0;
        const std::uint64_t share = kTermLength / (std::max<std::size_t>(1, parts) * (is_ragged ? 2 : 1));
        return std::max(kTile, share / kTile * kTile);
    }
    [[nodiscard]] std::uint64_t terms_of(std::uint64_t elements) const {
        return (elements + term_ - 1) / term_;
    }
    // The elements [first, last) of a stretch that row i of the tile takes part in.
    [[nodiscard]] Columns seen(std::uint64_t i) const {
        const std::uint64_t own = (w.at().row + i) % w.context();
        switch (spec_.seen) {
            case Seen::kUpToRow: return {0, own + 1};
            case Seen::kFromRow: return {own, length_};
            case Seen::kAll: break;
        }
        return {0, length_};
    }
    // Whether a row of the part takes part in an element of the range.
    [[nodiscard]] bool sees(const ProductPart& part, const KRange& k) const {
        for (std::uint64_t i = part.row; i < part.row + part.rows; ++i) {
            const Columns own = seen(i);
            if (own.first < k.end() && k.first < own.last) return true;
        }
        return false;
    }
    void finish(std::span<float> tile) const {
        if (spec_.finish != nullptr) spec_.finish(w, tile);
        for (std::uint64_t i = 0; spec_.lower_only && i < w.at().height; ++i) {
            const std::uint64_t own = (w.at().row + i) % w.context();
            for (std::uint64_t j = 0; j < w.at().width; ++j) {
                if (w.at().col + j > own) tile[i * w.at().width + j] = 0.0F;
            }
        }
    }

    const ProductSpec& spec_;
    std::uint64_t stretches_;
    std::uint64_t length_;
    std::vector<ProductPart> parts_;
    std::uint64_t term_;  // elements of a term
};

// Profile f32.
class ChainLaw final : public ProductLaw {
public:
    using ProductLaw::ProductLaw;
    [[nodiscard]] std::uint64_t partials() const override { return stretches_ * terms_of(length_); }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        if (partial + 1 == partials()) return {};
        return {PartialPhase::kChains, partial / terms_of(length_), partial % terms_of(length_)};
    }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        if (partial > 0) out.real = w.reals(partial - 1, out.real.size());
        const std::uint64_t first = partial % terms_of(length_) * term_;
        const KRange k{partial / terms_of(length_), first, std::min(term_, length_ - first)};
        for (const ProductPart& part : parts_) {
            if (!sees(part, k)) continue;
            const NumberBlock a = spec_.left(w, part, k);
            const NumberBlock b = spec_.right(w, part, k);
            for (std::uint64_t i = 0; i < part.rows; ++i) add_row(part, i, k, a, b, out.real);
        }
        if (partial + 1 == partials()) finish(out.real);
    }

private:
    void add_row(const ProductPart& part, std::uint64_t i, const KRange& k, const NumberBlock& a,
                 const NumberBlock& b, std::vector<float>& sums) const {
        const Columns own = seen(part.row + i);
        const std::uint64_t first = std::max(own.first, k.first);
        const std::uint64_t last = std::min(own.last, k.end());
        float* const row = sums.data() + (part.row + i) * w.at().width + part.col;
        for (std::uint64_t e = first; e < last; ++e) {
            const float left = a.at(i, e - k.first);
            const float* const right = b.values.data() + (e - k.first) * b.cols;
            for (std::uint64_t j = 0; j < part.cols; ++j) {
                row[j] = arithmetic::fma32(left, right[j], row[j]);
            }
        }
    }
};

// Profile i16.
class ExactLaw final : public ProductLaw {
public:
    ExactLaw(TileWork& work, const ProductSpec& spec)
        : ProductLaw(work, spec), block_(std::min(work.op().rule.block, length_)) {
        for (const ProductPart& part : parts_) maxima_ += part.rows + part.cols;
    }
    [[nodiscard]] std::uint64_t partials() const override { return stretches_ * partials_of_stretch(); }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        if (partial + 1 == partials()) return {};
        const TermPlace at = find(partial);
        return {phase(partial, at), at.block, at.term};
    }
    [[nodiscard]] CellShape shape(std::uint64_t partial) const override {
        switch (phase(partial, find(partial))) {
            case PartialPhase::kMaxima: return {CellKind::kReal, maxima_};
            case PartialPhase::kSums: return {CellKind::kWhole, w.numbers()};
            default: return tile_shape();
        }
    }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        const TermPlace at = find(partial);
        switch (phase(partial, at)) {
            case PartialPhase::kMaxima: return fill_maxima(at, out.real);
            case PartialPhase::kSums: return fill_sums(at, out.whole);
            default: fill_total(at, out.real);
        }
        if (partial + 1 == partials()) finish(out.real);
    }

private:
    [[nodiscard]] std::uint64_t partials_of_block(std::uint64_t count) const {
        return 2 * terms_of(count) + 1;
    }
    [[nodiscard]] std::uint64_t partials_of_stretch() const {
        const std::uint64_t rest = length_ % block_;
        return length_ / block_ * partials_of_block(block_) + (rest != 0 ? partials_of_block(rest) : 0);
    }
    // The block and term of a partial; of a total the last term.
    [[nodiscard]] TermPlace find(std::uint64_t partial) const {
        const std::uint64_t stretch = partial / partials_of_stretch();
        const std::uint64_t in_stretch = partial % partials_of_stretch();
        const std::uint64_t block = in_stretch / partials_of_block(block_);
        const std::uint64_t in_block = in_stretch % partials_of_block(block_);
        const std::uint64_t count = std::min(block_, length_ - block * block_);
        const std::uint64_t terms = terms_of(count);
        const std::uint64_t term = in_block == 2 * terms ? terms - 1 : in_block % terms;
        const std::uint64_t first = term * term_;
        const std::uint64_t blocks = (length_ + block_ - 1) / block_;
        return {{stretch, block * block_ + first, std::min(term_, count - first)},
                term,
                terms,
                partial - in_block,
                stretch * blocks + block};
    }
    [[nodiscard]] static PartialPhase phase(std::uint64_t partial, const TermPlace& at) {
        const std::uint64_t in_block = partial - at.before;
        if (in_block < at.terms) return PartialPhase::kMaxima;
        return in_block < 2 * at.terms ? PartialPhase::kSums : PartialPhase::kTotals;
    }
    // All of a term's block.
    [[nodiscard]] KRange block_of(const TermPlace& at) const {
        const std::uint64_t first = at.k.first / block_ * block_;
        return {at.k.stretch, first, std::min(block_, length_ - first)};
    }
    // The left operand with +0 where a row takes no part.
    NumberBlock masked_left(const ProductPart& part, const KRange& k) {
        NumberBlock out = spec_.left(w, part, k);
        for (std::uint64_t i = 0; i < part.rows; ++i) {
            const Columns own = seen(part.row + i);
            for (std::uint64_t e = 0; e < k.count; ++e) {
                if (k.first + e < own.first || k.first + e >= own.last) out.at(i, e) = 0.0F;
            }
        }
        return out;
    }
    [[nodiscard]] std::vector<float> maxima(const TermPlace& at, std::uint64_t term) {
        return w.reals(at.before + term, maxima_);
    }

    void fill_maxima(const TermPlace& at, std::vector<float>& out) {
        if (at.term > 0) out = maxima(at, at.term - 1);
        std::size_t next = 0;
        const auto raise = [](float& best, float x) {
            const float size = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7fffffffU);
            if (best < size) best = size;
        };
        for (const ProductPart& part : parts_) {
            const std::size_t first = next;
            next += part.rows + part.cols;
            if (!sees(part, block_of(at))) continue;
            const NumberBlock a = masked_left(part, at.k);
            const NumberBlock b = spec_.right(w, part, at.k);
            for (std::uint64_t i = 0; i < part.rows; ++i) {
                for (const float x : a.row(i)) raise(out[first + i], x);
            }
            for (std::uint64_t e = 0; e < at.k.count; ++e) {
                for (std::uint64_t j = 0; j < part.cols; ++j) raise(out[first + part.rows + j], b.at(e, j));
            }
        }
    }

    // The fixed-point form of x in a row whose largest magnitude is `maximum`.
    std::int32_t fixed(float x, float maximum, int digits) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
        const auto limit = std::bit_cast<std::uint32_t>(maximum);
        if (limit >= 0x7f800000U || bits > limit) {
            w.refuse(GameReason::kBeyondMaximum);
            return 0;
        }
        return arithmetic::quantise(x, arithmetic::row_exponent(limit, digits));
    }

    void fill_sums(const TermPlace& at, std::vector<Int128>& out) {
        const std::vector<float> largest = maxima(at, at.terms - 1);
        if (at.term > 0) out = w.wholes(at.before + at.terms + at.term - 1, out.size());
        for (Int128& sum : out) {
            if (sum >= kSumEnd || sum <= -kSumEnd) {
                w.refuse(GameReason::kOutOfRange);
                sum = 0;
            }
        }
        std::size_t next = 0;
        for (const ProductPart& part : parts_) {
            const float* const own = largest.data() + next;
            next += part.rows + part.cols;
            if (!sees(part, block_of(at))) continue;
            add_part(part, at.k, own, out);
        }
    }

    void add_part(const ProductPart& part, const KRange& k, const float* largest, std::vector<Int128>& out) {
        const NumberBlock a = masked_left(part, k);
        const NumberBlock b = spec_.right(w, part, k);
        std::vector<std::int32_t> columns(part.cols * k.count);
        for (std::uint64_t e = 0; e < k.count; ++e) {
            for (std::uint64_t j = 0; j < part.cols; ++j) {
                columns[j * k.count + e] = fixed(b.at(e, j), largest[part.rows + j], w.op().rule.b_digits);
            }
        }
        std::vector<std::int32_t> row(k.count);
        for (std::uint64_t i = 0; i < part.rows; ++i) {
            for (std::uint64_t e = 0; e < k.count; ++e) {
                row[e] = fixed(a.at(i, e), largest[i], w.op().rule.a_digits);
            }
            for (std::uint64_t j = 0; j < part.cols; ++j) {
                std::int64_t sum = 0;
                for (std::uint64_t e = 0; e < k.count; ++e) {
                    sum += std::int64_t{row[e]} * columns[j * k.count + e];
                }
                out[(part.row + i) * w.at().width + part.col + j] += sum;
            }
        }
    }

    void fill_total(const TermPlace& at, std::vector<float>& out) {
        const std::vector<float> largest = maxima(at, at.terms - 1);
        const std::vector<Int128> sums = w.wholes(at.before + 2 * at.terms - 1, out.size());
        if (at.before > 0) out = w.reals(at.before - 1, out.size());
        std::size_t next = 0;
        for (const ProductPart& part : parts_) {
            const float* const rows = largest.data() + next;
            const float* const cols = rows + part.rows;
            next += part.rows + part.cols;
            for (std::uint64_t i = 0; i < part.rows; ++i) {
                const std::int32_t left = exponent(rows[i], w.op().rule.a_digits);
                for (std::uint64_t j = 0; j < part.cols; ++j) {
                    const std::size_t at_tile = (part.row + i) * w.at().width + part.col + j;
                    const std::int32_t both = left + exponent(cols[j], w.op().rule.b_digits);
                    out[at_tile] =
                        out[at_tile] + arithmetic::finish(static_cast<std::int64_t>(sums[at_tile]), both);
                }
            }
        }
    }

    std::int32_t exponent(float maximum, int digits) {
        const auto bits = std::bit_cast<std::uint32_t>(maximum);
        if (bits < 0x7f800000U) return arithmetic::row_exponent(bits, digits);
        w.refuse(GameReason::kBeyondMaximum);
        return 0;
    }

    std::uint64_t block_;
    std::size_t maxima_ = 0;
};
}  // namespace

std::unique_ptr<PartialLaw> product_law(TileWork& work, const ProductSpec& spec) {
    if (work.exact()) return std::make_unique<ExactLaw>(work, spec);
    return std::make_unique<ChainLaw>(work, spec);
}

}  // namespace assay::dispute
