// SPDX-License-Identifier: Apache-2.0
// A training strategy as a row of data and pure functions: what a slot hands in, how it is coded, how the
// accepted updates make the next model, and which arrays of numbers states are made of. Every reader of a
// job goes through its row (contracts/program/round_law.hpp); nothing else in the tree knows a strategy by
// name. A new strategy is a new row here (docs/decisions/0038).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "contracts/arithmetic/update_clip.hpp"
#include "contracts/base/codec.hpp"

namespace assay::program {

/// How machines divide the work. Frozen numbers; any byte can be read, and a job with an engine or strategy
/// that has no row is refused by name (SpecError).
enum class Engine : std::uint8_t { kLocal = 1 };
/// Number of a row of the table. Frozen numbers.
enum class Strategy : std::uint8_t { kDiloco = 1, kDilocoHalf = 2 };
/// What becomes of a slot's AdamW moments at a round border: they restart from zero, or the slot goes on
/// with those of its last accepted round.
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
/// What the functions of a row need of a job.
struct RoundSettings {
    int sum_exponent = 0;
    float outer_learning_rate = 0;
    float outer_momentum = 0;
};

/// Sum exponents that a codec is exact for, both included.
struct ExponentRange {
    int least = 0;
    int most = 0;
};

/// What a function of a row may be given of its arrays.
enum class ArrayCut : std::uint8_t {
    kAnywhere,  ///< it computes each number by itself: any cut of the arrays gives the same bits
    kNowhere,   ///< it reads an array as a whole: a cut gives other bits
};

/// Why bytes are not a packed update.
enum class PackedFault : std::uint8_t {
    kLength,  ///< they end early or late
    kNumber,  ///< a number that `pack` never writes, or another spelling of one
};

/// How a slot's update is rounded and written. The law is in terms of whole numbers at 2^sum_exponent: they
/// are what a root covers and what a merge sums. `packed` is an update file's bytes after its magic; how many
/// there are may depend on the numbers.
struct UpdateCodec {
    std::string_view word;   ///< in a job file
    std::string_view magic;  ///< first 8 bytes of an update file
    ExponentRange exponents;
    /// Most bytes of the packed form of so many numbers.
    std::uint64_t (*most_bytes)(std::uint64_t parameters) = nullptr;
    ArrayCut cut = ArrayCut::kAnywhere;  ///< of `finalise`
    /// update = the whole numbers of start - end, rounded as the codec rounds. False: the slot diverged.
    bool (*finalise)(const RoundSettings&, std::span<const float> start, std::span<const float> end,
                     std::span<std::int64_t> update) = nullptr;
    /// Writes the packed form of numbers that `finalise` or `decode` gave to the front of `packed`, and
    /// returns its bytes; nothing for other numbers. REQUIRES packed.size() == most_bytes(update.size()).
    std::optional<std::uint64_t> (*pack)(const RoundSettings&, std::span<const std::int64_t> update,
                                         std::span<std::uint8_t> packed) = nullptr;
    /// The numbers that `packed` stands for, or why `pack` never writes these bytes. Total: any bytes; what
    /// is read is written as the same bytes.
    std::optional<PackedFault> (*decode)(const RoundSettings&, base::ByteView packed,
                                         std::span<std::int64_t> update) = nullptr;
};

/// A slot's accepted update in a merge.
struct Contribution {
    std::span<const std::int64_t> update;
    std::uint64_t weight = 1;                     ///< 1 to 2^32
    std::uint32_t clip = arithmetic::kWholeClip;  ///< update_clip() where the job has a norm bound
};

/// How the accepted updates change the base state. Its numbers are the job's (RoundSettings).
struct OuterOptimizer {
    std::string_view word;               ///< "nesterov"
    ArrayCut cut = ArrayCut::kAnywhere;  ///< of `merge`
    /// The next base state in place of the old. Exact until each number's one rounding: the order of the
    /// contributions leaves the bits alone. REQUIRES at least one contribution, equal sizes.
    void (*merge)(const RoundSettings&, std::span<const Contribution>, std::span<float> parameters,
                  std::span<float> outer_momentum) = nullptr;
};

/// When a slot exchanges inside a round.
struct TickConfig {
    std::uint32_t ticks = 1;  ///< exchanges in a round, each with an update of the slot
};

/// The arrays of a slot's state.
struct LaneArrays {
    std::span<float> parameters;
    std::span<float> first_moment;
    std::span<float> second_moment;
};

/// The moments that a slot goes on with; both empty: none.
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
    /// Part of the lane's arrays that outlives the round where the job's inner state is carried.
    std::span<const StateArray> carried_arrays;
    /// What `finalise` reads of the state at a slot's end.
    std::span<const StateArray> finalise_arrays;
    const OuterOptimizer* outer = nullptr;
    /// A slot's state at the start of a round.
    void (*adopt)(std::span<const float> base, const CarriedArrays&, const LaneArrays&) = nullptr;

    /// Most bytes of an update file.
    [[nodiscard]] std::uint64_t most_update_bytes(std::uint64_t parameters) const {
        return codec->magic.size() + codec->most_bytes(parameters);
    }
};

/// Every row, in the order of numbers.
std::span<const StrategyRow* const> strategies();
/// The row of this engine and strategy; null: no such row.
const StrategyRow* find_strategy(Engine engine, Strategy strategy);
/// The row that a job file names by three words; null: no such row.
const StrategyRow* find_strategy(std::string_view engine, std::string_view strategy, std::string_view codec);

/// "reset", "carried".
std::string_view to_text(InnerState state);

}  // namespace assay::program

namespace assay::base {
// Any byte is a number of an engine or a strategy; which of them have a row is for check_spec to say.
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
