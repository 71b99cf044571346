// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"
#include "contracts/program/batch_map.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

namespace {

FieldValue plain(std::uint8_t value) { return std::uint64_t{value}; }
FieldValue plain(std::uint32_t value) { return std::uint64_t{value}; }
FieldValue plain(std::uint64_t value) { return value; }
FieldValue plain(std::int32_t value) { return std::int64_t{value}; }
FieldValue plain(Float32 value) { return value; }
FieldValue plain(base::Amount value) { return value.units(); }
FieldValue plain(const std::string& value) { return std::uint64_t{value.size()}; }

// The field is the template argument: a member of the spec, or of one of its parts.
template <auto Member>
FieldValue top(const JobSpec& spec) {
    return plain(spec.*Member);
}
template <auto Section, auto Member>
FieldValue in(const JobSpec& spec) {
    return plain((spec.*Section).*Member);
}

template <auto Member>
FieldValue in_terms(const JobSpec& spec) {
    return plain(spec.market.terms.*Member);
}

constexpr FieldValue whole(std::uint64_t value) { return value; }
constexpr FieldValue negative(std::int64_t value) { return value; }
constexpr FieldValue real(float value) { return Float32(value); }

constexpr auto kModel = &JobSpec::model;
constexpr auto kTrain = &JobSpec::train;
constexpr auto kData = &JobSpec::data;
constexpr auto kMarket = &JobSpec::market;
constexpr auto kSecurity = &JobSpec::security;
using M = ModelConfig;
using T = TrainConfig;
using E = SpecError;
using Q = Quantity;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// clang-format off
constexpr std::array kLimits = {
    // error, part, key, JSON name, unit, quantity, least, most, whose rule, field, family
    Limit{E::kName, Part::kJob, "job.name", "name", "bytes", Q::kBytes, whole(1), whole(64), RuleOf::kLedger,
          top<&JobSpec::name>},
    Limit{E::kSlots, Part::kJob, "job.slots", "slots", "slots", Q::kWhole, whole(1), whole(kMaxSlots),
          RuleOf::kLedger, top<&JobSpec::slots>},
    Limit{E::kRounds, Part::kJob, "job.rounds", "rounds", "rounds", Q::kWhole, whole(1), whole(kMaxRounds),
          RuleOf::kLedger, top<&JobSpec::rounds>},
    Limit{E::kSeed, Part::kJob, "job.seed", "seed", "", Q::kWhole, whole(0), whole(kMaxSeed),
          RuleOf::kProgram, top<&JobSpec::seed>},

    Limit{E::kLayers, Part::kModel, "model.layers", "layers", "blocks", Q::kWhole, whole(1), whole(1024),
          RuleOf::kProgram, in<kModel, &M::layers>},
    Limit{E::kWidth, Part::kModel, "model.width", "width", "numbers", Q::kWhole, whole(1), whole(65'536),
          RuleOf::kProgram, in<kModel, &M::width>},
    Limit{E::kHeads, Part::kModel, "model.heads", "heads", "heads", Q::kWhole, whole(1), whole(65'536),
          RuleOf::kProgram, in<kModel, &M::heads>},
    Limit{E::kContext, Part::kModel, "model.context", "context", "tokens", Q::kWhole, whole(2), whole(16'384),
          RuleOf::kProgram, in<kModel, &M::context>},
    Limit{E::kVocabulary, Part::kModel, "model.vocabulary", "vocabulary", "tokens", Q::kWhole, whole(2),
          whole(kMaxVocabulary), RuleOf::kProgram, in<kModel, &M::vocabulary>},
    Limit{E::kKeyValueHeads, Part::kModel, "model.kv_heads", "kv_heads", "heads", Q::kWhole, whole(1),
          whole(65'536), RuleOf::kProgram, in<kModel, &M::kv_heads>, Of::kLlama},
    Limit{E::kKeyValueHeads, Part::kModel, "model.kv_heads", "kv_heads", "heads", Q::kWhole, whole(0),
          whole(0), RuleOf::kProgram, in<kModel, &M::kv_heads>, Of::kGpt2},
    Limit{E::kHidden, Part::kModel, "model.hidden", "hidden", "numbers", Q::kWhole, whole(1), whole(262'144),
          RuleOf::kProgram, in<kModel, &M::hidden>, Of::kLlama},
    Limit{E::kHidden, Part::kModel, "model.hidden", "hidden", "numbers", Q::kWhole, whole(0), whole(0),
          RuleOf::kProgram, in<kModel, &M::hidden>, Of::kGpt2},
    Limit{E::kRopeTheta, Part::kModel, "model.rope_theta", "rope_theta", "", Q::kReal, real(1.0F), real(1e9F),
          RuleOf::kArithmetic, in<kModel, &M::rope_theta>, Of::kLlama},
    Limit{E::kRopeTheta, Part::kModel, "model.rope_theta", "rope_theta", "", Q::kReal, real(0.0F), real(0.0F),
          RuleOf::kProgram, in<kModel, &M::rope_theta>, Of::kGpt2},
    Limit{E::kNormEpsilon, Part::kModel, "model.norm_epsilon", "norm_epsilon", "", Q::kReal, real(1e-12F),
          real(1.0F), RuleOf::kArithmetic, in<kModel, &M::norm_epsilon>, Of::kLlama},
    Limit{E::kNormEpsilon, Part::kModel, "model.norm_epsilon", "norm_epsilon", "", Q::kReal, real(1e-5F),
          real(1e-5F), RuleOf::kProgram, in<kModel, &M::norm_epsilon>, Of::kGpt2},

    Limit{E::kTrainTokens, Part::kData, "data.manifest", "train_tokens", "tokens", Q::kWhole, whole(1),
          whole(kMaxTokens), RuleOf::kProgram, in<kData, &DataConfig::train_tokens>},
    Limit{E::kHeldOutTokens, Part::kData, "data.held_out", "held_out_tokens", "tokens", Q::kWhole, whole(1),
          whole(kMaxTokens), RuleOf::kProgram, in<kData, &DataConfig::held_out_tokens>},

    Limit{E::kInnerSteps, Part::kTrain, "train.inner_steps", "inner_steps", "steps", Q::kWhole, whole(1),
          whole(kMaxInnerSteps), RuleOf::kLedger, in<kTrain, &T::inner_steps>},
    Limit{E::kBatch, Part::kTrain, "train.batch", "batch", "sequences", Q::kWhole, whole(1), whole(65'536),
          RuleOf::kProgram, in<kTrain, &T::batch>},
    Limit{E::kWarmup, Part::kTrain, "train.warmup_steps", "warmup_steps", "steps", Q::kWhole, whole(0),
          whole(1'000'000'000), RuleOf::kProgram, in<kTrain, &T::warmup_steps>},
    Limit{E::kLearningRate, Part::kTrain, "train.learning_rate", "learning_rate", "", Q::kReal, real(1e-9F),
          real(10.0F), RuleOf::kArithmetic, in<kTrain, &T::learning_rate>},
    Limit{E::kBeta1, Part::kTrain, "train.beta1", "beta1", "", Q::kReal, real(0.0F), real(0.9999F),
          RuleOf::kArithmetic, in<kTrain, &T::beta1>},
    Limit{E::kBeta2, Part::kTrain, "train.beta2", "beta2", "", Q::kReal, real(0.0F), real(0.99999F),
          RuleOf::kArithmetic, in<kTrain, &T::beta2>},
    Limit{E::kEpsilon, Part::kTrain, "train.epsilon", "epsilon", "", Q::kReal, real(1e-20F), real(1.0F),
          RuleOf::kArithmetic, in<kTrain, &T::epsilon>},
    Limit{E::kWeightDecay, Part::kTrain, "train.weight_decay", "weight_decay", "", Q::kReal, real(0.0F),
          real(10.0F), RuleOf::kArithmetic, in<kTrain, &T::weight_decay>},
    Limit{E::kClipNorm, Part::kTrain, "train.clip_norm", "clip_norm", "", Q::kReal, real(1e-6F), real(1e6F),
          RuleOf::kArithmetic, in<kTrain, &T::clip_norm>},
    Limit{E::kOuterLearningRate, Part::kTrain, "train.outer_learning_rate", "outer_learning_rate", "",
          Q::kReal, real(1e-9F), real(10.0F), RuleOf::kArithmetic, in<kTrain, &T::outer_learning_rate>},
    Limit{E::kOuterMomentum, Part::kTrain, "train.outer_momentum", "outer_momentum", "", Q::kReal, real(0.0F),
          real(0.9999F), RuleOf::kArithmetic, in<kTrain, &T::outer_momentum>},
    Limit{E::kSumExponent, Part::kTrain, "train.sum_exponent", "sum_exponent", "powers of 2", Q::kWhole,
          negative(-64), negative(0), RuleOf::kArithmetic, in<kTrain, &T::sum_exponent>},
    Limit{E::kMaxUpdateNorm, Part::kTrain, "train.max_update_norm", "max_update_norm", "", Q::kReal,
          real(0.0F), real(1e12F), RuleOf::kArithmetic, in<kTrain, &T::max_update_norm>},

    Limit{E::kPrice, Part::kMarket, "market.max_price", "max_price", "base units a work unit", Q::kAmount,
          whole(1), whole(base::kAmountMax), RuleOf::kLedger, in<kMarket, &MarketConfig::max_price>},
    Limit{E::kBudget, Part::kMarket, "market.budget", "budget", "base units", Q::kAmount, whole(1),
          whole(base::kAmountMax), RuleOf::kLedger, in<kMarket, &MarketConfig::budget>},
    Limit{E::kDeadline, Part::kMarket, "market.deadline", "deadline_blocks", "blocks", Q::kWhole, whole(1),
          whole(1'000'000'000), RuleOf::kLedger, in<kMarket, &MarketConfig::deadline_blocks>},
    Limit{E::kMachinesLeast, Part::kMarket, "market.machines_least", "machines_least", "machines", Q::kWhole,
          whole(0), whole(kMaxSlots), RuleOf::kLedger, in_terms<&MarketTerms::gang>},
    Limit{E::kMachinesMost, Part::kMarket, "market.machines_most", "machines_most", "machines", Q::kWhole,
          whole(0), whole(kMaxSlots), RuleOf::kLedger, in_terms<&MarketTerms::most>},
    Limit{E::kLeastSpeed, Part::kMarket, "market.least_speed", "least_speed", "bits", Q::kWhole, whole(0),
          whole(kMostSpeedBits), RuleOf::kLedger, in_terms<&MarketTerms::least_speed>},
    Limit{E::kLeastMemory, Part::kMarket, "market.least_memory", "least_memory", "bits", Q::kWhole, whole(0),
          whole(kMostMemoryBits), RuleOf::kLedger, in_terms<&MarketTerms::least_memory>},
    Limit{E::kLeastNetwork, Part::kMarket, "market.least_network", "least_network", "bits", Q::kWhole,
          whole(0), whole(kMostNetworkBits), RuleOf::kLedger, in_terms<&MarketTerms::least_network>},

    Limit{E::kAuditThreshold, Part::kSecurity, "security.q", "audit_rate", "share", Q::kRate, whole(1),
          whole(kMost), RuleOf::kLedger, in<kSecurity, &SecurityConfig::audit_threshold>},
    Limit{E::kFinaliseThreshold, Part::kSecurity, "security.finalise_q", "finalise_rate", "share", Q::kRate,
          whole(1), whole(kMost), RuleOf::kLedger, in<kSecurity, &SecurityConfig::finalise_threshold>},
    Limit{E::kSegmentSteps, Part::kSecurity, "security.segment_steps", "segment_steps", "steps", Q::kWhole,
          whole(1), whole(kMaxInnerSteps), RuleOf::kLedger, in<kSecurity, &SecurityConfig::segment_steps>},
    Limit{E::kGainBound, Part::kSecurity, "security.gain_bound", "gain_bound", "base units", Q::kAmount,
          whole(0), whole(base::kAmountMax), RuleOf::kLedger, in<kSecurity, &SecurityConfig::gain_bound>},
};
// clang-format on

bool is_shown(const std::string& name) {
    return base::is_utf8(name) && std::none_of(name.begin(), name.end(), [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return byte < 0x20 || byte == 0x7f;
           });
}

bool is_gpt2(const JobSpec& spec) { return spec.model.family == Family::kGpt2; }

std::uint64_t units(const JobSpec& spec) { return std::uint64_t{spec.slots} * RoundPlan(spec).units(); }

const StrategyRow* row_of(const JobSpec& spec) { return find_strategy(spec.engine, spec.strategy); }

std::string known_strategies() {
    std::string known;
    for (const StrategyRow* row : strategies()) {
        known += (known.empty() ? "" : ", ") + std::string(row->engine_word) + " " + std::string(row->word) +
                 " with codec " + std::string(row->codec->word);
    }
    return known;
}

std::string strategy_found(const JobSpec& spec) {
    return "engine " + std::to_string(static_cast<unsigned>(spec.engine)) + ", strategy " +
           std::to_string(static_cast<unsigned>(spec.strategy));
}

std::uint64_t step_tokens(const JobSpec& spec) {
    return std::uint64_t{spec.train.batch} * spec.model.context;
}

std::string counted(std::uint64_t count, std::string_view what) {
    return std::to_string(count) + " " + std::string(what);
}

std::string context_found(const JobSpec& spec) {
    return "model.context = " + std::to_string(spec.model.context);
}

std::string head_found(const JobSpec& spec) {
    return "heads of " + counted(spec.model.head_dim(), "numbers");
}

// A rule comes after those that make its own arithmetic safe: a head's size after "heads divides width".
constexpr std::array kRules = {
    SpecRule{E::kNameText, Part::kJob, "job.name",
             [] { return std::string("name is UTF-8 without control characters"); }, RuleOf::kLedger,
             [](const JobSpec& s) { return is_shown(s.name); },
             [](const JobSpec&) { return std::string("another byte"); }},
    SpecRule{E::kStrategyUnknown, Part::kJob, "job.strategy",
             [] { return "engine and strategy are ones that this version knows: " + known_strategies(); },
             RuleOf::kProgram, [](const JobSpec& s) { return row_of(s) != nullptr; }, strategy_found},
    SpecRule{E::kExponentOfCodec, Parts(Part::kJob).with(Part::kTrain), "train.sum_exponent",
             [] {
                 std::string text = "updates are exact at sum_exponent:";
                 for (const StrategyRow* row : strategies()) {
                     text += (row == strategies().front() ? " " : ", ") + std::string(row->codec->word) +
                             " from " + std::to_string(row->codec->exponents.least) + " to " +
                             std::to_string(row->codec->exponents.most);
                 }
                 return text;
             },
             RuleOf::kArithmetic,
             [](const JobSpec& s) {
                 const ExponentRange& range = row_of(s)->codec->exponents;
                 return s.train.sum_exponent >= range.least && s.train.sum_exponent <= range.most;
             },
             [](const JobSpec& s) { return "codec " + std::string(row_of(s)->codec->word); }},
    // The bound is a whole number of units; with none every update would count for nothing.
    SpecRule{E::kNormBelowUnit, Part::kTrain, "train.max_update_norm",
             [] { return std::string("max_update_norm is 0, for none, or at least 2^sum_exponent"); },
             RuleOf::kArithmetic,
             [](const JobSpec& s) {
                 const int exponent = static_cast<int>(s.train.max_update_norm.bits >> 23) - 127;
                 return !s.has_norm_bound() || exponent >= s.train.sum_exponent;
             },
             [](const JobSpec& s) { return "train.sum_exponent = " + std::to_string(s.train.sum_exponent); }},
    SpecRule{E::kHeadsDivideWidth, Part::kModel, "model.heads",
             [] { return std::string("heads divides width"); }, RuleOf::kProgram,
             [](const JobSpec& s) { return s.model.width % s.model.heads == 0; },
             [](const JobSpec& s) { return "model.width = " + std::to_string(s.model.width); }},
    SpecRule{E::kKeyValueHeadsDivideHeads, Part::kModel, "model.kv_heads",
             [] { return std::string("kv_heads divides heads in family llama"); }, RuleOf::kProgram,
             [](const JobSpec& s) { return s.model.heads % s.model.key_value_heads() == 0; },
             [](const JobSpec& s) { return "model.heads = " + std::to_string(s.model.heads); }},
    SpecRule{E::kHead, Part::kModel, "model.head", [] { return std::string("head is tied in family gpt2"); },
             RuleOf::kProgram, [](const JobSpec& s) { return !is_gpt2(s) || s.model.head == Head::kTied; },
             [](const JobSpec&) { return std::string("untied"); }},
    // Rotary positions turn pairs of numbers.
    SpecRule{E::kHeadIsOdd, Part::kModel, "model.heads",
             [] { return std::string("width / heads is even in family llama"); }, RuleOf::kProgram,
             [](const JobSpec& s) { return !s.model.has_rotary_positions() || s.model.head_dim() % 2 == 0; },
             head_found},
    // The products of attention whose k is a head take it as one block; every other k is cut into blocks.
    SpecRule{E::kHeadTooWide, Parts(Part::kModel).with(Part::kJob), "model.heads",
             [] {
                 return "width / heads is at most " + std::to_string(arithmetic::kMaxProductBlock) +
                        " in profile i16";
             },
             RuleOf::kArithmetic,
             [](const JobSpec& s) {
                 return s.profile != Profile::kI16 || s.model.head_dim() <= arithmetic::kMaxProductBlock;
             },
             head_found},
    SpecRule{E::kModelTooLarge, Part::kModel, "model.width",
             [] { return "the model has at most " + counted(kMaxParameters, "parameters"); },
             RuleOf::kProgram, [](const JobSpec& s) { return parameter_count(s.model) <= kMaxParameters; },
             [](const JobSpec& s) { return counted(parameter_count(s.model), "parameters"); }},
    SpecRule{E::kTrainTooShort, Parts(Part::kData).with(Part::kModel), "data.manifest",
             [] { return std::string("the training stream has more than context tokens"); }, RuleOf::kProgram,
             [](const JobSpec& s) { return sequence_count(s.data.train_tokens, s.model.context) > 0; },
             context_found},
    SpecRule{E::kHeldOutTooShort, Parts(Part::kData).with(Part::kModel), "data.held_out",
             [] { return std::string("the held-out stream has more than context tokens"); }, RuleOf::kProgram,
             [](const JobSpec& s) { return sequence_count(s.data.held_out_tokens, s.model.context) > 0; },
             context_found},
    SpecRule{E::kStepTooLarge, Parts(Part::kTrain).with(Part::kModel), "train.batch",
             [] { return "batch times context is at most " + counted(kMaxStepTokens, "tokens"); },
             RuleOf::kArithmetic, [](const JobSpec& s) { return step_tokens(s) <= kMaxStepTokens; },
             [](const JobSpec& s) { return counted(step_tokens(s), "tokens a step"); }},
    SpecRule{E::kTermsWithoutMachines, Part::kMarket, "market.machines_least",
             [] {
                 return std::string(
                     "machines_least is at least 1 where another of the market's terms is given");
             },
             RuleOf::kLedger,
             [](const JobSpec& s) { return s.market.terms.gang > 0 || !s.market.terms.engaged(); },
             [](const JobSpec&) { return std::string("terms for no machine"); }},
    SpecRule{E::kMachinesBeyondSlots, Parts(Part::kMarket).with(Part::kJob), "market.machines_most",
             [] { return std::string("machines_most is from machines_least to slots"); }, RuleOf::kLedger,
             [](const JobSpec& s) {
                 const MarketTerms& terms = s.market.terms;
                 return !terms.engaged() || (terms.gang <= terms.most && terms.most <= s.slots);
             },
             [](const JobSpec& s) {
                 return "market.machines_least = " + std::to_string(s.market.terms.gang) +
                        ", job.slots = " + std::to_string(s.slots);
             }},
    // What a slot hands on is shown by `finalise` alone.
    SpecRule{E::kFinaliseOfCarried, Parts(Part::kSecurity).with(Part::kJob), "security.finalise_q",
             [] { return std::string("finalise_q is 1 where inner_state is carried"); }, RuleOf::kLedger,
             [](const JobSpec& s) { return s.security.finalise_threshold == kMost || !carries_state(s); },
             [](const JobSpec&) { return std::string("train.inner_state = carried"); }},
    SpecRule{E::kSegmentBeyondRound, Parts(Part::kSecurity).with(Part::kTrain), "security.segment_steps",
             [] { return std::string("segment_steps is at most inner_steps"); }, RuleOf::kLedger,
             [](const JobSpec& s) { return s.security.segment_steps <= s.train.inner_steps; },
             [](const JobSpec& s) { return "train.inner_steps = " + std::to_string(s.train.inner_steps); }},
    SpecRule{E::kTooManySegments, Parts(Part::kSecurity).with(Part::kTrain), "security.segment_steps",
             [] {
                 return "a slot's round has at most " + counted(kMaxSegments, "segments") +
                        ": inner_steps / segment_steps, rounded up";
             },
             RuleOf::kLedger, [](const JobSpec& s) { return RoundPlan(s).segments() <= kMaxSegments; },
             [](const JobSpec& s) { return counted(RoundPlan(s).segments(), "segments"); }},
    SpecRule{E::kTooManyUnits, Parts(Part::kSecurity).with(Part::kTrain).with(Part::kJob),
             "security.segment_steps",
             [] {
                 return "a round has at most " + counted(kMaxUnits, "audit units") +
                        ": slots times one more than the segments of a slot";
             },
             RuleOf::kLedger, [](const JobSpec& s) { return units(s) <= kMaxUnits; },
             [](const JobSpec& s) {
                 return counted(s.slots, "slots of ") + counted(RoundPlan(s).units(), "units, together ") +
                        std::to_string(units(s));
             }},
};

bool is_whole(const FieldValue& value) { return !std::holds_alternative<Float32>(value); }

base::Int128 wide(const FieldValue& value) {
    const auto* const negative_too = std::get_if<std::int64_t>(&value);
    return negative_too != nullptr ? base::Int128{*negative_too}
                                   : base::Int128{std::get<std::uint64_t>(value)};
}

/// The shortest decimal that reads back as the same binary32.
std::string decimal(Float32 number) {
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number.value());
    return {digits.data(), end.ptr};
}

}  // namespace

std::string_view to_text(RuleOf rule) {
    switch (rule) {
        case RuleOf::kProgram: return "program";
        case RuleOf::kLedger: return "ledger";
        case RuleOf::kArithmetic: return "arithmetic";
    }
    return "unknown";
}

bool Limit::applies(Family family) const {
    return of == Of::kAnyFamily || (of == Of::kGpt2) == (family == Family::kGpt2);
}

bool Limit::allows(const FieldValue& field) const {
    if (is_whole(field) != is_whole(least)) return false;
    if (is_whole(field)) return wide(field) >= wide(least) && wide(field) <= wide(most);
    const float number = std::get<Float32>(field).value();
    // Comparisons that are false for NaN; -0 has the bits of no number that a rule is written for.
    return number >= std::get<Float32>(least).value() && number <= std::get<Float32>(most).value() &&
           !std::signbit(number);
}

std::string Limit::range() const {
    if (quantity == Quantity::kRate) return "above 0 and at most 1";
    if (least == most) return to_text(quantity, least);
    const std::string_view after = quantity == Quantity::kBytes ? " bytes" : "";
    return "from " + to_text(quantity, least) + " to " + to_text(quantity, most) + std::string(after);
}

std::span<const Limit> limits() { return kLimits; }
std::span<const SpecRule> spec_rules() { return kRules; }

const Limit& limit_of(std::string_view key, Family family) {
    const auto* const found = std::find_if(kLimits.begin(), kLimits.end(), [&](const Limit& limit) {
        return limit.key == key && limit.applies(family);
    });
    ASSAY_CHECK(found != kLimits.end());
    return *found;
}

std::string to_text(Quantity quantity, const FieldValue& value) {
    if (!is_whole(value)) return decimal(std::get<Float32>(value));
    if (quantity == Quantity::kRate) {
        const std::uint64_t threshold = std::get<std::uint64_t>(value);
        std::array<char, 40> digits{};
        const double rate = threshold == kMost ? 1.0 : std::ldexp(static_cast<double>(threshold), -64);
        return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), rate).ptr};
    }
    const auto* const negative_too = std::get_if<std::int64_t>(&value);
    const std::string digits = negative_too != nullptr ? std::to_string(*negative_too)
                                                       : std::to_string(std::get<std::uint64_t>(value));
    return quantity == Quantity::kAmount ? digits + "u" : digits;
}

}  // namespace assay::program
