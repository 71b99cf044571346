// SPDX-License-Identifier: Apache-2.0
// An OpeningReader gives the numbers from which a partial is computed: tiles, earlier partials and tokens.
// The order of the reads follows from the partial's law and from what was read before. The players' readers
// take the numbers from memory and record them. The referee's reader takes them from a witness in the same
// order, and checks each against a hash that the game has fixed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/dispute/cells.hpp"
#include "contracts/dispute/facts.hpp"

namespace assay::dispute {

/// Why a game ends as it does. Frozen numbers.
enum class GameReason : std::uint8_t {
    kAgrees = 1,          ///< the claimed inputs give the claimed value
    kDiffers = 2,         ///< the claimed inputs give another value
    kPosition = 3,        ///< there is no such place
    kWitnessSize = 4,     ///< the witness is longer than kMaxWitnessBytes
    kWitnessEnds = 5,     ///< the witness ends inside an opening
    kWitnessTrails = 6,   ///< bytes are left after the last opening
    kNotClaimed = 7,      ///< the value in the witness is not the claimed one
    kNotOpened = 8,       ///< an opening does not lead to its hash
    kNotFinite = 9,       ///< an operand has an infinity or a NaN
    kNotZero = 10,        ///< an element that no operator wrote is not +0
    kBeyondMaximum = 11,  ///< an element is above the maximum by which its row was scaled
    kOutOfRange = 12,     ///< an integer that no honest sum reaches, or an impossible clip or weight
    kDiverges = 13,       ///< the inputs give an infinity or a NaN, but the claim went on
    kToken = 14,          ///< a token that the vocabulary does not have
};
std::string_view to_text(GameReason reason);

/// 16×16 numbers of a tensor; +0 outside the tensor.
using Tile = std::array<float, 256>;

class OpeningReader {
public:
    OpeningReader() = default;
    OpeningReader(const OpeningReader&) = delete;
    OpeningReader& operator=(const OpeningReader&) = delete;
    virtual ~OpeningReader() = default;

    /// Tile `number` of a source; +0 after a refusal. REQUIRES a tile of the source. The reference is valid
    /// as long as the reader.
    const Tile& tile(const Source& source, std::uint64_t number);
    /// The numbers of tile `number` of an array of integers; zeros after a refusal. REQUIRES a tile of it.
    Cells wholes(const Source& source, std::uint64_t number);
    /// Partial `number` of the disputed tile; zeros after a refusal. REQUIRES an earlier partial than the one
    /// that is computed.
    Cells partial(std::uint64_t number, CellShape shape);
    /// Token `place` of the job's stream; 0 after a refusal.
    std::uint32_t token(std::uint64_t place);

    /// Records why the game is over. Only the first reason counts.
    void refuse(GameReason reason) {
        if (!refusal_) refusal_ = reason;
    }
    [[nodiscard]] std::optional<GameReason> refusal() const { return refusal_; }
    /// Whether the refusal is about the job's own data, not the claimant's.
    [[nodiscard]] bool is_void() const { return is_void_; }

protected:
    virtual void load_tile(const Source& source, std::uint64_t number, Tile& out) = 0;
    virtual void load_wholes(const Source& source, std::uint64_t number, Cells& out) = 0;
    virtual void load_partial(std::uint64_t number, Cells& out) = 0;
    /// Piece `number` of the token file, blob_id.hpp.
    virtual void load_piece(std::uint64_t number, base::Bytes& out) = 0;
    /// Facts of the step; null when no partial reads tokens.
    [[nodiscard]] virtual const StepFacts* facts() const = 0;

private:
    void check(const Source& source, std::uint64_t number, const Tile& tile);

    std::map<std::pair<std::uint64_t, std::uint64_t>, Tile> tiles_;
    std::map<std::uint64_t, Cells> partials_;
    std::map<std::uint64_t, base::Bytes> pieces_;
    std::optional<GameReason> refusal_;
    bool is_void_ = false;
};

/// The existing rows and columns of a tile.
struct TileExtent {
    std::uint64_t row = 0, col = 0;  ///< of its first number
    std::uint64_t height = 0, width = 0;
};
TileExtent extent_of(std::uint64_t rows, std::uint64_t cols, std::uint64_t number);
/// The part of a tile that its source holds: whole rows of some columns; nothing when the width is 0.
TileExtent held_extent(const Source& source, std::uint64_t number);

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::GameReason, kAgrees, kToken);
}  // namespace assay::base
