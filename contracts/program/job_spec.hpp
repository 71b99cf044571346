// SPDX-License-Identifier: Apache-2.0
// JobSpec holds everything that fixes the bits of a job and the terms on which it is bought. A job is a pure
// function of its spec, its data and, per round, the set of accepted slots (docs/architecture.md).
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>

#include "contracts/base/codec.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

using base::Amount;
using base::Hash256;

/// A binary32 number stored as its bits, so that records that contain one have one encoding.
struct Float32 {
    std::uint32_t bits = 0;
    constexpr Float32() = default;
    constexpr Float32(float value) : bits(std::bit_cast<std::uint32_t>(value)) {}
    [[nodiscard]] constexpr float value() const { return std::bit_cast<float>(bits); }
    friend auto operator<=>(const Float32&, const Float32&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.bits);
    }
};

enum class Family : std::uint8_t { kGpt2 = 1, kLlama = 2 };
/// How matrix products are defined: chains of binary32 fma, or exact integers over 16-bit fixed point.
enum class Profile : std::uint8_t { kF32 = 1, kI16 = 2 };
/// Whether the logits use the embedding's matrix or a matrix of their own.
enum class Head : std::uint8_t { kTied = 1, kUntied = 2 };
/// When an update may be merged: only after its verdict.
enum class MergeMode : std::uint8_t { kVerified = 1 };

/// Shape of the model; `heads` divides `width`. GPT-2: learned positions, LayerNorm first, GELU(tanh), tied
/// head. Its `kv_heads`, `hidden` and `rope_theta` are 0, which stand for `heads`, 4·width, and no rotary
/// positions. Llama: RMSNorm, rotary positions, grouped-query attention, SwiGLU, no biases; `kv_heads`
/// divides `heads`.
struct ModelConfig {
    Family family = Family::kGpt2;
    std::uint32_t layers = 0;
    std::uint32_t width = 0;
    std::uint32_t heads = 0;
    std::uint32_t context = 0;     ///< positions, and the length T of a training sequence
    std::uint32_t vocabulary = 0;  ///< tokens, without padding
    std::uint32_t kv_heads = 0;    ///< Llama: heads of keys and values
    std::uint32_t hidden = 0;      ///< Llama: numbers of the hidden layer
    Float32 rope_theta = 0.0F;     ///< Llama: base of the rotary frequencies
    Float32 norm_epsilon = 1e-5F;  ///< GPT-2's is 1e-5
    Head head = Head::kTied;

    [[nodiscard]] std::uint32_t head_dim() const { return width / heads; }
    [[nodiscard]] std::uint32_t key_value_heads() const { return kv_heads == 0 ? heads : kv_heads; }
    [[nodiscard]] std::uint32_t hidden_width() const { return hidden == 0 ? 4 * width : hidden; }
    [[nodiscard]] bool has_rotary_positions() const { return rope_theta != Float32(0.0F); }
    /// Numbers in a row of queries, keys and values: (heads + 2·kv_heads)·head_dim.
    [[nodiscard]] std::uint32_t qkv_width() const { return (heads + 2 * key_value_heads()) * head_dim(); }

    friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.family, self.layers, self.width, self.heads, self.context, self.vocabulary, self.kv_heads,
              self.hidden, self.rope_theta, self.norm_epsilon, self.head);
    }
};

/// Optimizer and schedule. Learning rate: linear warm-up over `warmup_steps` inner steps of the whole job,
/// then constant (the table is computed in binary64 and rounded once; contracts/program/schedule.hpp).
struct TrainConfig {
    std::uint32_t inner_steps = 0;  ///< H: AdamW steps of a slot in a round
    std::uint32_t batch = 0;        ///< b: sequences per slot and step
    std::uint32_t warmup_steps = 0;
    Float32 learning_rate = 0.0F;
    Float32 beta1 = 0.9F;
    Float32 beta2 = 0.95F;
    Float32 epsilon = 1e-8F;
    Float32 weight_decay = 0.1F;
    Float32 clip_norm = 1.0F;
    Float32 outer_learning_rate = 0.7F;
    Float32 outer_momentum = 0.9F;
    std::int32_t sum_exponent = -40;  ///< updates are integers at 2^sum_exponent
    /// The largest norm of an update in the merge, which scales a longer one down to it (update_clip.hpp); 0
    /// for no bound. JobSpec encodes it after its other fields if it is not 0.
    Float32 max_update_norm = 0.0F;

    friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.inner_steps, self.batch, self.warmup_steps, self.learning_rate, self.beta1, self.beta2,
              self.epsilon, self.weight_decay, self.clip_norm, self.outer_learning_rate, self.outer_momentum,
              self.sum_exponent);
    }
};

/// Data by content. A blob id is the Merkle root over chunks of 1 MiB (node/blob).
struct DataConfig {
    Hash256 manifest;   ///< blob id of manifest.json
    Hash256 train;      ///< blob id of the training token file
    Hash256 held_out;   ///< blob id of the held-out token file
    Hash256 tokenizer;  ///< blob id of tokenizer.json
    std::uint64_t train_tokens = 0;
    std::uint64_t held_out_tokens = 0;

    friend bool operator==(const DataConfig&, const DataConfig&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.manifest, self.train, self.held_out, self.tokenizer, self.train_tokens,
              self.held_out_tokens);
    }
};

/// The lots of the market with which a job works (decision 86). Sizes of a class are numbers of bits, as in
/// contracts::LotClass: 5 stands for 16 to 31.
struct MarketTerms {
    std::uint32_t gang = 0;          ///< least machines: with fewer the job waits
    std::uint32_t most = 0;          ///< most machines
    std::uint8_t least_speed = 0;    ///< of verified speed, in thousandths of a work unit per height
    std::uint8_t least_memory = 0;   ///< of GiB
    std::uint8_t least_network = 0;  ///< of Mbit/s

    /// Whether the job leases its machines in the market; if not, it holds an auction of its own.
    [[nodiscard]] bool engaged() const { return *this != MarketTerms{}; }
    friend bool operator==(const MarketTerms&, const MarketTerms&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.gang, self.most, self.least_speed, self.least_memory, self.least_network);
    }
};

/// Terms of purchase. Prices are per work unit (10^9 FLOPs of the job's program).
struct MarketConfig {
    Amount max_price;                   ///< base units per work unit: no miner is paid more
    Amount budget;                      ///< locked in escrow at submission; nothing beyond it is ever spent
    std::uint64_t deadline_blocks = 0;  ///< heights after submission from which no round begins
    MarketTerms terms;                  ///< JobSpec encodes them after its other fields if they are engaged
    friend bool operator==(const MarketConfig&, const MarketConfig&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.max_price, self.budget, self.deadline_blocks);
    }
};

/// How much is recomputed. A rate is a threshold for a 64-bit draw: a unit is audited if the draw is below
/// it. UINT64_MAX stands for rate 1 and always audits.
struct SecurityConfig {
    std::uint64_t audit_threshold = UINT64_MAX;  ///< q of miners past their probation
    std::uint32_t segment_steps = 0;             ///< inner steps per segment; the last may be shorter
    Amount gain_bound;  ///< the buyer's bound on a cheat's outside gain; raises the bond
    /// The rate of the unit `finalise` for miners past their probation. JobSpec encodes it after its other
    /// fields if it is not 1.
    std::uint64_t finalise_threshold = UINT64_MAX;

    /// The lowest rate at which a unit of a proven miner is drawn.
    [[nodiscard]] std::uint64_t least_threshold() const {
        return audit_threshold < finalise_threshold ? audit_threshold : finalise_threshold;
    }
    friend bool operator==(const SecurityConfig&, const SecurityConfig&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.audit_threshold, self.segment_steps, self.gain_bound);
    }
};

/// The held-out loss of a round is the mean over so many held-out sequences, drawn by the round's beacon
/// (held_out.hpp), or over all if there are fewer.
inline constexpr std::uint64_t kHeldOutSequences = 64;

struct JobSpec {
    std::string name;  ///< 1 to 64 bytes
    Profile profile = Profile::kF32;
    Engine engine = kStandardEngine;
    Strategy strategy = kStandardStrategy;
    InnerState inner_state = InnerState::kReset;
    MergeMode merge = MergeMode::kVerified;
    std::uint32_t slots = 0;  ///< virtual slots, fixed for the life of the job
    std::uint32_t rounds = 0;
    std::uint64_t seed = 0;  ///< of data order and, without `initial_blob`, of initial weights
    ModelConfig model;
    TrainConfig train;
    DataConfig data;
    MarketConfig market;
    SecurityConfig security;
    Hash256 initial_root;  ///< root of the base state of round 0, computed by the buyer, checked by all
    /// Blob id of that base state's file, for a job that starts from given weights; zero when it starts from
    /// the seed. The state has step 0 and zero outer momentum.
    Hash256 initial_blob;

    /// Whether merges scale updates down (TrainConfig::max_update_norm).
    [[nodiscard]] bool has_norm_bound() const { return train.max_update_norm.value() > 0.0F; }

    friend bool operator==(const JobSpec&, const JobSpec&) = default;
    /// The byte of `merge` also has flags for what follows the other fields: a rate of `finalise`, a norm
    /// bound, terms of the market.
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.name, self.profile, self.engine, self.strategy, self.inner_state);
        constexpr std::uint8_t kFinaliseFollows = 0x80;
        constexpr std::uint8_t kNormBoundFollows = 0x40;
        constexpr std::uint8_t kTermsFollow = 0x20;
        constexpr std::uint8_t kFollows = kFinaliseFollows | kNormBoundFollows | kTermsFollow;
        const bool other_rate = self.security.finalise_threshold != UINT64_MAX;
        // A bound outside its range is encoded too; check_spec refuses it.
        const bool any_bound = self.train.max_update_norm != Float32();
        auto announced = static_cast<std::uint8_t>(
            static_cast<std::uint8_t>(self.merge) | (other_rate ? kFinaliseFollows : 0) |
            (any_bound ? kNormBoundFollows : 0) | (self.market.terms.engaged() ? kTermsFollow : 0));
        visit(announced);
        if constexpr (!std::is_const_v<Self>) {
            const auto mode = static_cast<std::uint8_t>(announced & ~kFollows);
            if (mode != static_cast<std::uint8_t>(MergeMode::kVerified)) {
                visit.refuse(base::DecodeError::kBadEnum);
            }
        }
        visit(self.slots, self.rounds, self.seed, self.model, self.train, self.data, self.market,
              self.security, self.initial_root, self.initial_blob);
        if ((announced & kFinaliseFollows) != 0) visit(self.security.finalise_threshold);
        if ((announced & kNormBoundFollows) != 0) visit(self.train.max_update_norm);
        if ((announced & kTermsFollow) != 0) visit(self.market.terms);
        if constexpr (!std::is_const_v<Self>) {
            // Rate 1, no bound and no terms have only one encoding.
            const bool rate =
                (announced & kFinaliseFollows) == 0 || self.security.finalise_threshold != UINT64_MAX;
            const bool bound =
                (announced & kNormBoundFollows) == 0 || self.train.max_update_norm != Float32();
            const bool terms = (announced & kTermsFollow) == 0 || self.market.terms.engaged();
            if (!rate || !bound || !terms) visit.refuse(base::DecodeError::kBadEnum);
        }
    }
};

}  // namespace assay::program

namespace assay::base {
ASSAY_ENUM_RANGE(program::Family, kGpt2, kLlama);
ASSAY_ENUM_RANGE(program::Profile, kF32, kI16);
ASSAY_ENUM_RANGE(program::Head, kTied, kUntied);
ASSAY_ENUM_RANGE(program::MergeMode, kVerified, kVerified);
}  // namespace assay::base
