// SPDX-License-Identifier: Apache-2.0
// What a JobSpec must satisfy before anything else looks at it. Sizes are bounded so that no count, offset or
// number of operations of a job overflows 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

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
    kBeta = 13,
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
    kHeadDim = 31,
    kRopeTheta = 32,
    kNormEpsilon = 33,
    kHead = 34,
};

inline constexpr std::uint64_t kMaxParameters = 1ULL << 34;
inline constexpr std::uint64_t kMaxStepTokens = 1ULL << 24;  ///< batch·context: 1/N must be exact to round

/// Says whether `spec` is one that a job may have. Hashes are not looked at.
base::Result<void, SpecError> check_spec(const JobSpec& spec);

/// What was wrong and what is allowed, as one clause: "heads must divide width".
std::string_view to_text(SpecError error);

/// The key of a job file that the error is about: "model.heads".
std::string_view key_of(SpecError error);

}  // namespace assay::program
