// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/spec_check.hpp"

#include <array>
#include <cmath>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/program/batch_map.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

namespace {
using Check = base::Result<void, SpecError>;

bool within(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return value >= low && value <= high;
}
// False for NaN.
bool within(Float32 value, float low, float high) { return value.value() >= low && value.value() <= high; }

Check check_family(const ModelConfig& model) {
    if (model.family == Family::kGpt2) {
        if (model.kv_heads != 0) return base::failed(SpecError::kKeyValueHeads);
        if (model.hidden != 0) return base::failed(SpecError::kHidden);
        if (model.rope_theta != Float32(0.0F)) return base::failed(SpecError::kRopeTheta);
        if (model.norm_epsilon != Float32(1e-5F)) return base::failed(SpecError::kNormEpsilon);
        if (model.head != Head::kTied) return base::failed(SpecError::kHead);
        return {};
    }
    if (model.kv_heads == 0 || model.heads % model.kv_heads != 0) {
        return base::failed(SpecError::kKeyValueHeads);
    }
    if (!within(model.hidden, 1, 262'144)) return base::failed(SpecError::kHidden);
    if (model.head_dim() % 2 != 0) return base::failed(SpecError::kHeadDim);
    if (!within(model.rope_theta, 1.0F, 1e9F)) return base::failed(SpecError::kRopeTheta);
    if (!within(model.norm_epsilon, 1e-12F, 1.0F)) return base::failed(SpecError::kNormEpsilon);
    return {};
}

Check check_model(const ModelConfig& model, Profile profile) {
    if (!within(model.layers, 1, 1024)) return base::failed(SpecError::kLayers);
    if (!within(model.width, 1, 65536)) return base::failed(SpecError::kWidth);
    if (model.heads == 0 || model.width % model.heads != 0) return base::failed(SpecError::kHeads);
    if (!within(model.context, 2, 16384)) return base::failed(SpecError::kContext);
    if (!within(model.vocabulary, 2, 1U << 22)) return base::failed(SpecError::kVocabulary);
    ASSAY_TRY(check_family(model));
    // The products of attention whose k is a head take it as one block; every other k is cut into blocks.
    if (profile == Profile::kI16 && model.head_dim() > arithmetic::kMaxProductBlock) {
        return base::failed(SpecError::kHeadDim);
    }
    if (parameter_count(model) > kMaxParameters) return base::failed(SpecError::kModelTooLarge);
    return {};
}

Check check_train(const TrainConfig& train, std::uint32_t context) {
    if (!within(train.inner_steps, 1, 16'384)) return base::failed(SpecError::kInnerSteps);
    if (!within(train.batch, 1, 65536)) return base::failed(SpecError::kBatch);
    if (std::uint64_t{train.batch} * context > kMaxStepTokens) return base::failed(SpecError::kStepTooLarge);
    if (train.warmup_steps > 1'000'000'000) return base::failed(SpecError::kWarmup);
    if (!within(train.learning_rate, 1e-9F, 10.0F)) return base::failed(SpecError::kLearningRate);
    if (!within(train.beta1, 0.0F, 0.9999F) || !within(train.beta2, 0.0F, 0.99999F) ||
        std::signbit(train.beta1.value()) || std::signbit(train.beta2.value())) {
        return base::failed(SpecError::kBeta);
    }
    if (!within(train.epsilon, 1e-20F, 1.0F)) return base::failed(SpecError::kEpsilon);
    if (!within(train.weight_decay, 0.0F, 10.0F) || std::signbit(train.weight_decay.value())) {
        return base::failed(SpecError::kWeightDecay);
    }
    if (!within(train.clip_norm, 1e-6F, 1e6F)) return base::failed(SpecError::kClipNorm);
    if (!within(train.outer_learning_rate, 1e-9F, 10.0F)) return base::failed(SpecError::kOuterLearningRate);
    if (!within(train.outer_momentum, 0.0F, 0.9999F) || std::signbit(train.outer_momentum.value())) {
        return base::failed(SpecError::kOuterMomentum);
    }
    if (train.sum_exponent < -64 || train.sum_exponent > 0) return base::failed(SpecError::kSumExponent);
    return {};
}

struct Text {
    std::string_view key;
    std::string_view rule;
};

// By number of the error.
constexpr std::array<Text, 35> kTexts = {{
    {"", "unknown error"},
    {"name", "the name has 1 to 64 bytes of UTF-8 without control characters"},
    {"model.layers", "layers is from 1 to 1024"},
    {"model.width", "width is from 1 to 65536"},
    {"model.heads", "heads is at least 1 and divides width"},
    {"model.context", "context is from 2 to 16384"},
    {"model.vocabulary", "vocabulary is from 2 to 4194304"},
    {"model", "the model has at most 2^34 parameters"},
    {"train.inner_steps", "inner_steps is from 1 to 16384"},
    {"train.batch", "batch is from 1 to 65536"},
    {"train.batch", "batch times context is at most 2^24 tokens"},
    {"train.warmup_steps", "warmup_steps is at most 10^9"},
    {"train.learning_rate", "learning_rate is from 1e-9 to 10"},
    {"train.betas", "beta1 is from 0 to 0.9999 and beta2 from 0 to 0.99999"},
    {"train.epsilon", "epsilon is from 1e-20 to 1"},
    {"train.weight_decay", "weight_decay is from 0 to 10"},
    {"train.clip_norm", "clip_norm is from 1e-6 to 1e6"},
    {"train.outer_learning_rate", "outer_learning_rate is from 1e-9 to 10"},
    {"train.outer_momentum", "outer_momentum is from 0 to 0.9999"},
    {"train.sum_exponent", "sum_exponent is from -64 to 0"},
    {"slots", "slots is from 1 to 256"},
    {"rounds", "rounds is from 1 to 10000"},
    {"security.segment_steps", "segment_steps is from 1 to inner_steps, with at most 65536 segments"},
    {"data.train_tokens", "the training stream holds at least one sequence and fewer than 2^40 tokens"},
    {"data.held_out_tokens", "the held-out stream holds at least one sequence and fewer than 2^40 tokens"},
    {"market.max_price", "max_price is above 0"},
    {"market.budget", "budget is above 0"},
    {"market.deadline_blocks", "deadline_blocks is from 1 to 10^9"},
    {"security.audit_rate", "the audit rate is above 0"},
    {"model.kv_heads", "kv_heads divides heads in family llama and is absent in family gpt2"},
    {"model.hidden", "hidden is from 1 to 262144 in family llama and absent in family gpt2"},
    {"model.heads",
     "width / heads is even in family llama, whose positions turn pairs of numbers, and at most 16384 in "
     "profile i16"},
    {"model.rope_theta", "rope_theta is from 1 to 1e9 in family llama and absent in family gpt2"},
    {"model.norm_epsilon", "norm_epsilon is from 1e-12 to 1 in family llama and 1e-5 in family gpt2"},
    {"model.head", "the head is tied in family gpt2"},
}};
}  // namespace

base::Result<void, SpecError> check_spec(const JobSpec& spec) {
    bool clean = within(spec.name.size(), 1, 64) && base::is_utf8(spec.name);
    for (const char c : spec.name) {
        const auto byte = static_cast<unsigned char>(c);
        clean = clean && byte >= 0x20 && byte != 0x7f;
    }
    if (!clean) return base::failed(SpecError::kName);
    ASSAY_TRY(check_model(spec.model, spec.profile));
    ASSAY_TRY(check_train(spec.train, spec.model.context));
    if (!within(spec.slots, 1, 256)) return base::failed(SpecError::kSlots);
    if (!within(spec.rounds, 1, 10'000)) return base::failed(SpecError::kRounds);
    if (!within(spec.security.segment_steps, 1, spec.train.inner_steps) || spec.segments() > 65536) {
        return base::failed(SpecError::kSegmentSteps);
    }
    constexpr std::uint64_t kMaxTokens = (1ULL << 40) - 1;
    if (spec.data.train_tokens > kMaxTokens ||
        sequence_count(spec.data.train_tokens, spec.model.context) == 0) {
        return base::failed(SpecError::kTrainTokens);
    }
    if (spec.data.held_out_tokens > kMaxTokens ||
        sequence_count(spec.data.held_out_tokens, spec.model.context) == 0) {
        return base::failed(SpecError::kHeldOutTokens);
    }
    if (spec.market.max_price.is_zero()) return base::failed(SpecError::kPrice);
    if (spec.market.budget.is_zero()) return base::failed(SpecError::kBudget);
    if (!within(spec.market.deadline_blocks, 1, 1'000'000'000)) return base::failed(SpecError::kDeadline);
    if (spec.security.audit_threshold == 0) return base::failed(SpecError::kAuditThreshold);
    return {};
}

std::string_view to_text(SpecError error) {
    const auto at = static_cast<std::size_t>(error);
    return at < kTexts.size() ? kTexts[at].rule : kTexts[0].rule;
}

std::string_view key_of(SpecError error) {
    const auto at = static_cast<std::size_t>(error);
    return at < kTexts.size() ? kTexts[at].key : kTexts[0].key;
}

}  // namespace assay::program
