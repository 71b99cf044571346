// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/spec_check.hpp"

#include <functional>
#include <limits>
#include <set>

#include "contracts/arithmetic/product_rule.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::program;

using Change = std::function<void(JobSpec&)>;

struct Broken {
    SpecError error;
    Change make;
};

constexpr SpecError kLast = SpecError::kHead;

/// A change of a model that is a sound Llama before.
Change llama(const std::function<void(ModelConfig&)>& change) {
    return [change](JobSpec& spec) {
        spec.model = tiny::llama();
        change(spec.model);
    };
}

/// A model of one layer with one head.
Change one_head(Profile profile, std::uint64_t head_dim) {
    return [profile, head_dim](JobSpec& spec) {
        spec.profile = profile;
        spec.model.layers = 1;
        spec.model.heads = 1;
        spec.model.width = static_cast<std::uint32_t>(head_dim);
    };
}
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
        {SpecError::kKeyValueHeads, [](JobSpec& s) { s.model.kv_heads = s.model.heads; }},
        {SpecError::kKeyValueHeads, llama([](ModelConfig& m) { m.kv_heads = 0; })},
        {SpecError::kKeyValueHeads, llama([](ModelConfig& m) { m.kv_heads = 3; })},
        {SpecError::kHidden, [](JobSpec& s) { s.model.hidden = 4 * s.model.width; }},
        {SpecError::kHidden, llama([](ModelConfig& m) { m.hidden = 0; })},
        {SpecError::kHidden, llama([](ModelConfig& m) { m.hidden = 262'145; })},
        {SpecError::kHeadDim, llama([](ModelConfig& m) { m.width = 4 * 3; })},
        {SpecError::kHeadDim, one_head(Profile::kI16, arithmetic::kMaxProductBlock + 1)},
        {SpecError::kHeadDim, one_head(Profile::kI16, 20'000)},
        {SpecError::kRopeTheta, [](JobSpec& s) { s.model.rope_theta = 10'000.0F; }},
        {SpecError::kRopeTheta, llama([](ModelConfig& m) { m.rope_theta = 0.5F; })},
        {SpecError::kRopeTheta, llama([=](ModelConfig& m) { m.rope_theta = nan; })},
        {SpecError::kRopeTheta, llama([](ModelConfig& m) { m.rope_theta = 2e9F; })},
        {SpecError::kNormEpsilon, [](JobSpec& s) { s.model.norm_epsilon = 1e-6F; }},
        {SpecError::kNormEpsilon, llama([](ModelConfig& m) { m.norm_epsilon = 0.0F; })},
        {SpecError::kNormEpsilon, llama([=](ModelConfig& m) { m.norm_epsilon = infinity; })},
        {SpecError::kHead, [](JobSpec& s) { s.model.head = Head::kUntied; }},
    };
    std::set<SpecError> broken_once;
    for (const Broken& broken : all) {
        JobSpec spec = tiny::spec();
        broken.make(spec);
        const auto result = check_spec(spec);
        INFO(to_text(broken.error));
        REQUIRE_FALSE(result.ok());
        CHECK(result.error() == broken.error);
        broken_once.insert(broken.error);
    }
    CHECK(broken_once.size() == static_cast<std::size_t>(kLast));
}

TEST_CASE("sound Llamas are accepted, tied and untied") {
    JobSpec spec = tiny::spec();
    for (const ModelConfig& model : {tiny::llama(), tiny::untied_llama()}) {
        spec.model = model;
        for (const Profile profile : {Profile::kF32, Profile::kI16}) {
            spec.profile = profile;
            CHECK(check_spec(spec).ok());
        }
    }
}

TEST_CASE("a head is one block of an exact product, and as wide as it likes in chains of binary32") {
    const std::uint32_t most = arithmetic::kMaxProductBlock;
    const auto accepted = [](Profile profile, std::uint32_t head_dim) {
        JobSpec spec = tiny::spec();
        one_head(profile, head_dim)(spec);
        return check_spec(spec).ok();
    };
    CHECK(accepted(Profile::kI16, most));
    CHECK_FALSE(accepted(Profile::kI16, most + 1));
    CHECK(accepted(Profile::kF32, most + 1));
    JobSpec spec = tiny::spec();
    spec.model = tiny::llama();
    spec.profile = Profile::kI16;
    spec.model.heads = spec.model.kv_heads = 1;
    spec.model.width = most;
    CHECK(check_spec(spec).ok());
    spec.model.width = most + 2;
    const auto refused = check_spec(spec);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error() == SpecError::kHeadDim);
    CHECK(key_of(SpecError::kHeadDim) == "model.heads");
    CHECK(to_text(SpecError::kHeadDim).find(std::to_string(most)) != std::string_view::npos);
}

TEST_CASE("every error names a key and a rule, and an unknown number does not crash") {
    for (int i = 1; i <= static_cast<int>(kLast); ++i) {
        CHECK_FALSE(key_of(static_cast<SpecError>(i)).empty());
        CHECK(to_text(static_cast<SpecError>(i)) != to_text(static_cast<SpecError>(0)));
    }
    CHECK(to_text(static_cast<SpecError>(static_cast<int>(kLast) + 1)) == "unknown error");
    CHECK(to_text(static_cast<SpecError>(200)) == "unknown error");
}
