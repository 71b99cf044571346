// SPDX-License-Identifier: Apache-2.0
// A training strategy as a row of data and pure functions: what a slot hands in, how it is encoded, how the
// accepted updates make the next model, and which arrays of numbers its states have. All code about a job
// uses its row (contracts/program/round_law.hpp) and never names a strategy. A new strategy is a new row here
// (docs/decisions/0038).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "contracts/arithmetic/update_clip.hpp"
#include "contracts/base/codec.hpp"

namespace assay::program {

/// How machines divide the work. Frozen numbers. Any byte decodes; a job with an engine or strategy that has
/// no row is refused by check_spec (SpecError).
enum class Engine : std::uint8_t { kLocal = 1 };
/// Number of a row of the table. Frozen numbers.
enum class Strategy : std::uint8_t { kDiloco = 1, kDilocoHalf = 2 };
/// What happens to a slot's AdamW moments between rounds: they restart from zero, or the slot goes on with
/// those of its last accepted round.
enum class InnerState : std::uint8_t { kReset = 1, kCarried = 2 };

inline constexpr Engine kStandardEngine = Engine::kLocal;
inline constexpr Strategy kStandardStrategy = Strategy::kDiloco;

/// An array with one number for each parameter, as a component of a state with a root of its own
/// (state_root.hpp) and a file of its own (state_head.hpp). Frozen numbers.
enum class StateArray : std::uint8_t {
    kParameters = 1,
    kFirstMoment = 2,
    kSecondMoment = 3,
    kResidual = 4,
    kOuterMomentum = 5,
};
/// The settings of a job for the functions of a row.
struct RoundSettings {
    int sum_exponent = 0;
    float outer_learning_rate = 0;
    float outer_momentum = 0;
};

/// The sum exponents for which a codec is exact, both included.
struct ExponentRange {
    int least = 0;
    int most = 0;
};

/// Whether a function of a row may be called with parts of its arrays.
enum class ArrayCut : std::uint8_t {
    kAnywhere,  ///< it computes each number separately; any cut of the arrays gives the same bits
    kNowhere,   ///< it reads an array as a whole; a cut gives other bits
};

/// Why bytes are not a packed update.
enum class PackedFault : std::uint8_t {
    kLength,  ///< they end early or late
    kNumber,  ///< a number that `pack` never writes, or another encoding of one
};

/// How a slot's update is rounded and written. The law uses whole numbers at 2^sum_exponent: a root covers
/// them and a merge sums them. `packed` is an update file's bytes after its magic; its length may depend on
/// the numbers.
struct UpdateCodec {
    std::string_view word;   ///< in a job file
    std::string_view magic;  ///< first 8 bytes of an update file
    ExponentRange exponents;
    /// Most bytes of the packed form of so many numbers.
    std::uint64_t (*most_bytes)(std::uint64_t parameters) = nullptr;
    ArrayCut cut = ArrayCut::kAnywhere;  ///< of `finalise`
    /// update = the whole numbers of start - end, rounded as the codec rounds. Returns false when the slot
    /// diverged.
    bool (*finalise)(const RoundSettings&, std::span<const float> start, std::span<const float> end,
                     std::span<std::int64_t> update) = nullptr;
    /// Writes the packed form of numbers that `finalise` or `decode` gave to the front of `packed`, and
    /// returns its length in bytes; returns nothing for other numbers. REQUIRES packed.size() ==
    /// most_bytes(update.size()).
    std::optional<std::uint64_t> (*pack)(const RoundSettings&, std::span<const std::int64_t> update,
                                         std::span<std::uint8_t> packed) = nullptr;
    /// Decodes `packed` into `update`, or returns why `pack` never writes these bytes. Accepts any bytes;
    /// `pack` writes what was decoded as the same bytes.
    std::optional<PackedFault> (*decode)(const RoundSettings&, base::ByteView packed,
                                         std::span<std::int64_t> update) = nullptr;
};

/// A slot's accepted update in a merge.
struct Contribution {
    std::span<const std::int64_t> update;
    std::uint64_t weight = 1;                     ///< 1 to 2^32
    std::uint32_t clip = arithmetic::kWholeClip;  ///< update_clip() if the job has a norm bound
};

/// How the accepted updates change the base state. Its settings are the job's (RoundSettings).
struct OuterOptimizer {
    std::string_view word;               ///< "nesterov"
    ArrayCut cut = ArrayCut::kAnywhere;  ///< of `merge`
    /// Replaces the base state by the next one. Exact until each number's single rounding, so the order of
    /// the contributions does not change the bits. REQUIRES at least one contribution, and equal sizes.
    void (*merge)(const RoundSettings&, std::span<const Contribution>, std::span<float> parameters,
                  std::span<float> outer_momentum) = nullptr;
};

/// How often a slot exchanges inside a round.
struct TickConfig {
    std::uint32_t ticks = 1;  ///< exchanges in a round, each with an update of the slot
};

/// The arrays of a slot's state.
struct LaneArrays {
    std::span<float> parameters;
    std::span<float> first_moment;
    std::span<float> second_moment;
};

/// The moments with which a slot goes on; both empty when there are none.
struct CarriedArrays {
    std::span<const float> first_moment;
    std::span<const float> second_moment;
};

struct StrategyRow {
    Strategy number = kStandardStrategy;
    Engine engine = kStandardEngine;
    std::string_view word;         ///< in a job file
    std::string_view engine_word;  ///< in a job file
    TickConfig tick;
    const UpdateCodec* codec = nullptr;
    std::span<const StateArray> base_arrays;  ///< what a round starts from
    std::span<const StateArray> lane_arrays;  ///< what a slot has inside a round
    /// The part of the lane's arrays that outlives the round if the job's inner state is carried.
    std::span<const StateArray> carried_arrays;
    /// The arrays of the state at a slot's end that `finalise` reads.
    std::span<const StateArray> finalise_arrays;
    const OuterOptimizer* outer = nullptr;
    /// Writes a slot's state at the start of a round.
    void (*adopt)(std::span<const float> base, const CarriedArrays&, const LaneArrays&) = nullptr;

    /// Most bytes of an update file.
    [[nodiscard]] std::uint64_t most_update_bytes(std::uint64_t parameters) const {
        return codec->magic.size() + codec->most_bytes(parameters);
    }
};

/// Every row, in the order of numbers.
std::span<const StrategyRow* const> strategies();
/// The row of this engine and strategy; null when there is none.
const StrategyRow* find_strategy(Engine engine, Strategy strategy);
/// The row that a job file names by three words; null when there is none.
const StrategyRow* find_strategy(std::string_view engine, std::string_view strategy, std::string_view codec);

/// "reset", "carried".
std::string_view to_text(InnerState state);

}  // namespace assay::program

namespace assay::base {
// Any byte decodes as a number of an engine or a strategy; check_spec refuses those without a row.
template <>
struct EnumRange<program::Engine> {
    static constexpr program::Engine first{0};
    static constexpr program::Engine last{255};
};
template <>
struct EnumRange<program::Strategy> {
    static constexpr program::Strategy first{0};
    static constexpr program::Strategy last{255};
};
ASSAY_ENUM_RANGE(program::InnerState, kReset, kCarried);
ASSAY_ENUM_RANGE(program::StateArray, kParameters, kOuterMomentum);
}  // namespace assay::base
