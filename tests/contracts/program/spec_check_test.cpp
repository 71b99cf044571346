// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/spec_check.hpp"

#include <functional>
#include <limits>
#include <set>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/wide.hpp"
#include "contracts/program/program.hpp"
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

constexpr SpecError kLast = kLastSpecError;

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

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Each breaks one rule of a sound spec.
const std::vector<Broken> kBroken = {
    {SpecError::kName, [](JobSpec& s) { s.name.clear(); }},
    {SpecError::kName, [](JobSpec& s) { s.name = std::string(65, 'a'); }},
    {SpecError::kNameText, [](JobSpec& s) { s.name = "\xff"; }},
    {SpecError::kNameText, [](JobSpec& s) { s.name = "a\nb"; }},
    {SpecError::kLayers, [](JobSpec& s) { s.model.layers = 0; }},
    {SpecError::kLayers, [](JobSpec& s) { s.model.layers = UINT32_MAX; }},
    {SpecError::kWidth, [](JobSpec& s) { s.model.width = 0; }},
    {SpecError::kHeads, [](JobSpec& s) { s.model.heads = 0; }},
    {SpecError::kHeadsDivideWidth, [](JobSpec& s) { s.model.heads = 4; }},
    {SpecError::kContext, [](JobSpec& s) { s.model.context = 1; }},
    {SpecError::kVocabulary, [](JobSpec& s) { s.model.vocabulary = 1; }},
    {SpecError::kModelTooLarge, [](JobSpec& s) { s.model.width = 65536; }},
    {SpecError::kInnerSteps, [](JobSpec& s) { s.train.inner_steps = 0; }},
    {SpecError::kBatch, [](JobSpec& s) { s.train.batch = 0; }},
    {SpecError::kStepTooLarge,
     [](JobSpec& s) {
         s.model.context = 16384;
         s.data.train_tokens = s.data.held_out_tokens = 20'000;
         s.train.batch = 1025;
     }},
    {SpecError::kWarmup, [](JobSpec& s) { s.train.warmup_steps = UINT32_MAX; }},
    {SpecError::kLearningRate, [](JobSpec& s) { s.train.learning_rate = 0.0F; }},
    {SpecError::kLearningRate, [](JobSpec& s) { s.train.learning_rate = kNan; }},
    {SpecError::kLearningRate, [](JobSpec& s) { s.train.learning_rate = kInfinity; }},
    {SpecError::kBeta1, [](JobSpec& s) { s.train.beta1 = 1.0F; }},
    {SpecError::kBeta2, [](JobSpec& s) { s.train.beta2 = -0.0F; }},
    {SpecError::kEpsilon, [](JobSpec& s) { s.train.epsilon = 0.0F; }},
    {SpecError::kWeightDecay, [](JobSpec& s) { s.train.weight_decay = -1.0F; }},
    {SpecError::kClipNorm, [](JobSpec& s) { s.train.clip_norm = 0.0F; }},
    {SpecError::kOuterLearningRate, [](JobSpec& s) { s.train.outer_learning_rate = kNan; }},
    {SpecError::kOuterMomentum, [](JobSpec& s) { s.train.outer_momentum = 1.0F; }},
    {SpecError::kMaxUpdateNorm, [](JobSpec& s) { s.train.max_update_norm = -1.0F; }},
    {SpecError::kNormBelowUnit,
     [](JobSpec& s) {
         s.train.sum_exponent = 0;
         s.train.max_update_norm = 0.5F;
     }},
    {SpecError::kNormBelowUnit,
     [](JobSpec& s) {
         s.train.sum_exponent = -24;
         s.train.max_update_norm = 0x1.fffffep-25F;
     }},
    {SpecError::kMaxUpdateNorm, [](JobSpec& s) { s.train.max_update_norm = kNan; }},
    {SpecError::kMaxUpdateNorm, [](JobSpec& s) { s.train.max_update_norm = kInfinity; }},
    {SpecError::kSumExponent, [](JobSpec& s) { s.train.sum_exponent = 1; }},
    {SpecError::kSumExponent, [](JobSpec& s) { s.train.sum_exponent = INT32_MIN; }},
    {SpecError::kSlots, [](JobSpec& s) { s.slots = 0; }},
    {SpecError::kSlots, [](JobSpec& s) { s.slots = 1025; }},
    {SpecError::kRounds, [](JobSpec& s) { s.rounds = 0; }},
    {SpecError::kSegmentSteps, [](JobSpec& s) { s.security.segment_steps = 0; }},
    {SpecError::kSegmentBeyondRound, [](JobSpec& s) { s.security.segment_steps = 6; }},
    {SpecError::kTooManySegments,
     [](JobSpec& s) {
         s.train.inner_steps = kMaxSegments + 1;
         s.security.segment_steps = 1;
     }},
    {SpecError::kTooManyUnits,
     [](JobSpec& s) {
         s.slots = kMaxSlots;
         s.train.inner_steps = kMaxUnits / kMaxSlots;
         s.security.segment_steps = 1;
     }},
    {SpecError::kSeed, [](JobSpec& s) { s.seed = kMaxSeed + 1; }},
    {SpecError::kTrainTooShort, [](JobSpec& s) { s.data.train_tokens = 5; }},
    {SpecError::kTrainTokens, [](JobSpec& s) { s.data.train_tokens = UINT64_MAX; }},
    {SpecError::kTrainTokens, [](JobSpec& s) { s.data.train_tokens = kMaxTokens + 1; }},
    {SpecError::kHeldOutTokens, [](JobSpec& s) { s.data.held_out_tokens = 0; }},
    {SpecError::kHeldOutTooShort, [](JobSpec& s) { s.data.held_out_tokens = s.model.context; }},
    {SpecError::kStrategyUnknown, [](JobSpec& s) { s.strategy = Strategy{0}; }},
    {SpecError::kStrategyUnknown, [](JobSpec& s) { s.engine = Engine{2}; }},
    {SpecError::kExponentOfCodec,
     [](JobSpec& s) {
         s.strategy = Strategy::kDilocoHalf;
         s.train.sum_exponent = -23;
     }},
    {SpecError::kExponentOfCodec,
     [](JobSpec& s) {
         s.strategy = Strategy::kDilocoHalf;
         s.train.sum_exponent = -47;
     }},
    {SpecError::kPrice, [](JobSpec& s) { s.market.max_price = {}; }},
    {SpecError::kBudget, [](JobSpec& s) { s.market.budget = {}; }},
    {SpecError::kDeadline, [](JobSpec& s) { s.market.deadline_blocks = 0; }},
    {SpecError::kMachinesLeast, [](JobSpec& s) { s.market.terms.gang = kMaxSlots + 1; }},
    {SpecError::kMachinesMost,
     [](JobSpec& s) {
         s.slots = kMaxSlots;
         s.market.terms = {.gang = 1, .most = kMaxSlots + 1};
     }},
    {SpecError::kLeastSpeed,
     [](JobSpec& s) { s.market.terms = {.gang = 1, .most = 1, .least_speed = kMostSpeedBits + 1}; }},
    {SpecError::kLeastMemory,
     [](JobSpec& s) { s.market.terms = {.gang = 1, .most = 1, .least_memory = kMostMemoryBits + 1}; }},
    {SpecError::kLeastNetwork,
     [](JobSpec& s) { s.market.terms = {.gang = 1, .most = 1, .least_network = kMostNetworkBits + 1}; }},
    {SpecError::kMachinesBeyondSlots, [](JobSpec& s) { s.market.terms = {.gang = 1, .most = s.slots + 1}; }},
    {SpecError::kMachinesBeyondSlots,
     [](JobSpec& s) { s.market.terms = {.gang = s.slots, .most = s.slots - 1}; }},
    {SpecError::kTermsWithoutMachines, [](JobSpec& s) { s.market.terms.most = 1; }},
    {SpecError::kTermsWithoutMachines, [](JobSpec& s) { s.market.terms.least_network = 1; }},
    {SpecError::kAuditThreshold, [](JobSpec& s) { s.security.audit_threshold = 0; }},
    {SpecError::kFinaliseThreshold, [](JobSpec& s) { s.security.finalise_threshold = 0; }},
    {SpecError::kFinaliseOfCarried,
     [](JobSpec& s) {
         s.inner_state = InnerState::kCarried;
         s.security.finalise_threshold = UINT64_MAX - 1;
     }},
    {SpecError::kKeyValueHeads, [](JobSpec& s) { s.model.kv_heads = s.model.heads; }},
    {SpecError::kKeyValueHeads, llama([](ModelConfig& m) { m.kv_heads = 0; })},
    {SpecError::kKeyValueHeadsDivideHeads, llama([](ModelConfig& m) { m.kv_heads = 3; })},
    {SpecError::kHidden, [](JobSpec& s) { s.model.hidden = 4 * s.model.width; }},
    {SpecError::kHidden, llama([](ModelConfig& m) { m.hidden = 0; })},
    {SpecError::kHidden, llama([](ModelConfig& m) { m.hidden = 262'145; })},
    {SpecError::kHeadIsOdd, llama([](ModelConfig& m) { m.width = 4 * 3; })},
    {SpecError::kHeadTooWide, one_head(Profile::kI16, arithmetic::kMaxProductBlock + 1)},
    {SpecError::kHeadTooWide, one_head(Profile::kI16, 20'000)},
    {SpecError::kRopeTheta, [](JobSpec& s) { s.model.rope_theta = 10'000.0F; }},
    {SpecError::kRopeTheta, llama([](ModelConfig& m) { m.rope_theta = 0.5F; })},
    {SpecError::kRopeTheta, llama([](ModelConfig& m) { m.rope_theta = kNan; })},
    {SpecError::kRopeTheta, llama([](ModelConfig& m) { m.rope_theta = 2e9F; })},
    {SpecError::kNormEpsilon, [](JobSpec& s) { s.model.norm_epsilon = 1e-6F; }},
    {SpecError::kNormEpsilon, llama([](ModelConfig& m) { m.norm_epsilon = 0.0F; })},
    {SpecError::kNormEpsilon, llama([](ModelConfig& m) { m.norm_epsilon = kInfinity; })},
    {SpecError::kHead, [](JobSpec& s) { s.model.head = Head::kUntied; }},
};
}  // namespace

TEST_CASE("a sound spec is accepted") { CHECK(check_spec(tiny::spec()).ok()); }

TEST_CASE("every rule of a spec has an input that breaks only it") {
    std::set<SpecError> broken_once;
    for (const Broken& broken : kBroken) {
        JobSpec spec = tiny::spec();
        broken.make(spec);
        const auto result = check_spec(spec);
        INFO(to_text(broken.error));
        REQUIRE_FALSE(result.ok());
        CHECK(result.error() == broken.error);
        broken_once.insert(broken.error);
    }
    // No amount of money is above the range of a gain bound.
    CHECK_FALSE(broken_once.contains(SpecError::kGainBound));
    CHECK(broken_once.size() + 1 == static_cast<std::size_t>(kLast));
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
    CHECK(refused.error() == SpecError::kHeadTooWide);
    CHECK(key_of(SpecError::kHeadTooWide) == "model.heads");
    CHECK(to_text(SpecError::kHeadTooWide).find(std::to_string(most)) != std::string_view::npos);
}

TEST_CASE("every error names a key and a rule, and an unknown number does not crash") {
    std::set<std::string> texts;
    for (int i = 1; i <= static_cast<int>(kLast); ++i) {
        CHECK(key_of(static_cast<SpecError>(i)).find('.') != std::string_view::npos);
        texts.insert(to_text(static_cast<SpecError>(i)));
    }
    CHECK(texts.size() == static_cast<std::size_t>(kLast));
    CHECK(to_text(static_cast<SpecError>(static_cast<int>(kLast) + 1)) == "unknown error");
    CHECK(to_text(static_cast<SpecError>(200)) == "unknown error");
    CHECK(key_of(static_cast<SpecError>(200)).empty());
}

TEST_CASE("texts of ranges and rules are made of the table's own numbers") {
    CHECK(to_text(SpecError::kLayers) == "layers is from 1 to 1024");
    CHECK(to_text(SpecError::kName) == "name is from 1 to 64 bytes");
    CHECK(to_text(SpecError::kSumExponent) == "sum_exponent is from -64 to 0");
    CHECK(to_text(SpecError::kAuditThreshold) == "q is above 0 and at most 1");
    CHECK(to_text(SpecError::kPrice) == "max_price is from 1u to 4000000000000000000u");
    CHECK(to_text(SpecError::kTrainTokens) == "train_tokens is from 1 to 2147483647");
    CHECK(to_text(SpecError::kHidden) == "hidden is from 1 to 262144 in family llama and 0 in family gpt2");
    CHECK(to_text(SpecError::kTooManySegments).find("at most 256 segments") != std::string::npos);
    JobSpec spec = tiny::spec();
    spec.model.layers = 0;
    CHECK(found_text(SpecError::kLayers, spec) == "model.layers = 0");
    spec = tiny::spec();
    spec.train.inner_steps = 400;
    spec.security.segment_steps = 1;
    CHECK(found_text(SpecError::kTooManySegments, spec) == "security.segment_steps = 1 (400 segments)");
    spec.data.train_tokens = 3;
    CHECK(found_text(SpecError::kTrainTooShort, spec) ==
          "data.manifest: train_tokens = 3 (model.context = " + std::to_string(spec.model.context) + ")");
}

TEST_CASE("a rule is one of the spec's parts that are asked about") {
    JobSpec nothing;
    CHECK_FALSE(check_spec(nothing, Part::kModel).ok());
    JobSpec spec = tiny::spec();
    spec.data = {};
    CHECK_FALSE(check_spec(spec).ok());
    CHECK(check_spec(spec, kWholeSpec.without(Part::kData)).ok());
    spec.model = {};
    CHECK(check_spec(spec, kWholeSpec.without(Part::kData).without(Part::kModel)).ok());
    spec.security.segment_steps = spec.train.inner_steps + 1;
    CHECK(check_spec(spec, Part::kSecurity).ok());  // the rule needs the steps of a round
    CHECK_FALSE(check_spec(spec, Parts(Part::kSecurity).with(Part::kTrain)).ok());
}

TEST_CASE("no job inside the limits counts more operations a step than 64 bits hold") {
    // The dearest numbers per parameter: many heads of few numbers over long sequences.
    JobSpec gpt2 = tiny::spec();
    gpt2.model = {.layers = 1024, .width = 1, .heads = 1, .context = 16'384, .vocabulary = 2};
    JobSpec llama = tiny::spec();
    llama.model = tiny::llama();
    llama.model.layers = 1024, llama.model.context = 16'384, llama.model.vocabulary = 2;
    llama.model.kv_heads = 1, llama.model.hidden = 1;
    for (JobSpec* spec : {&gpt2, &llama}) {
        spec->train.batch = static_cast<std::uint32_t>(kMaxStepTokens / spec->model.context);
        const std::uint32_t head = spec == &gpt2 ? 1 : 2;
        std::uint32_t width = head;
        const auto fits = [&](std::uint32_t candidate) {
            spec->model.width = candidate, spec->model.heads = candidate / head;
            return check_spec(*spec, Parts(Part::kModel).with(Part::kTrain)).ok();
        };
        while (fits(width + head)) width += head;
        REQUIRE(fits(width));
        CHECK(width > 800);
        const Program program = build_step_program(spec->model, spec->train, spec->profile);
        base::Uint128 total = 0;
        for (const Operator& one : program.operators) {
            total += base::Uint128{one.flops.per_sequence} * spec->train.batch + one.flops.fixed;
        }
        CHECK(total == flops(program, spec->train.batch));
        CHECK(total > base::Uint128{1} << 62);
    }
}
