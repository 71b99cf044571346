// SPDX-License-Identifier: Apache-2.0
// The products of a program: which operand gives rows and columns, and along what k runs.
#include <array>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/dispute/product_law.hpp"

namespace assay::dispute {

namespace {
using Kind = program::OperatorKind;
using ProductParts = std::vector<ProductPart>;

std::uint64_t one(const TileWork&) { return 1; }
std::uint64_t sequences(const TileWork& w) { return w.facts().sequences; }
std::uint64_t context(const TileWork& w) { return w.context(); }
std::uint64_t first_cols(const TileWork& w) { return w.cols(0); }
std::uint64_t head_dim(const TileWork& w) { return w.model().head_dim(); }
std::uint64_t sharing(const TileWork& w) { return w.model().heads / w.model().key_value_heads(); }

ProductParts whole(const TileWork& w) { return {{0, w.at().height, 0, w.at().width, 0, 0}}; }

NumberBlock transposed(const NumberBlock& x) {
    NumberBlock out(x.cols, x.rows);
    for (std::uint64_t i = 0; i < x.rows; ++i) {
        for (std::uint64_t j = 0; j < x.cols; ++j) out.at(j, i) = x.at(i, j);
    }
    return out;
}

// Rows of an operand as they lie; k along its columns.
NumberBlock first_rows(TileWork& w, const ProductPart&, const KRange& k) {
    return w.in(0, w.at().row, w.at().height, k.first, k.count);
}
// A weight [k, out] or [out, k].
NumberBlock k_rows(TileWork& w, const ProductPart&, const KRange& k) {
    return w.in(1, k.first, k.count, w.at().col, w.at().width);
}
NumberBlock k_columns(TileWork& w, const ProductPart&, const KRange& k) {
    return transposed(w.in(1, w.at().col, w.at().width, k.first, k.count));
}
bool is_in_out(const TileWork& w) { return w.op().layout == program::WeightLayout::kInOut; }
NumberBlock forward_weight(TileWork& w, const ProductPart& part, const KRange& k) {
    return is_in_out(w) ? k_rows(w, part, k) : k_columns(w, part, k);
}
NumberBlock backward_weight(TileWork& w, const ProductPart& part, const KRange& k) {
    return is_in_out(w) ? k_columns(w, part, k) : k_rows(w, part, k);
}
void add_bias_row(TileWork& w, std::span<float> tile) {
    if (w.op().operands.size() < 3) return;
    const NumberBlock bias = w.vector(2);
    for (std::uint64_t i = 0; i < tile.size(); ++i) tile[i] = tile[i] + bias.values[i % w.at().width];
}

// Weight gradients: k runs over the tokens of sequence after sequence.
NumberBlock token_rows(TileWork& w, std::size_t operand, const KRange& k, std::uint64_t col,
                       std::uint64_t cols) {
    return w.in(operand, k.stretch * w.context() + k.first, k.count, col, cols);
}
std::size_t left_operand(const TileWork& w) {
    return w.op().kind == Kind::kHeadWeightGradient || is_in_out(w) ? 0 : 1;
}
NumberBlock gradient_left(TileWork& w, const ProductPart&, const KRange& k) {
    return transposed(token_rows(w, left_operand(w), k, w.at().row, w.at().height));
}
NumberBlock gradient_right(TileWork& w, const ProductPart&, const KRange& k) {
    return token_rows(w, 1 - left_operand(w), k, w.at().col, w.at().width);
}

constexpr ProductSpec kForward{one, first_cols, whole, first_rows, forward_weight, add_bias_row};
constexpr ProductSpec kInputGradient{one, first_cols, whole, first_rows, backward_weight};
constexpr ProductSpec kWeightGradient{sequences, context, whole, gradient_left, gradient_right};
constexpr ProductSpec kHead{one, first_cols, whole, first_rows, k_columns};
constexpr ProductSpec kHeadInputGradient{one, first_cols, whole, first_rows, k_rows};

// Attention. The columns of a row of qkv at which something of a head begins.
std::uint64_t key_head(const TileWork& w, std::uint64_t head) { return head / sharing(w); }
std::uint64_t query_column(const TileWork& w, std::uint64_t head) { return head * head_dim(w); }
std::uint64_t key_column(const TileWork& w, std::uint64_t group) {
    return (w.model().heads + group) * head_dim(w);
}
std::uint64_t value_column(const TileWork& w, std::uint64_t group) {
    return (w.model().heads + w.model().key_value_heads() + group) * head_dim(w);
}

// Runs of the tile's rows that belong to one block of `context` rows; `blocks` to one sequence.
template <class Add>
void each_run(const TileWork& w, const Add& add) {
    for (std::uint64_t i = 0; i < w.at().height;) {
        const std::uint64_t row = w.at().row + i;
        const std::uint64_t count = std::min(w.at().height - i, w.context() - row % w.context());
        add(i, count, row / w.context());
        i += count;
    }
}
// Squares: rows of a head of a sequence, columns are keys.
ProductParts square_parts(const TileWork& w) {
    ProductParts out;
    each_run(w, [&](std::uint64_t first, std::uint64_t count, std::uint64_t run) {
        out.push_back({first, count, 0, w.at().width, run / w.model().heads, run % w.model().heads});
    });
    return out;
}
// Rows of tokens: columns of `heads` heads that begin at `column`; the head is counted from there.
ProductParts head_parts(const TileWork& w, std::uint64_t column, std::uint64_t heads) {
    ProductParts out;
    const std::uint64_t dim = head_dim(w);
    each_run(w, [&](std::uint64_t first, std::uint64_t count, std::uint64_t run) {
        for (std::uint64_t j = 0; j < w.at().width;) {
            const std::uint64_t col = w.at().col + j;
            if (col < column) {
                j += std::min(w.at().width - j, column - col);
                continue;
            }
            const std::uint64_t head = (col - column) / dim;
            if (head >= heads) break;
            const std::uint64_t cols = std::min(w.at().width - j, dim - (col - column) % dim);
            out.push_back({first, count, j, cols, run, head});
            j += cols;
        }
    });
    return out;
}
ProductParts value_parts(const TileWork& w) { return head_parts(w, 0, w.model().heads); }
ProductParts dkey_parts(const TileWork& w) {
    return head_parts(w, key_column(w, 0), w.model().key_value_heads());
}
ProductParts dvalue_parts(const TileWork& w) {
    return head_parts(w, value_column(w, 0), w.model().key_value_heads());
}

// The token of a part's first row; the number of its first column in its head.
std::uint64_t first_token(const TileWork& w, const ProductPart& part) {
    return (w.at().row + part.row) % w.context();
}
std::uint64_t column_in_head(const TileWork& w, const ProductPart& part, std::uint64_t begin) {
    return (w.at().col + part.col - begin) % head_dim(w);
}

// A square's number is a row of one tensor times a row of another: numbers [k) of a head.
NumberBlock head_rows(TileWork& w, std::size_t operand, const ProductPart& part, const KRange& k,
                      std::uint64_t column) {
    return w.in(operand, part.sequence * w.context() + first_token(w, part), part.rows, column + k.first,
                k.count);
}
NumberBlock key_rows(TileWork& w, std::size_t operand, const ProductPart& part, const KRange& k,
                     std::uint64_t column) {
    return transposed(
        w.in(operand, part.sequence * w.context() + w.at().col, w.at().width, column + k.first, k.count));
}
NumberBlock score_queries(TileWork& w, const ProductPart& part, const KRange& k) {
    return head_rows(w, 0, part, k, query_column(w, part.head));
}
NumberBlock score_keys(TileWork& w, const ProductPart& part, const KRange& k) {
    return key_rows(w, 0, part, k, key_column(w, key_head(w, part.head)));
}
void scale_tile(TileWork& w, std::span<float> tile) {
    const float scale = arithmetic::attention_scale(head_dim(w));
    for (float& value : tile) value = value * scale;
}
NumberBlock probability_queries(TileWork& w, const ProductPart& part, const KRange& k) {
    return head_rows(w, 0, part, k, query_column(w, part.head));
}
NumberBlock probability_values(TileWork& w, const ProductPart& part, const KRange& k) {
    return key_rows(w, 1, part, k, value_column(w, key_head(w, part.head)));
}

// k runs over the keys of a query.
NumberBlock square_rows(TileWork& w, const ProductPart& part, const KRange& k) {
    const std::uint64_t run = part.sequence * w.model().heads + part.head;
    return w.in(0, run * w.context() + first_token(w, part), part.rows, k.first, k.count);
}
NumberBlock sequence_rows(TileWork& w, const ProductPart& part, const KRange& k, std::uint64_t column) {
    return w.in(1, part.sequence * w.context() + k.first, k.count, column, part.cols);
}
NumberBlock value_rows(TileWork& w, const ProductPart& part, const KRange& k) {
    return sequence_rows(w, part, k, value_column(w, key_head(w, part.head)) + column_in_head(w, part, 0));
}
NumberBlock query_gradient_keys(TileWork& w, const ProductPart& part, const KRange& k) {
    return sequence_rows(w, part, k, key_column(w, key_head(w, part.head)) + column_in_head(w, part, 0));
}

// k runs over the queries of a key, for the query heads that share it.
NumberBlock square_columns(TileWork& w, const ProductPart& part, const KRange& k) {
    const std::uint64_t head = part.head * sharing(w) + k.stretch;
    const std::uint64_t run = part.sequence * w.model().heads + head;
    return transposed(w.in(0, run * w.context() + k.first, k.count, first_token(w, part), part.rows));
}
NumberBlock shared_rows(TileWork& w, const ProductPart& part, const KRange& k, std::uint64_t begin) {
    const std::uint64_t head = part.head * sharing(w) + k.stretch;
    return sequence_rows(w, part, k, query_column(w, head) + column_in_head(w, part, begin));
}
NumberBlock dvalue_rows(TileWork& w, const ProductPart& part, const KRange& k) {
    return shared_rows(w, part, k, value_column(w, 0));
}
NumberBlock dkey_rows(TileWork& w, const ProductPart& part, const KRange& k) {
    return shared_rows(w, part, k, key_column(w, 0));
}

constexpr ProductSpec kScores{one,        head_dim,   square_parts, score_queries, score_keys,
                              scale_tile, Seen::kAll, true,         true};
constexpr ProductSpec kProbabilityGradient{
    one, head_dim, square_parts, probability_queries, probability_values, nullptr, Seen::kAll, true, true};
constexpr ProductSpec along_tokens(std::uint64_t (*stretches)(const TileWork&),
                                   ProductParts (*parts)(const TileWork&), decltype(ProductSpec::left) left,
                                   decltype(ProductSpec::right) right, Seen seen) {
    return {stretches, context, parts, left, right, nullptr, seen, false, true};
}
constexpr ProductSpec kValues = along_tokens(one, value_parts, square_rows, value_rows, Seen::kUpToRow);
constexpr ProductSpec kQueryGradient =
    along_tokens(one, value_parts, square_rows, query_gradient_keys, Seen::kUpToRow);
constexpr ProductSpec kValueGradient =
    along_tokens(sharing, dvalue_parts, square_columns, dvalue_rows, Seen::kFromRow);
constexpr ProductSpec kKeyGradient =
    along_tokens(sharing, dkey_parts, square_columns, dkey_rows, Seen::kFromRow);

Columns query_columns(const program::ModelConfig& model) {
    return {0, std::uint64_t{model.heads} * model.head_dim()};
}
Columns key_columns(const program::ModelConfig& model) {
    const std::uint64_t first = std::uint64_t{model.heads} * model.head_dim();
    return {first, first + std::uint64_t{model.key_value_heads()} * model.head_dim()};
}
Columns value_columns(const program::ModelConfig& model) {
    return {key_columns(model).last, model.qkv_width()};
}

template <const ProductSpec& spec>
std::unique_ptr<PartialLaw> law(TileWork& work) {
    return product_law(work, spec);
}

constexpr std::array kProductRows = {
    PartialRow{Kind::kLinear, law<kForward>},
    PartialRow{Kind::kAttentionScores, law<kScores>, nullptr, true},
    PartialRow{Kind::kAttentionValues, law<kValues>},
    PartialRow{Kind::kHead, law<kHead>},
    PartialRow{Kind::kHeadInputGradient, law<kHeadInputGradient>},
    PartialRow{Kind::kHeadWeightGradient, law<kWeightGradient>},
    PartialRow{Kind::kLinearInputGradient, law<kInputGradient>},
    PartialRow{Kind::kLinearWeightGradient, law<kWeightGradient>},
    PartialRow{Kind::kAttentionValueGradient, law<kValueGradient>, value_columns},
    PartialRow{Kind::kAttentionProbabilityGradient, law<kProbabilityGradient>, nullptr, true},
    PartialRow{Kind::kAttentionQueryGradient, law<kQueryGradient>, query_columns},
    PartialRow{Kind::kAttentionKeyGradient, law<kKeyGradient>, key_columns},
};
}  // namespace

std::span<const PartialRow> product_rows() { return kProductRows; }

}  // namespace assay::dispute
