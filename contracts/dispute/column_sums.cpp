// SPDX-License-Identifier: Apache-2.0
// The laws of sums over tokens: for each sequence a chain from +0, and these sums for sequence after
// sequence.
#include <array>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/dispute/laws.hpp"

namespace assay::dispute {

namespace {
using namespace assay::arithmetic;
using Kind = program::OperatorKind;
using Out = std::span<float>;

// Adds tokens [first, first + count) of a sequence to its sums, token after token.
using AddTokens = void (*)(TileWork& w, std::uint64_t sequence, std::uint64_t first, std::uint64_t count,
                           Out sums);

struct ColumnSpec {
    AddTokens add = nullptr;
    void (*finish)(TileWork& w, Out tile) = nullptr;  // of the totals, in place; null: nothing
};

// For each sequence a partial a term, and a partial with the total so far. The last total is the tile.
class ColumnLaw final : public PartialLaw {
public:
    ColumnLaw(TileWork& work, const ColumnSpec& spec)
        : PartialLaw(work), spec_(spec), terms_(term_count(work.context())) {}
    [[nodiscard]] std::uint64_t partials() const override { return w.facts().sequences * (terms_ + 1); }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        if (partial + 1 == partials()) return {};
        const std::uint64_t term = partial % (terms_ + 1);
        return {term == terms_ ? PartialPhase::kTotals : PartialPhase::kChains, partial / (terms_ + 1),
                term == terms_ ? 0 : term};
    }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        const std::uint64_t sequence = partial / (terms_ + 1);
        const std::uint64_t term = partial % (terms_ + 1);
        if (term == terms_) return fill_total(partial, sequence, out.real);
        if (term > 0) out.real = w.reals(partial - 1, out.real.size());
        const std::uint64_t first = term * kTermLength;
        spec_.add(w, sequence, first, std::min(kTermLength, w.context() - first), out.real);
    }

private:
    void fill_total(std::uint64_t partial, std::uint64_t sequence, Out out) {
        const std::vector<float> sums = w.reals(partial - 1, out.size());
        const std::vector<float> before =
            sequence > 0 ? w.reals(partial - terms_ - 1, out.size()) : std::vector<float>(out.size(), 0.0F);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = before[i] + sums[i];
        if (partial + 1 == partials() && spec_.finish != nullptr) spec_.finish(w, out);
    }

    const ColumnSpec& spec_;
    std::uint64_t terms_;
};

template <const ColumnSpec& spec>
std::unique_ptr<PartialLaw> column_law(TileWork& work) {
    return std::make_unique<ColumnLaw>(work, spec);
}

// Rows of the tile's columns; a number of each row.
NumberBlock rows_of(TileWork& w, std::size_t operand, std::uint64_t sequence, std::uint64_t first,
                    std::uint64_t count) {
    return w.in(operand, sequence * w.context() + first, count, w.at().col, w.at().width);
}
NumberBlock column_of(TileWork& w, std::size_t operand, std::uint64_t sequence, std::uint64_t first,
                      std::uint64_t count) {
    return w.in(operand, sequence * w.context() + first, count, 0, 1);
}

void add_rows(const NumberBlock& rows, Out sums) {
    for (std::uint64_t t = 0; t < rows.rows; ++t) {
        for (std::uint64_t j = 0; j < rows.cols; ++j) sums[j] = sums[j] + rows.at(t, j);
    }
}

void add_first(TileWork& w, std::uint64_t sequence, std::uint64_t first, std::uint64_t count, Out sums) {
    add_rows(rows_of(w, 0, sequence, first, count), sums);
}

// Operands dy, x, mean, rstd; outputs dgain, dbias.
void add_layer_norm(TileWork& w, std::uint64_t sequence, std::uint64_t first, std::uint64_t count, Out sums) {
    const NumberBlock dy = rows_of(w, 0, sequence, first, count);
    if (w.output() == 1) return add_rows(dy, sums);
    const NumberBlock x = rows_of(w, 1, sequence, first, count);
    const NumberBlock mean = column_of(w, 2, sequence, first, count);
    const NumberBlock rstd = column_of(w, 3, sequence, first, count);
    for (std::uint64_t t = 0; t < count; ++t) {
        for (std::uint64_t j = 0; j < dy.cols; ++j) {
            const float normal = (x.at(t, j) - mean.values[t]) * rstd.values[t];
            sums[j] = fma32(dy.at(t, j), normal, sums[j]);
        }
    }
}

// Operands dy, x, rstd.
void add_rms_norm(TileWork& w, std::uint64_t sequence, std::uint64_t first, std::uint64_t count, Out sums) {
    const NumberBlock dy = rows_of(w, 0, sequence, first, count);
    const NumberBlock x = rows_of(w, 1, sequence, first, count);
    const NumberBlock rstd = column_of(w, 2, sequence, first, count);
    for (std::uint64_t t = 0; t < count; ++t) {
        for (std::uint64_t j = 0; j < dy.cols; ++j) {
            sums[j] = fma32(dy.at(t, j), x.at(t, j) * rstd.values[t], sums[j]);
        }
    }
}

// Rows of the tile are tokens of the vocabulary: each adds the rows of dx at which it stands. A token that a
// sequence does not have adds +0 to its total, which is never -0.
void add_occurrences(TileWork& w, std::uint64_t sequence, std::uint64_t first, std::uint64_t count,
                     Out sums) {
    const TileExtent& at = w.at();
    for (std::uint64_t t = first; t < first + count; ++t) {
        const std::uint64_t row = sequence * w.context() + t;
        const std::uint64_t token = w.input(row);
        if (token < at.row || token - at.row >= at.height) continue;
        const NumberBlock dx = w.in(1, row, 1, at.col, at.width);
        add_rows(dx, sums.subspan((token - at.row) * at.width, at.width));
    }
}

void finish_loss(TileWork& w, Out tile) { tile[0] = tile[0] * reciprocal(w.facts().tokens()); }

constexpr ColumnSpec kLayerNormGradient{add_layer_norm};
constexpr ColumnSpec kRmsNormGradient{add_rms_norm};
constexpr ColumnSpec kBiasGradient{add_first};
constexpr ColumnSpec kLossTotal{add_first, finish_loss};
constexpr ColumnSpec kTokenGradient{add_occurrences};

// Gradient of the positions: a row of dx of each sequence, sequence after sequence.
class PositionLaw final : public PartialLaw {
public:
    explicit PositionLaw(TileWork& work) : PartialLaw(work) {}
    [[nodiscard]] std::uint64_t partials() const override {
        return (w.facts().sequences + term() - 1) / term();
    }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        return partial + 1 == partials() ? PartialPlace{} : PartialPlace{PartialPhase::kTotals, 0, partial};
    }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        const TileExtent& at = w.at();
        if (partial > 0) out.real = w.reals(partial - 1, out.real.size());
        const std::uint64_t first = partial * term();
        const std::uint64_t last = std::min(first + term(), w.facts().sequences);
        for (std::uint64_t s = first; s < last; ++s) {
            const NumberBlock dx = w.in(1, s * w.context() + at.row, at.height, at.col, at.width);
            for (std::size_t i = 0; i < dx.values.size(); ++i) out.real[i] = out.real[i] + dx.values[i];
        }
    }

private:
    // 16 tokens of a sequence whose length is no multiple of 16 stand in two tiles.
    [[nodiscard]] std::uint64_t term() const { return w.context() % arithmetic::kTile == 0 ? 64 : 32; }
};

std::unique_ptr<PartialLaw> embedding_gradient(TileWork& work) {
    if (work.output() == 0) return column_law<kTokenGradient>(work);
    return std::make_unique<PositionLaw>(work);
}

constexpr std::array kColumnSumRows = {
    PartialRow{Kind::kLossTotal, column_law<kLossTotal>},
    PartialRow{Kind::kLayerNormParameterGradient, column_law<kLayerNormGradient>},
    PartialRow{Kind::kRmsNormParameterGradient, column_law<kRmsNormGradient>},
    PartialRow{Kind::kLinearBiasGradient, column_law<kBiasGradient>},
    PartialRow{Kind::kEmbeddingGradient, embedding_gradient},
};
}  // namespace

std::span<const PartialRow> column_sum_rows() { return kColumnSumRows; }

}  // namespace assay::dispute
