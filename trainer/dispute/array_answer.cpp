// SPDX-License-Identifier: Apache-2.0
#include "trainer/dispute/array_answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/dispute/clip_referee.hpp"

namespace assay::trainer {

namespace {
using arithmetic::kTile;
using base::ErrorKind;
using dispute::ArrayLevel;
using dispute::ArrayQuestion;
using dispute::ArraySubject;
using dispute::CellKind;
using dispute::Cells;
using dispute::DisputeAnswer;
using dispute::Source;
using dispute::StoredTree;
using program::StateComponent;

template <class T>
std::span<const T> part_of(const program::TensorInfo& tensor, std::span<const T> array) {
    return array.subspan(tensor.offset, tensor.size());
}

Cells whole_cells(const program::TensorInfo& tensor, std::span<const std::int64_t> values,
                  std::uint64_t number) {
    const dispute::TileExtent at = dispute::extent_of(tensor.rows, tensor.cols, number);
    Cells out = Cells::of({CellKind::kWhole, at.height * at.width});
    for (std::uint64_t i = 0; i < out.size(); ++i) {
        out.whole[i] = values[(at.row + i / at.width) * tensor.cols + at.col + i % at.width];
    }
    return out;
}

StoredTree whole_tree(const program::TensorInfo& tensor, std::span<const std::int64_t> values) {
    std::vector<base::Hash256> leaves;
    for (std::uint64_t n = 0; n < arithmetic::tile_count(tensor.rows, tensor.cols); ++n) {
        const std::uint64_t width = dispute::extent_of(tensor.rows, tensor.cols, n).width;
        leaves.push_back(dispute::tile_hash(whole_cells(tensor, values, n), width));
    }
    return StoredTree(std::move(leaves));
}

StoredTree real_tree(Device& device, const program::TensorInfo& tensor, std::span<const float> values) {
    std::vector<base::Hash256> leaves(arithmetic::tile_count(tensor.rows, tensor.cols));
    device.tile_hashes(tensor.cols, values, leaves);
    return StoredTree(std::move(leaves));
}

// States and updates, with the trees that are asked for.
class ArrayMemory final : public dispute::StepMemory {
public:
    explicit ArrayMemory(const ArraysAtHand& arrays) : arrays_(arrays) {}

    [[nodiscard]] const dispute::StepFacts* facts() const override { return nullptr; }
    void tile(const Source& source, std::uint64_t number, dispute::Tile& out) override {
        const dispute::TileExtent at = dispute::extent_of(source.rows, source.cols, number);
        const std::span<const float> values = state_part(source);
        for (std::uint64_t i = 0; i < at.height; ++i) {
            const auto row = values.subspan((at.row + i) * source.cols + at.col, at.width);
            std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * kTile));
        }
    }
    void wholes(const Source& source, std::uint64_t number, Cells& out) override {
        const program::TensorInfo& tensor = tensor_of(source);
        const dispute::TileExtent at = dispute::extent_of(tensor.rows, tensor.cols, number);
        out = Cells::of({CellKind::kWhole, at.height * at.width});
        for (std::uint64_t i = 0; i < at.height; ++i) {
            const std::uint64_t first = tensor.offset + (at.row + i) * tensor.cols + at.col;
            const auto row = numbers_of(source, first, at.width);
            std::copy(row.begin(), row.end(), out.whole.begin() + static_cast<std::ptrdiff_t>(i * at.width));
        }
    }
    const StoredTree& tiles(const Source& source) override {
        const auto [found, is_new] = trees_.try_emplace(source.key());
        if (is_new) {
            found->second = source.from == Source::From::kArray
                                ? whole_tree(tensor_of(source), update_part(source))
                                : real_tree(arrays_.device, tensor_of(source), state_part(source));
        }
        return found->second;
    }
    const StoredTree& above(const Source& source) override {
        Source any = source;
        any.number = 0;
        const auto [found, is_new] = above_.try_emplace(any.key());
        if (!is_new) return found->second;
        std::vector<base::Hash256> leaves;
        for (std::uint32_t i = 0; i < arrays_.tensors.size(); ++i) {
            Source one = source;
            one.number = i;
            leaves.push_back(program::tensor_leaf(arrays_.tensors[i], root_of(one)));
        }
        found->second = StoredTree(std::move(leaves));
        return found->second;
    }
    const StoredTree& components(std::uint32_t state) override {
        const auto leaves = program::component_leaves(state == 0 ? arrays_.base : arrays_.end);
        components_[state] = StoredTree({leaves.begin(), leaves.end()});
        return components_[state];
    }
    void piece(std::uint64_t, base::Bytes&, std::vector<base::Hash256>&) override { ASSAY_CHECK(false); }
    /// Why numbers of an update could not be had, where that happened; what was answered is then meaningless.
    [[nodiscard]] const std::optional<base::Error>& fault() const { return fault_; }

private:
    [[nodiscard]] const program::TensorInfo& tensor_of(const Source& source) const {
        return arrays_.tensors[source.number];
    }
    [[nodiscard]] std::span<const float> state_part(const Source& source) const {
        const bool is_outer = static_cast<StateComponent>(source.array) == StateComponent::kOuter;
        return part_of(tensor_of(source), source.state != 0 ? arrays_.end_parameters
                                          : is_outer        ? arrays_.base_outer
                                                            : arrays_.base_parameters);
    }
    // Valid until the next call: of packed updates one tensor's numbers are decoded at a time.
    std::span<const std::int64_t> numbers_of(const Source& source, std::uint64_t first, std::uint64_t count) {
        auto numbers = arrays_.merged[source.array].numbers.part(first, count, room_);
        if (numbers.ok()) return *numbers;
        fault_ = numbers.error();
        room_.assign(count, 0);
        return room_;
    }
    std::span<const std::int64_t> update_part(const Source& source) {
        return numbers_of(source, tensor_of(source).offset, tensor_of(source).size());
    }
    // Without trees: the updates of many slots would need many.
    [[nodiscard]] base::Hash256 root_of(const Source& source) {
        const program::TensorInfo& tensor = tensor_of(source);
        if (source.from == Source::From::kArray)
            return program::tensor_root(tensor.rows, tensor.cols, update_part(source));
        return real_tree(arrays_.device, tensor, state_part(source)).root();
    }

    const ArraysAtHand& arrays_;
    std::vector<std::int64_t> room_;
    std::optional<base::Error> fault_;
    std::map<std::uint64_t, StoredTree> trees_;
    std::map<std::uint64_t, StoredTree> above_;
    std::map<std::uint32_t, StoredTree> components_;
};

base::Failed<base::Error> no_such(const std::string& what) {
    return base::fail(ErrorKind::kUsage, "there is no such " + what + " of the array",
                      "ask about a place of this job's arrays");
}

base::Outcome<DisputeAnswer> checked_row(const StoredTree& tree, const dispute::TreeRow& row) {
    if (!dispute::is_row(tree.leaves(), row)) return no_such("row");
    const auto nodes = tree.row(row.height).subspan(row.first, row.nodes);
    return DisputeAnswer{{nodes.begin(), nodes.end()}, {}};
}

class ArrayReply {
public:
    ArrayReply(const ArraysAtHand& arrays, const ArrayQuestion& question)
        : arrays_(arrays), question_(question), memory_(arrays) {
        facts_.tensors = &arrays.tensors;
        facts_.row = &arrays.law.row;
        facts_.settings = arrays.law.settings;
        if (question.subject == ArraySubject::kMergedParameters)
            facts_.unit = dispute::ArrayUnit::kMergedParameters;
        if (question.subject == ArraySubject::kMergedOuter) facts_.unit = dispute::ArrayUnit::kMergedOuter;
        if (question.subject == ArraySubject::kUpdate) return;
        for (const MergedUpdate& one : arrays.merged) facts_.slots.push_back({{}, one.weight, one.clip});
    }

    base::Outcome<DisputeAnswer> answer() {
        auto found = found_answer();
        if (memory_.fault()) return base::failed(*memory_.fault());
        return found;
    }

private:
    base::Outcome<DisputeAnswer> found_answer() {
        if (question_.subject == ArraySubject::kClip) return of_clip();
        if (question_.level == ArrayLevel::kTensors) return tensors();
        if (question_.level == ArrayLevel::kDivergence) return divergence();
        dispute::ArrayPosition at = question_.at;
        if (question_.level == ArrayLevel::kTiles) at.tile = 0;
        if (question_.level != ArrayLevel::kWitness) at.partial = 0;
        if (!dispute::exists(facts_, at)) return no_such("place");
        if (question_.level == ArrayLevel::kTiles) return tiles(at.tensor);
        if (is_no_update()) return base::fail(ErrorKind::kRejected, "a number of the update is out of range");
        const std::vector<Cells> partials = dispute::compute_partials(facts_, at, memory_);
        const StoredTree tree = dispute::partial_tree(partials);
        if (question_.level == ArrayLevel::kPartials) return checked_row(tree, question_.row);
        return DisputeAnswer{{}, dispute::make_witness(facts_, at, memory_, partials, tree)};
    }

    [[nodiscard]] StoredTree tree_of(std::uint32_t tensor) const {
        const program::TensorInfo& info = arrays_.tensors[tensor];
        return question_.subject == ArraySubject::kUpdate
                   ? whole_tree(info, part_of(info, arrays_.update))
                   : real_tree(arrays_.device, info, part_of(info, array()));
    }
    [[nodiscard]] std::span<const float> array() const {
        return question_.subject == ArraySubject::kMergedOuter ? arrays_.merged_outer
                                                               : arrays_.merged_parameters;
    }
    [[nodiscard]] bool is_no_update() const {
        return question_.subject == ArraySubject::kUpdate && arrays_.update.empty();
    }

    // The tile of number i of a tensor, row by row.
    static std::uint64_t tile_of(const program::TensorInfo& info, std::uint64_t i) {
        return i / info.cols / kTile * ((info.cols + kTile - 1) / kTile) + i % info.cols / kTile;
    }
    // The first number of the update that is out of range, of those that there is a place for.
    [[nodiscard]] std::optional<dispute::NotFinitePlace> out_of_range() const {
        std::int64_t coded = 0;
        for (std::uint32_t t = 0; t < arrays_.tensors.size(); ++t) {
            const program::TensorInfo& info = arrays_.tensors[t];
            const auto start = part_of(info, arrays_.base_parameters);
            const auto end = part_of(info, arrays_.end_parameters);
            for (std::uint64_t i = 0; i < info.size(); ++i) {
                const bool fits = arrays_.law.row.codec->finalise(arrays_.law.settings, start.subspan(i, 1),
                                                                  end.subspan(i, 1), std::span(&coded, 1));
                if (!fits) return dispute::NotFinitePlace{0, t, tile_of(info, i)};
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<dispute::NotFinitePlace> not_finite() const {
        std::uint32_t which = 0;
        for (const auto values : {arrays_.merged_parameters, arrays_.merged_outer}) {
            for (std::uint32_t t = 0; t < arrays_.tensors.size(); ++t) {
                const program::TensorInfo& info = arrays_.tensors[t];
                const auto part = part_of(info, values);
                for (std::uint64_t i = 0; i < info.size(); ++i)
                    if (!std::isfinite(part[i])) return dispute::NotFinitePlace{which, t, tile_of(info, i)};
            }
            ++which;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<dispute::NotFinitePlace> end() const {
        if (is_no_update()) return out_of_range();
        return arrays_.is_finite ? std::nullopt : not_finite();
    }

    base::Outcome<DisputeAnswer> tiles(std::uint32_t tensor) {
        const program::TensorInfo& info = arrays_.tensors[tensor];
        if (!dispute::is_row(arithmetic::tile_count(info.rows, info.cols), question_.row))
            return no_such("row");
        if (is_no_update()) return DisputeAnswer{std::vector<base::Hash256>(question_.row.nodes), {}, end()};
        ASSAY_ASSIGN(DisputeAnswer out, checked_row(tree_of(tensor), question_.row));
        out.diverges = end();
        return out;
    }

    base::Outcome<DisputeAnswer> tensors() {
        const dispute::TreeRow& row = question_.row;
        if (row.height != 0 || !dispute::is_row(arrays_.tensors.size(), row)) return no_such("row");
        DisputeAnswer out;
        out.diverges = end();
        if (is_no_update()) out.hashes.resize(row.nodes);
        for (std::uint64_t i = row.first; i < row.first + row.nodes && !is_no_update(); ++i)
            out.hashes.push_back(tree_of(static_cast<std::uint32_t>(i)).root());
        return out;
    }

    base::Outcome<DisputeAnswer> of_clip() {
        if (question_.level != ArrayLevel::kPartials && question_.level != ArrayLevel::kWitness)
            return no_such("level");
        if (arrays_.merged.size() != 1) return no_such("clip");
        const dispute::ClipFacts facts{&arrays_.tensors, arrays_.law.settings.sum_exponent, arrays_.bound};
        const std::vector<Cells> partials = dispute::compute_partials(facts, memory_);
        const StoredTree tree = dispute::partial_tree(partials);
        if (question_.level == ArrayLevel::kPartials) return checked_row(tree, question_.row);
        if (question_.at.partial >= partials.size()) return no_such("partial");
        return DisputeAnswer{{}, dispute::make_witness(facts, question_.at.partial, memory_, partials, tree)};
    }

    base::Outcome<DisputeAnswer> divergence() {
        if (question_.subject != ArraySubject::kUpdate) return no_such("level");
        if (const auto place = out_of_range()) {
            const dispute::NotFinitePlace at = *place;
            if (!dispute::exists(facts_, {at.output, at.tile, 0})) return no_such("place");
            return DisputeAnswer{{}, dispute::update_divergence_witness(facts_, at.output, at.tile, memory_)};
        }
        return base::fail(ErrorKind::kRejected, "every number of the update is in range");
    }

    const ArraysAtHand& arrays_;
    const ArrayQuestion& question_;
    dispute::ArrayFacts facts_;
    ArrayMemory memory_;
};
}  // namespace

base::Outcome<DisputeAnswer> answer_array(const ArraysAtHand& arrays, const ArrayQuestion& question) {
    return ArrayReply(arrays, question).answer();
}

}  // namespace assay::trainer
