// SPDX-License-Identifier: Apache-2.0
// The limits of a job, in one table: the range of each field, its names for people, and why it is limited.
// Everything that accepts or refuses a spec (the ledger, `assay plan`, job files, model folders) uses this
// table through spec_check.hpp; messages and docs/reference/job-file.md are made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

inline constexpr std::uint32_t kMaxSlots = 256;
// Bits of the largest class of lots. No machine is in a larger one, and a job that asks for more would wait
// for ever.
inline constexpr std::uint8_t kMostSpeedBits = 62;
inline constexpr std::uint8_t kMostMemoryBits = 20;
inline constexpr std::uint8_t kMostNetworkBits = 24;
inline constexpr std::uint32_t kMaxRounds = 10'000;
inline constexpr std::uint32_t kMaxInnerSteps = 16'384;  ///< fingerprints of a trace
inline constexpr std::uint32_t kMaxSegments = 256;  ///< of a slot's round; boundaries of a trace less one
inline constexpr std::uint64_t kMaxUnits = 8'192;   ///< audit units of a round, over all slots
inline constexpr std::uint32_t kMaxVocabulary = 1U << 22;
inline constexpr std::uint64_t kMaxTokens = 0x7fffffff;  ///< of a stream: a token file counts in 31 bits
inline constexpr std::uint64_t kMaxSeed = 1ULL << 53;    ///< every JSON reader represents it exactly
/// The base state of so many is a file of kMaxFileBytes.
inline constexpr std::uint64_t kMaxParameters = (kMaxFileBytes - base_state_bytes(0)) / 8;
static_assert(base_state_bytes(kMaxParameters) == kMaxFileBytes);
static_assert(token_file_size(kMaxTokens, kMaxVocabulary) <= kMaxFileBytes);
inline constexpr std::uint64_t kMaxStepTokens = 1ULL << 24;  ///< batch·context: 1/N must be exact to round

/// A rule that a spec breaks. Frozen numbers.
enum class SpecError : std::uint8_t {
    kName = 1,
    kLayers = 2,
    kWidth = 3,
    kHeads = 4,
    kContext = 5,
    kVocabulary = 6,
    kModelTooLarge = 7,
    kInnerSteps = 8,
    kBatch = 9,
    kStepTooLarge = 10,
    kWarmup = 11,
    kLearningRate = 12,
    kBeta1 = 13,
    kEpsilon = 14,
    kWeightDecay = 15,
    kClipNorm = 16,
    kOuterLearningRate = 17,
    kOuterMomentum = 18,
    kSumExponent = 19,
    kSlots = 20,
    kRounds = 21,
    kSegmentSteps = 22,
    kTrainTokens = 23,
    kHeldOutTokens = 24,
    kPrice = 25,
    kBudget = 26,
    kDeadline = 27,
    kAuditThreshold = 28,
    kKeyValueHeads = 29,
    kHidden = 30,
    kHeadIsOdd = 31,
    kRopeTheta = 32,
    kNormEpsilon = 33,
    kHead = 34,
    kSeed = 35,
    kBeta2 = 36,
    kGainBound = 37,
    kNameText = 38,
    kHeadsDivideWidth = 39,
    kKeyValueHeadsDivideHeads = 40,
    kHeadTooWide = 41,
    kSegmentBeyondRound = 42,
    kTooManySegments = 43,
    kTooManyUnits = 44,
    kTrainTooShort = 45,
    kHeldOutTooShort = 46,
    kStrategyUnknown = 47,
    kExponentOfCodec = 48,
    kFinaliseThreshold = 49,
    kFinaliseOfCarried = 50,
    kMaxUpdateNorm = 51,
    kNormBelowUnit = 52,
    kMachinesLeast = 53,
    kMachinesMost = 54,
    kLeastSpeed = 55,
    kLeastMemory = 56,
    kLeastNetwork = 57,
    kMachinesBeyondSlots = 58,
    kTermsWithoutMachines = 59,
};
inline constexpr SpecError kLastSpecError = SpecError::kTermsWithoutMachines;

/// Why there is a limit: what stops working beyond it.
enum class RuleOf : std::uint8_t {
    kProgram = 1,  ///< a program, a file or memory of a step
    kLedger,       ///< a record, a transaction or a deadline of the market
    kArithmetic,   ///< exactness, or numbers that stay finite
};
std::string_view to_text(RuleOf rule);

/// Parts of a spec, as the sections of a job file. Some are known before others.
enum class Part : std::uint8_t {
    kJob = 1,
    kModel = 2,
    kData = 4,
    kTrain = 8,
    kMarket = 16,
    kSecurity = 32,
};
/// A set of parts.
class Parts {
public:
    constexpr Parts(Part part) : bits_(static_cast<std::uint8_t>(part)) {}
    [[nodiscard]] constexpr Parts with(Part part) const {
        return Parts(static_cast<std::uint8_t>(bits_ | static_cast<std::uint8_t>(part)));
    }
    [[nodiscard]] constexpr Parts without(Part part) const {
        return Parts(static_cast<std::uint8_t>(bits_ & ~static_cast<unsigned>(part)));
    }
    [[nodiscard]] constexpr bool contains(Parts other) const { return (bits_ & other.bits_) == other.bits_; }

private:
    constexpr explicit Parts(std::uint8_t bits) : bits_(bits) {}
    std::uint8_t bits_ = 0;
};
inline constexpr Parts kWholeSpec = Parts(Part::kJob)
                                        .with(Part::kModel)
                                        .with(Part::kData)
                                        .with(Part::kTrain)
                                        .with(Part::kMarket)
                                        .with(Part::kSecurity);

/// Value of a field: a whole number, a count of base units or bytes, a threshold, or a binary32.
using FieldValue = std::variant<std::uint64_t, std::int64_t, Float32>;
enum class Quantity : std::uint8_t {
    kBytes = 1,  ///< length of a text
    kWhole,
    kReal,    ///< never -0
    kAmount,  ///< base units
    kRate,    ///< a threshold against a 64-bit draw (SecurityConfig)
};

/// The families of models to which a limit applies.
enum class Of : std::uint8_t { kAnyFamily, kGpt2, kLlama };

/// The range of one field. A field whose range depends on the family has a limit for each.
struct Limit {
    SpecError error = SpecError::kName;
    Part part = Part::kJob;
    std::string_view key;   ///< of the job file; for data, the key that names the file with the value
    std::string_view json;  ///< the member's name in JSON output
    std::string_view unit;
    Quantity quantity = Quantity::kWhole;
    FieldValue least;  ///< included
    FieldValue most;   ///< included
    RuleOf rule = RuleOf::kProgram;
    FieldValue (*value)(const JobSpec&) = nullptr;
    Of of = Of::kAnyFamily;

    [[nodiscard]] bool applies(Family family) const;
    /// Whether the field may have this value.
    [[nodiscard]] bool allows(const FieldValue& value) const;
    /// "from 1 to 1024", "from 1e-09 to 10", "from 1u to 4000000000000000000u", "0".
    [[nodiscard]] std::string range() const;
};

/// A rule that relates fields to each other, or that a range cannot express.
struct SpecRule {
    SpecError error = SpecError::kName;
    Parts needs;           ///< the parts that it reads
    std::string_view key;  ///< the key in the job file of the field to change first
    std::string (*text)() = nullptr;
    RuleOf rule = RuleOf::kProgram;
    /// REQUIRES a spec whose parts `needs` are within every limit.
    bool (*holds)(const JobSpec&) = nullptr;
    /// The value that the spec results in: "400 segments".
    std::string (*found)(const JobSpec&) = nullptr;
};

/// In the order of the job file.
std::span<const Limit> limits();
std::span<const SpecRule> spec_rules();

/// The limit of a key, for models of `family`. REQUIRES a key of the table.
const Limit& limit_of(std::string_view key, Family family = Family::kLlama);

/// As a job file writes it: "12", "1e-09", "250u".
std::string to_text(Quantity quantity, const FieldValue& value);

}  // namespace assay::program
