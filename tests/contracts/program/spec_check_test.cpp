// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/spec_check.hpp"

#include <functional>
#include <limits>

#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

struct Broken {
    SpecError error;
    std::function<void(JobSpec&)> make;
};
}  // namespace

TEST_CASE("a sound spec is accepted") { CHECK(check_spec(tiny::spec()).ok()); }

TEST_CASE("every rule of a spec has an input that breaks only it") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<Broken> all = {
        {SpecError::kName, [](JobSpec& s) { s.name.clear(); }},
        {SpecError::kName, [](JobSpec& s) { s.name = std::string(65, 'a'); }},
        {SpecError::kName, [](JobSpec& s) { s.name = "\xff"; }},
        {SpecError::kName, [](JobSpec& s) { s.name = "a\nb"; }},
        {SpecError::kLayers, [](JobSpec& s) { s.model.layers = 0; }},
        {SpecError::kLayers, [](JobSpec& s) { s.model.layers = UINT32_MAX; }},
        {SpecError::kWidth, [](JobSpec& s) { s.model.width = 0; }},
        {SpecError::kHeads, [](JobSpec& s) { s.model.heads = 0; }},
        {SpecError::kHeads, [](JobSpec& s) { s.model.heads = 4; }},
        {SpecError::kContext, [](JobSpec& s) { s.model.context = 1; }},
        {SpecError::kVocabulary, [](JobSpec& s) { s.model.vocabulary = 1; }},
        {SpecError::kModelTooLarge, [](JobSpec& s) { s.model.width = 65536; }},
        {SpecError::kInnerSteps, [](JobSpec& s) { s.train.inner_steps = 0; }},
        {SpecError::kBatch, [](JobSpec& s) { s.train.batch = 0; }},
        {SpecError::kStepTooLarge,
         [](JobSpec& s) {
             s.model.context = 16384;
             s.train.batch = 1025;
         }},
        {SpecError::kWarmup, [](JobSpec& s) { s.train.warmup_steps = UINT32_MAX; }},
        {SpecError::kLearningRate, [](JobSpec& s) { s.train.learning_rate = 0.0F; }},
        {SpecError::kLearningRate, [=](JobSpec& s) { s.train.learning_rate = nan; }},
        {SpecError::kLearningRate, [=](JobSpec& s) { s.train.learning_rate = infinity; }},
        {SpecError::kBeta, [](JobSpec& s) { s.train.beta1 = 1.0F; }},
        {SpecError::kBeta, [](JobSpec& s) { s.train.beta2 = -0.0F; }},
        {SpecError::kEpsilon, [](JobSpec& s) { s.train.epsilon = 0.0F; }},
        {SpecError::kWeightDecay, [](JobSpec& s) { s.train.weight_decay = -1.0F; }},
        {SpecError::kClipNorm, [](JobSpec& s) { s.train.clip_norm = 0.0F; }},
        {SpecError::kOuterLearningRate, [=](JobSpec& s) { s.train.outer_learning_rate = nan; }},
        {SpecError::kOuterMomentum, [](JobSpec& s) { s.train.outer_momentum = 1.0F; }},
        {SpecError::kSumExponent, [](JobSpec& s) { s.train.sum_exponent = 1; }},
        {SpecError::kSumExponent, [](JobSpec& s) { s.train.sum_exponent = INT32_MIN; }},
        {SpecError::kSlots, [](JobSpec& s) { s.slots = 0; }},
        {SpecError::kSlots, [](JobSpec& s) { s.slots = 1025; }},
        {SpecError::kRounds, [](JobSpec& s) { s.rounds = 0; }},
        {SpecError::kSegmentSteps, [](JobSpec& s) { s.security.segment_steps = 0; }},
        {SpecError::kSegmentSteps, [](JobSpec& s) { s.security.segment_steps = 6; }},
        {SpecError::kTrainTokens, [](JobSpec& s) { s.data.train_tokens = 5; }},
        {SpecError::kTrainTokens, [](JobSpec& s) { s.data.train_tokens = UINT64_MAX; }},
        {SpecError::kHeldOutTokens, [](JobSpec& s) { s.data.held_out_tokens = 0; }},
        {SpecError::kPrice, [](JobSpec& s) { s.market.max_price = {}; }},
        {SpecError::kBudget, [](JobSpec& s) { s.market.budget = {}; }},
        {SpecError::kDeadline, [](JobSpec& s) { s.market.deadline_blocks = 0; }},
        {SpecError::kAuditThreshold, [](JobSpec& s) { s.security.audit_threshold = 0; }},
    };
    for (const Broken& broken : all) {
        JobSpec spec = tiny::spec();
        broken.make(spec);
        const auto result = check_spec(spec);
        INFO(to_text(broken.error));
        REQUIRE_FALSE(result.ok());
        CHECK(result.error() == broken.error);
    }
}

TEST_CASE("every error names a key and a rule, and an unknown number does not crash") {
    for (int i = 1; i <= static_cast<int>(SpecError::kAuditThreshold); ++i) {
        CHECK_FALSE(key_of(static_cast<SpecError>(i)).empty());
        CHECK(to_text(static_cast<SpecError>(i)) != to_text(static_cast<SpecError>(0)));
    }
    CHECK(to_text(static_cast<SpecError>(200)) == "unknown error");
}
