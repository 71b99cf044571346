// SPDX-License-Identifier: Apache-2.0
// The laws of norms and softmax: sums of a row in 32 lanes, the largest number of a row, and what follows
// from them for the row's other numbers.
#include <array>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/dispute/laws.hpp"

namespace assay::dispute {

namespace {
using namespace assay::arithmetic;
using Kind = program::OperatorKind;
using Out = std::span<float>;

// What is added in the lanes: a, a·b, or both in lanes of their own.
enum class Adds : std::uint8_t { kSum, kDot, kSumAndDot };

// The elements of the tile's rows in columns [col, col + cols).
struct Elements {
    NumberBlock a;
    NumberBlock b;  // of kDot and kSumAndDot
};

struct LaneSpec {
    Adds adds = Adds::kSum;
    bool seen_only = false;  // a row is a query of a head, its elements the keys that it sees
    std::uint64_t (*length)(const TileWork& w) = nullptr;
    Elements (*load)(TileWork& w, std::uint64_t col, std::uint64_t cols) = nullptr;
    // `sums`: of row i, [i·sets] and, where there are two, [i·sets + 1].
    void (*finish)(TileWork& w, std::span<const float> sums, Out out) = nullptr;
};

// Elements of row i of the tile, of `length` columns.
std::uint64_t row_length(const TileWork& w, std::uint64_t i, std::uint64_t length, bool seen_only) {
    return seen_only ? head_row(w, w.at().row + i).query + 1 : length;
}

class LaneLaw final : public PartialLaw {
public:
    LaneLaw(TileWork& work, const LaneSpec& spec)
        : PartialLaw(work), spec_(spec), length_(spec.length(work)), terms_(term_count(length_)) {}
    [[nodiscard]] std::uint64_t partials() const override { return terms_ + 1; }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        return partial == terms_ ? PartialPlace{} : PartialPlace{PartialPhase::kLanes, 0, partial};
    }
    [[nodiscard]] CellShape shape(std::uint64_t partial) const override {
        return partial == terms_ ? tile_shape() : lanes_shape();
    }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        if (partial == terms_) return finish(out.real);
        if (partial > 0) out.real = w.reals(partial - 1, lanes_shape().count);
        const std::uint64_t first = partial * kTermLength;
        const std::uint64_t count = std::min(kTermLength, length_ - first);
        const Elements elements = spec_.load(w, first, count);
        for (std::uint64_t i = 0; i < w.at().height; ++i) {
            const std::uint64_t end = std::min(row_length(w, i, length_, spec_.seen_only), first + count);
            for (std::uint64_t k = first; k < end; ++k) {
                add_element(elements, i, k - first, out.real.data() + i * sets() * kLanes + k % kLanes);
            }
        }
    }

private:
    [[nodiscard]] std::size_t sets() const { return spec_.adds == Adds::kSumAndDot ? 2 : 1; }
    [[nodiscard]] CellShape lanes_shape() const { return {CellKind::kReal, w.at().height * sets() * kLanes}; }
    void add_element(const Elements& elements, std::uint64_t i, std::uint64_t k, float* lane) const {
        const float a = elements.a.at(i, k);
        if (spec_.adds == Adds::kDot) {
            *lane = fma32(a, elements.b.at(i, k), *lane);
            return;
        }
        *lane = *lane + a;
        if (spec_.adds == Adds::kSumAndDot) lane[kLanes] = fma32(a, elements.b.at(i, k), lane[kLanes]);
    }
    void finish(Out out) {
        std::vector<float> lanes = w.reals(terms_ - 1, lanes_shape().count);
        std::vector<float> sums;
        for (std::size_t i = 0; i < lanes.size(); i += kLanes) {
            sums.push_back(fold_lanes(std::span<float, kLanes>(lanes.data() + i, kLanes)));
        }
        spec_.finish(w, sums, out);
    }

    const LaneSpec& spec_;
    std::uint64_t length_;
    std::uint64_t terms_;
};

template <const LaneSpec& spec>
std::unique_ptr<PartialLaw> lane_law(TileWork& work) {
    return std::make_unique<LaneLaw>(work, spec);
}

std::uint64_t first_cols(const TileWork& w) { return w.cols(0); }
NumberBlock strip(TileWork& w, std::size_t operand, std::uint64_t col, std::uint64_t cols) {
    return w.in(operand, w.at().row, w.at().height, col, cols);
}
void copy_sums(TileWork&, std::span<const float> sums, Out out) {
    std::copy(sums.begin(), sums.end(), out.begin());
}

// Softmax and loss.
Elements load_first(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    return {strip(w, 0, col, cols), {}};
}
Elements load_both(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    NumberBlock a = strip(w, 0, col, cols);
    return {std::move(a), strip(w, 1, col, cols)};
}
constexpr LaneSpec kSoftmaxSum{Adds::kSum, true, first_cols, load_first, copy_sums};
constexpr LaneSpec kSoftmaxDot{Adds::kDot, true, first_cols, load_both, copy_sums};
constexpr LaneSpec kLossSum{Adds::kSum, false, first_cols, load_first, copy_sums};

// LayerNorm: y, mean, rstd.
void finish_mean(TileWork& w, std::span<const float> sums, Out out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sums[i] / static_cast<float>(w.cols(0));
}
Elements load_centred(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    Elements out{strip(w, 0, col, cols), {}};
    const NumberBlock mean = w.own(1, w.at().row, w.at().height, 0, 1);
    for (std::uint64_t i = 0; i < out.a.rows; ++i) {
        for (float& value : out.a.row(i)) value = value - mean.values[i];
    }
    out.b = out.a;
    return out;
}
void finish_rstd(TileWork& w, std::span<const float> sums, Out out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        const float variance = sums[i] / static_cast<float>(w.cols(0));
        out[i] = rsqrt32(variance + kLayerNormEpsilon);
    }
}
void layer_norm_rows(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    const NumberBlock x = w.same(0);
    const NumberBlock gain = w.vector(1);
    const NumberBlock bias = w.vector(2);
    const NumberBlock mean = w.own(1, at.row, at.height, 0, 1);
    const NumberBlock rstd = w.own(2, at.row, at.height, 0, 1);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        for (std::uint64_t j = 0; j < at.width; ++j) {
            const float centred = x.at(i, j) - mean.values[i];
            out[i * at.width + j] = fma32(centred * rstd.values[i], gain.values[j], bias.values[j]);
        }
    }
}
constexpr LaneSpec kMean{Adds::kSum, false, first_cols, load_first, finish_mean};
constexpr LaneSpec kVariance{Adds::kDot, false, first_cols, load_centred, finish_rstd};

std::unique_ptr<PartialLaw> layer_norm(TileWork& work) {
    if (work.output() == 1) return lane_law<kMean>(work);
    if (work.output() == 2) return lane_law<kVariance>(work);
    return one_partial<layer_norm_rows>(work);
}

// The gradient of its input: operands dy, x, mean, rstd, gain.
Elements load_scaled_and_normal(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    Elements out{strip(w, 0, col, cols), strip(w, 1, col, cols)};
    const NumberBlock mean = w.column(2);
    const NumberBlock rstd = w.column(3);
    const NumberBlock gain = w.in(4, 0, 1, col, cols);
    for (std::uint64_t i = 0; i < out.a.rows; ++i) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            out.a.at(i, j) = out.a.at(i, j) * gain.values[j];
            out.b.at(i, j) = (out.b.at(i, j) - mean.values[i]) * rstd.values[i];
        }
    }
    return out;
}
void finish_layer_norm_gradient(TileWork& w, std::span<const float> sums, Out out) {
    const TileExtent& at = w.at();
    const auto size = static_cast<float>(w.cols(0));
    const Elements here = load_scaled_and_normal(w, at.col, at.width);
    const NumberBlock rstd = w.column(3);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const float a = sums[2 * i] / size;
        const float b = sums[2 * i + 1] / size;
        for (std::uint64_t j = 0; j < at.width; ++j) {
            out[i * at.width + j] = rstd.values[i] * fma32(-here.b.at(i, j), b, here.a.at(i, j) - a);
        }
    }
}
constexpr LaneSpec kLayerNormGradient{Adds::kSumAndDot, false, first_cols, load_scaled_and_normal,
                                      finish_layer_norm_gradient};

// RMSNorm: y, rstd.
Elements load_square(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    NumberBlock x = strip(w, 0, col, cols);
    return {x, x};
}
void finish_rms(TileWork& w, std::span<const float> sums, Out out) {
    const float r = 1.0F / static_cast<float>(w.cols(0));
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = rsqrt32(sums[i] * r + w.model().norm_epsilon.value());
    }
}
void rms_norm_rows(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    const NumberBlock x = w.same(0);
    const NumberBlock gain = w.vector(1);
    const NumberBlock rstd = w.own(1, at.row, at.height, 0, 1);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        for (std::uint64_t j = 0; j < at.width; ++j) {
            out[i * at.width + j] = (x.at(i, j) * rstd.values[i]) * gain.values[j];
        }
    }
}
constexpr LaneSpec kMeanSquare{Adds::kDot, false, first_cols, load_square, finish_rms};

std::unique_ptr<PartialLaw> rms_norm(TileWork& work) {
    if (work.output() == 1) return lane_law<kMeanSquare>(work);
    return one_partial<rms_norm_rows>(work);
}

// The gradient of its input: operands dy, x, rstd, gain.
Elements load_rms_pair(TileWork& w, std::uint64_t col, std::uint64_t cols) {
    Elements out{strip(w, 0, col, cols), strip(w, 1, col, cols)};
    const NumberBlock rstd = w.column(2);
    const NumberBlock gain = w.in(3, 0, 1, col, cols);
    for (std::uint64_t i = 0; i < out.a.rows; ++i) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            out.a.at(i, j) = out.a.at(i, j) * gain.values[j];
            out.b.at(i, j) = out.b.at(i, j) * rstd.values[i];
        }
    }
    return out;
}
void finish_rms_gradient(TileWork& w, std::span<const float> sums, Out out) {
    const TileExtent& at = w.at();
    const float r = 1.0F / static_cast<float>(w.cols(0));
    const Elements here = load_rms_pair(w, at.col, at.width);
    const NumberBlock rstd = w.column(2);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const float c = sums[i] * r;
        for (std::uint64_t j = 0; j < at.width; ++j) {
            out[i * at.width + j] = (here.a.at(i, j) - here.b.at(i, j) * c) * rstd.values[i];
        }
    }
}
constexpr LaneSpec kRmsGradient{Adds::kDot, false, first_cols, load_rms_pair, finish_rms_gradient};

// The largest number of a row so far, the first among equals; the last partial is the tile.
class LargestLaw final : public PartialLaw {
public:
    LargestLaw(TileWork& work, bool seen_only)
        : PartialLaw(work), seen_only_(seen_only), length_(work.cols(0)), terms_(term_count(length_)) {}
    [[nodiscard]] std::uint64_t partials() const override { return terms_; }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        return partial + 1 == terms_ ? PartialPlace{} : PartialPlace{PartialPhase::kLargest, 0, partial};
    }
    [[nodiscard]] CellShape shape(std::uint64_t) const override { return tile_shape(); }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        const std::uint64_t first = partial * kTermLength;
        const std::uint64_t count = std::min(kTermLength, length_ - first);
        const NumberBlock x = strip(w, 0, first, count);
        if (partial > 0) out.real = w.reals(partial - 1, out.real.size());
        for (std::uint64_t i = 0; i < x.rows; ++i) {
            float& best = out.real[i];
            if (partial == 0) best = x.at(i, 0);
            const std::uint64_t end = std::min(row_length(w, i, length_, seen_only_), first + count);
            for (std::uint64_t k = first; k < end; ++k) {
                if (best < x.at(i, k - first)) best = x.at(i, k - first);
            }
        }
    }

private:
    bool seen_only_;
    std::uint64_t length_;
    std::uint64_t terms_;
};

template <bool seen_only>
std::unique_ptr<PartialLaw> largest(TileWork& work) {
    return std::make_unique<LargestLaw>(work, seen_only);
}

constexpr std::array kRowSumRows = {
    PartialRow{Kind::kLayerNorm, layer_norm},
    PartialRow{Kind::kRmsNorm, rms_norm},
    PartialRow{Kind::kSoftmaxMax, largest<true>},
    PartialRow{Kind::kSoftmaxSum, lane_law<kSoftmaxSum>},
    PartialRow{Kind::kLossMax, largest<false>},
    PartialRow{Kind::kLossSum, lane_law<kLossSum>},
    PartialRow{Kind::kLayerNormInputGradient, lane_law<kLayerNormGradient>},
    PartialRow{Kind::kRmsNormInputGradient, lane_law<kRmsGradient>},
    PartialRow{Kind::kSoftmaxDot, lane_law<kSoftmaxDot>},
};
}  // namespace

std::span<const PartialRow> row_sum_rows() { return kRowSumRows; }

}  // namespace assay::dispute
