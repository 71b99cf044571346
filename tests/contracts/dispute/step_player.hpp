// SPDX-License-Identifier: Apache-2.0
// A player of a game about a segment, by the reference machine.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "contracts/dispute/end_referee.hpp"
#include "contracts/dispute/player.hpp"
#include "tests/contracts/dispute/step.hpp"

namespace disputed {

constexpr std::uint32_t kStep = 1;  ///< of make_step()

/// A player that has computed the one step of the fixture; other states are names.
class StepPlayer final : public assay::dispute::UnitMemory {
public:
    StepPlayer(const Step& step, assay::dispute::StepCommitments& commitments, std::string name)
        : step_(step), commitments_(commitments), name_(std::move(name)) {
        assay::program::StateRoots known;
        known.step_count = known.data_cursor = kStep + 1;
        const auto& tensors = step.program.parameters;
        const auto outputs = commitments.outputs().row(0);
        for (std::uint32_t component = 0; component < 3; ++component) {
            std::vector<assay::base::Hash256> leaves;
            for (std::uint32_t i = 0; i < tensors.size(); ++i) {
                const auto output = end_output(step.inputs.facts, component, i);
                if (output && *output < outputs.size())
                    leaves.push_back(assay::program::tensor_leaf(tensors[i], outputs[*output]));
            }
            arrays_[component] = assay::dispute::StoredTree(std::move(leaves));
        }
        known.parameters = arrays_[0].root();
        known.first_moment = arrays_[1].root();
        known.second_moment = arrays_[2].root();
        known_ = known;
        set_components(known_);
    }
    void set_components(const assay::program::StateRoots& roots) {
        const auto leaves = assay::program::component_leaves(roots);
        components_ = assay::dispute::StoredTree({leaves.begin(), leaves.end()});
    }
    /// A state behind the step that its outputs do not make.
    void lie_about(std::uint32_t component, std::uint32_t tensor) {
        if (component > 2) {
            known_.step_count += 1;
        } else {
            const auto row = arrays_[component].row(0);
            std::vector<assay::base::Hash256> leaves(row.begin(), row.end());
            leaves[tensor].bytes[0] ^= 1;
            arrays_[component] = assay::dispute::StoredTree(std::move(leaves));
            (component == 0   ? known_.parameters
             : component == 1 ? known_.first_moment
                              : known_.second_moment) = arrays_[component].root();
        }
        set_components(known_);
    }
    assay::program::Fingerprint print;                   ///< of the step; it may be none that was computed
    std::optional<assay::dispute::NotFinitePlace> ends;  ///< where its own computation of the step ends

    /// Loss and norm as the step has them here.
    [[nodiscard]] assay::program::Fingerprint computed_print() const {
        return {scalar(step_.program.loss), scalar(step_.program.norm)};
    }

    assay::base::Hash256 state(std::uint32_t step) override {
        if (step == kStep) return step_.state_root;
        if (step == kStep + 1) return components_.root();
        // Behind the step everything differs that followed from it.
        return assay::base::hash("test/state",
                                 assay::base::as_bytes((step > kStep ? name_ : "") + std::to_string(step)));
    }
    std::vector<assay::base::Hash256> row(const assay::dispute::Way& way) override {
        const assay::dispute::StoredTree& tree = tree_of(way);
        const bool components = way.stage == assay::dispute::WayStage::kComponents;
        const auto row =
            components ? tree.row(0) : tree.row(way.row.height).subspan(way.row.first, way.row.nodes);
        return {row.begin(), row.end()};
    }
    const assay::dispute::StoredTree& tree_of(const assay::dispute::Way& way) {
        switch (way.stage) {
            case assay::dispute::WayStage::kOutputs: return commitments_.outputs();
            case assay::dispute::WayStage::kComponents: return components_;
            case assay::dispute::WayStage::kStateTensors: return arrays_[way.state.component];
            case assay::dispute::WayStage::kTiles:
                return commitments_.tiles_of(way.at.operator_index, way.at.output);
            default: break;
        }
        partials_ = partial_tree(commitments_.partials(way.at));
        return partials_;
    }
    std::vector<assay::base::Hash256> arrays() override { return {}; }
    std::optional<assay::program::Fingerprint> fingerprint(std::uint32_t step) override {
        if (ends && step >= kStep) return std::nullopt;
        return step == kStep ? print : assay::program::Fingerprint{};
    }
    std::optional<assay::dispute::NotFinitePlace> ends_at(const assay::dispute::Way& way) override {
        return way.at.step == kStep ? ends : std::nullopt;
    }
    assay::base::Bytes witness(const assay::dispute::Way& way) override {
        if (way.step_end == assay::dispute::StepEnd::kState) {
            const auto output =
                end_output(step_.inputs.facts, way.state.component, way.state.place).value_or(0);
            return end_witness(way.state, commitments_, arrays_[way.state.component % 3], components_,
                               commitments_.outputs().row(0)[output]);
        }
        if (way.step_end)
            return fingerprint_witness(commitments_, way.step_end == assay::dispute::StepEnd::kNorm);
        const auto partials = commitments_.partials(way.at);
        return make_witness(way.at, commitments_, partials, partial_tree(partials));
    }

private:
    [[nodiscard]] std::uint32_t scalar(assay::program::TensorId id) const {
        const auto& operators = step_.program.operators;
        std::uint32_t index = 0;
        while (operators[index].outputs != std::vector<assay::program::TensorId>{id}) ++index;
        return std::bit_cast<std::uint32_t>(commitments_.version(index, 0)[0]);
    }

    const Step& step_;
    assay::dispute::StepCommitments& commitments_;
    std::string name_;
    std::array<assay::dispute::StoredTree, 3> arrays_;
    assay::program::StateRoots known_;
    assay::dispute::StoredTree components_;
    assay::dispute::StoredTree partials_;
};

}  // namespace disputed
