// SPDX-License-Identifier: Apache-2.0
// A claimant whose commitments hold one hostile number: all hashes above it are those of what it holds.
#pragma once

#include <map>

#include "contracts/dispute/commitments.hpp"

namespace disputed {

struct Poison {
    assay::dispute::Source source;
    std::uint64_t tile = 0;
    std::size_t place = 0;  ///< in the 16×16 numbers of the tile
    std::uint32_t bits = 0;
};

class Poisoned final : public assay::dispute::StepMemory {
public:
    /// Without a poison it is the claimant itself, and notes what is read.
    explicit Poisoned(assay::dispute::StepCommitments& claimant) : claimant_(claimant) {}
    Poisoned(assay::dispute::StepCommitments& claimant, const Poison& poison);

    /// The first tile of each version that was read.
    [[nodiscard]] const std::map<std::uint64_t, Poison>& read() const { return read_; }
    [[nodiscard]] assay::base::Hash256 outputs_root();
    [[nodiscard]] assay::base::Hash256 state_root() { return components(0).root(); }

    [[nodiscard]] const assay::dispute::StepFacts* facts() const override { return claimant_.facts(); }
    void tile(const assay::dispute::Source& source, std::uint64_t number, assay::dispute::Tile& out) override;
    void wholes(const assay::dispute::Source& source, std::uint64_t number,
                assay::dispute::Cells& out) override {
        claimant_.wholes(source, number, out);
    }
    const assay::dispute::StoredTree& tiles(const assay::dispute::Source& source) override;
    const assay::dispute::StoredTree& above(const assay::dispute::Source& source) override;
    const assay::dispute::StoredTree& components(std::uint32_t state) override;
    void piece(std::uint64_t number, assay::base::Bytes& out,
               std::vector<assay::base::Hash256>& siblings) override {
        claimant_.piece(number, out, siblings);
    }

private:
    [[nodiscard]] bool holds(const assay::dispute::Source& source) const;

    assay::dispute::StepCommitments& claimant_;
    std::optional<Poison> poison_;
    std::map<std::uint64_t, Poison> read_;
    assay::dispute::StoredTree tiles_, above_, components_;
};

}  // namespace disputed
