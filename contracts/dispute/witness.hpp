// SPDX-License-Identifier: Apache-2.0
// The witness is the last move of a dispute: the claimed value of a partial, and the openings of what it is
// computed from, in the order in which its law asks for them (reader.hpp). The witness does not describe its
// openings: their kind, place and length are known, so a partial has exactly one witness.
// docs/formats/witness.md has the bytes: the claimed value; the root of each version of a tensor before its
// first tile; tiles, earlier partials and pieces of the token file, each with its siblings.
#pragma once

#include <memory>
#include <optional>

#include "contracts/dispute/position.hpp"
#include "contracts/dispute/reader.hpp"
#include "contracts/dispute/tree.hpp"

namespace assay::dispute {

inline constexpr std::size_t kMaxWitnessBytes = 256U << 10;

/// A player's stored computation of its own step. References are valid as long as the memory.
class StepMemory {
public:
    StepMemory() = default;
    StepMemory(const StepMemory&) = delete;
    StepMemory& operator=(const StepMemory&) = delete;
    virtual ~StepMemory() = default;

    [[nodiscard]] virtual const StepFacts* facts() const = 0;
    /// A tile of a source. REQUIRES one of kOutput or kState.
    virtual void tile(const Source& source, std::uint64_t number, Tile& out) = 0;
    /// A tile of a source kArray, into the cells that exist.
    virtual void wholes(const Source& source, std::uint64_t number, Cells& out) = 0;
    /// The tree over all tiles of a source.
    virtual const StoredTree& tiles(const Source& source) = 0;
    /// The tree under whose root a source's root is opened: over all outputs, or over an array's tensors.
    virtual const StoredTree& above(const Source& source) = 0;
    /// The tree over the components of a state.
    virtual const StoredTree& components(std::uint32_t state) = 0;
    /// A piece of the token file, and its siblings up to the file's id.
    virtual void piece(std::uint64_t number, base::Bytes& out, std::vector<Hash256>& siblings) = 0;
};

/// Reads from memory, and records what it opens.
class Prover final : public OpeningReader {
public:
    /// `partials` has at least those of the disputed tile before the one that is computed; it may grow.
    /// `tree` is over all partials but the last; when it is null, nothing is opened, only computed.
    Prover(StepMemory& memory, const std::vector<Cells>& partials, const StoredTree* tree)
        : memory_(memory), partials_(partials), tree_(tree) {}
    [[nodiscard]] base::Bytes take_openings() { return std::move(out_); }

protected:
    void load_tile(const Source& source, std::uint64_t number, Tile& out) override;
    void load_wholes(const Source& source, std::uint64_t number, Cells& out) override;
    void load_partial(std::uint64_t number, Cells& out) override;
    void load_piece(std::uint64_t number, base::Bytes& out) override;
    [[nodiscard]] const StepFacts* facts() const override { return memory_.facts(); }

private:
    void put(base::ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
    void put(const std::vector<Hash256>& hashes);
    void put_root(const Source& source);

    StepMemory& memory_;
    const std::vector<Cells>& partials_;
    const StoredTree* tree_;
    std::map<std::uint64_t, bool> shown_;
    base::Bytes out_;
};

/// The hashes under which a witness opens.
struct FixedHashes {
    Hash256 claimed;              ///< of the disputed partial
    Hash256 outputs;              ///< root of the tree over the roots of all outputs of the step
    Hash256 partials;             ///< root of the tree over the partials of the disputed tile but the last
    Hash256 data;                 ///< blob id of the token file
    std::vector<Hash256> states;  ///< roots of the states from which the unit starts
    std::vector<Hash256> arrays;  ///< for kArray: roots of arrays
};

/// Reads from a witness, and refuses what does not lead to its hash.
class WitnessReader final : public OpeningReader {
public:
    WitnessReader(const StepFacts* facts, const std::vector<program::TensorInfo>& tensors,
                  const FixedHashes& fixed, std::uint64_t partials, base::ByteView witness)
        : facts_(facts), tensors_(tensors), fixed_(fixed), partials_(partials), rest_(witness) {}
    /// The next bytes; when fewer are left, none, and a refusal.
    base::ByteView take(std::size_t size);
    [[nodiscard]] std::size_t left() const { return rest_.size(); }

protected:
    void load_tile(const Source& source, std::uint64_t number, Tile& out) override;
    void load_wholes(const Source& source, std::uint64_t number, Cells& out) override;
    void load_partial(std::uint64_t number, Cells& out) override;
    void load_piece(std::uint64_t number, base::Bytes& out) override;
    [[nodiscard]] const StepFacts* facts() const override { return facts_; }

private:
    // The root above a leaf, from the siblings that follow; zero after a refusal.
    Hash256 root_above(const Hash256& leaf, std::uint64_t index, std::uint64_t leaves);
    void expect(const Hash256& root, const Hash256& fixed) {
        if (root != fixed) refuse(GameReason::kNotOpened);
    }
    Hash256 source_root(const Source& source);
    // take_cells: the next numbers of a tile. check_root: checks the way from a source's root to the fixed
    // hash.
    Cells take_cells(CellShape shape);
    void check_root(const Source& source, const Hash256& root);

    const StepFacts* facts_;
    const std::vector<program::TensorInfo>& tensors_;
    const FixedHashes& fixed_;
    std::uint64_t partials_;
    base::ByteView rest_;
    std::map<std::uint64_t, Hash256> roots_;
};

/// The component leaf of an array's root.
Hash256 component_leaf(std::uint32_t component, const Hash256& root);
/// Bytes of piece `number` of the step's token file.
std::size_t piece_bytes(const StepFacts& facts, std::uint64_t number);
std::uint64_t token_pieces(const StepFacts& facts);

}  // namespace assay::dispute
