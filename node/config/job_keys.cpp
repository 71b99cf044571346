// SPDX-License-Identifier: Apache-2.0
#include "node/config/job_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "contracts/program/names.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::node {
namespace {

using program::Float32;
using program::JobSpec;
using Type = JobKeyType;

// One pair of functions per kind of member; the member is the template argument.
template <auto Part, auto Member>
bool put_whole(JobFile& job, const JobValue& value) {
    using T = std::remove_reference_t<decltype((job.spec.*Part).*Member)>;
    (job.spec.*Part).*Member = static_cast<T>(std::get<std::int64_t>(value));
    return true;
}
template <auto Part, auto Member>
JobValue get_whole(const JobFile& job) {
    return static_cast<std::int64_t>((job.spec.*Part).*Member);
}
template <auto Member>
bool put_terms(JobFile& job, const JobValue& value) {
    using T = std::remove_reference_t<decltype(job.spec.market.terms.*Member)>;
    job.spec.market.terms.*Member = static_cast<T>(std::get<std::int64_t>(value));
    return true;
}
template <auto Member>
JobValue get_terms(const JobFile& job) {
    return static_cast<std::int64_t>(job.spec.market.terms.*Member);
}
template <auto Member>
bool put_top(JobFile& job, const JobValue& value) {
    using T = std::remove_reference_t<decltype(job.spec.*Member)>;
    job.spec.*Member = static_cast<T>(std::get<std::int64_t>(value));
    return true;
}
template <auto Member>
JobValue get_top(const JobFile& job) {
    return static_cast<std::int64_t>(job.spec.*Member);
}
template <auto Part, auto Member>
bool put_float(JobFile& job, const JobValue& value) {
    (job.spec.*Part).*Member = static_cast<float>(std::get<double>(value));
    return true;
}
// The decimal that a person would write: the shortest that reads back as the same binary32.
template <auto Part, auto Member>
JobValue get_float(const JobFile& job) {
    std::array<char, 40> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), ((job.spec.*Part).*Member).value());
    double value = 0;
    std::from_chars(digits.data(), end.ptr, value);
    return value;
}
template <auto Part, auto Member>
bool put_money(JobFile& job, const JobValue& value) {
    const auto amount = base::parse_amount(std::get<std::string>(value));
    if (amount) (job.spec.*Part).*Member = *amount;
    return amount.has_value();
}
template <auto Part, auto Member>
JobValue get_money(const JobFile& job) {
    return std::to_string(((job.spec.*Part).*Member).units()) + "u";
}
template <std::filesystem::path JobFile::*Member>
bool put_path(JobFile& job, const JobValue& value) {
    job.*Member = std::get<std::string>(value);
    return true;
}
template <std::filesystem::path JobFile::*Member>
JobValue get_path(const JobFile& job) {
    return (job.*Member).string();
}
template <class Enum>
bool put_word(const std::optional<Enum>& named, Enum& out) {
    if (named) out = *named;
    return named.has_value();
}
bool put_profile(JobFile& job, const JobValue& value) {
    return put_word(program::parse_profile(std::get<std::string>(value)), job.spec.profile);
}
JobValue get_profile(const JobFile& job) { return std::string(program::to_text(job.spec.profile)); }
bool put_family(JobFile& job, const JobValue& value) {
    return put_word(program::parse_family(std::get<std::string>(value)), job.spec.model.family);
}
JobValue get_family(const JobFile& job) { return std::string(program::to_text(job.spec.model.family)); }
bool put_head(JobFile& job, const JobValue& value) {
    return put_word(program::parse_head(std::get<std::string>(value)), job.spec.model.head);
}
JobValue get_head(const JobFile& job) { return std::string(program::to_text(job.spec.model.head)); }
/// The words that rows of strategies have, each once, the standard's first.
std::vector<std::string> words_of(std::string_view (*word)(const program::StrategyRow&)) {
    std::vector<std::string> words;
    for (const program::StrategyRow* row : program::strategies()) {
        if (std::find(words.begin(), words.end(), word(*row)) == words.end()) words.emplace_back(word(*row));
    }
    return words;
}
std::string_view engine_word(const program::StrategyRow& row) { return row.engine_word; }
std::string_view strategy_word(const program::StrategyRow& row) { return row.word; }
std::string_view codec_word(const program::StrategyRow& row) { return row.codec->word; }

/// Each of the three keys changes one word of the row that the job has so far.
using Rename = void (*)(std::string_view& engine, std::string_view& strategy, std::string_view& codec,
                        std::string_view word);
template <Rename rename>
bool put_row(JobFile& job, const JobValue& value) {
    const program::StrategyRow* row = program::find_strategy(job.spec.engine, job.spec.strategy);
    if (row == nullptr) return false;
    std::string_view engine = row->engine_word, strategy = row->word, codec = row->codec->word;
    rename(engine, strategy, codec, std::get<std::string>(value));
    row = program::find_strategy(engine, strategy, codec);
    if (row == nullptr) return false;
    job.spec.engine = row->engine;
    job.spec.strategy = row->number;
    return true;
}
template <std::string_view (*word)(const program::StrategyRow&)>
JobValue get_row(const JobFile& job) {
    const program::StrategyRow* row = program::find_strategy(job.spec.engine, job.spec.strategy);
    return std::string(row == nullptr ? "unknown" : word(*row));
}
void rename_engine(std::string_view& engine, std::string_view&, std::string_view&, std::string_view word) {
    engine = word;
}
void rename_strategy(std::string_view&, std::string_view& strategy, std::string_view&,
                     std::string_view word) {
    strategy = word;
}
void rename_codec(std::string_view&, std::string_view&, std::string_view& codec, std::string_view word) {
    codec = word;
}

bool put_inner_state(JobFile& job, const JobValue& value) {
    for (const auto state : {program::InnerState::kReset, program::InnerState::kCarried}) {
        if (program::to_text(state) != std::get<std::string>(value)) continue;
        job.spec.inner_state = state;
        return true;
    }
    return false;
}
JobValue get_inner_state(const JobFile& job) { return std::string(program::to_text(job.spec.inner_state)); }

// Choices with one word so far: the default member value is that word's.
bool put_only(JobFile&, const JobValue&) { return true; }

bool put_name(JobFile& job, const JobValue& value) {
    job.spec.name = std::get<std::string>(value);
    return true;
}

/// The threshold of a rate; 0, which no job may have, for what is no rate.
std::uint64_t threshold_of(double rate) {
    if (!(rate > 0.0 && rate <= 1.0)) return 0;
    // Below 1 the product is below 2^64, and scaling by a power of two is exact.
    return rate < 1.0 ? static_cast<std::uint64_t>(std::ldexp(rate, 64)) : UINT64_MAX;
}
template <auto Member>
bool put_rate(JobFile& job, const JobValue& value) {
    job.spec.security.*Member = threshold_of(std::get<double>(value));
    return job.spec.security.*Member > 0;
}
template <auto Member>
JobValue get_rate(const JobFile& job) {
    const std::uint64_t threshold = job.spec.security.*Member;
    return threshold == UINT64_MAX ? 1.0 : std::ldexp(static_cast<double>(threshold), -64);
}

/// One section of the file, key by key; ranges are those of the table (contracts/program/limits.hpp).
class Section {
public:
    using Put = bool (*)(JobFile&, const JobValue&);
    using Get = JobValue (*)(const JobFile&);

    Section(const char* name, std::vector<JobKey>& out) : name_(name), out_(out) {}

    void limited(const char* name, Type type, std::optional<JobValue> standard, const char* meaning, Put put,
                 Get get) {
        add(name, type, std::move(standard), meaning, put, get).limit =
            &program::limit_of(std::string(name_) + "." + name);
    }
    void required(const char* name, Type type, const char* meaning, Put put, Get get) {
        limited(name, type, std::nullopt, meaning, put, get);
    }
    /// A key of which 0 asks for what the family has.
    void or_zero(const char* name, Type type, JobValue zero, const char* meaning, Put put, Get get) {
        limited(name, type, std::move(zero), meaning, put, get);
        out_.back().zero_is_standard = true;
    }
    /// The first word is the standard.
    void choice(const char* name, std::vector<std::string> words, const char* meaning, Put put, Get get) {
        const JobValue first = words.front();
        add(name, Type::kChoice, first, meaning, put, get).words = std::move(words);
    }
    void path(const char* name, std::optional<JobValue> standard, const char* meaning, Put put, Get get) {
        add(name, Type::kPath, std::move(standard), meaning, put, get);
    }

private:
    JobKey& add(const char* name, Type type, std::optional<JobValue> standard, const char* meaning, Put put,
                Get get) {
        return out_.emplace_back(
            JobKey{name_, name, type, nullptr, false, {}, std::move(standard), meaning, put, get});
    }
    const char* name_;
    std::vector<JobKey>& out_;
};

JobValue text(const char* value) { return std::string(value); }
JobValue whole(std::int64_t value) { return value; }

void add_job(Section keys) {
    keys.required("name", Type::kText, "what people call the job", put_name,
                  [](const JobFile& j) { return JobValue{j.spec.name}; });
    keys.choice("profile", {"f32", "i16"},
                "arithmetic of matrix products: binary32 chains, or exact integers over 16-bit fixed point",
                put_profile, get_profile);
    keys.choice("engine", words_of(engine_word), "how machines divide the work: each trains slots alone",
                put_row<rename_engine>, get_row<engine_word>);
    keys.choice("strategy", words_of(strategy_word), "how the slots' updates become the next model",
                put_row<rename_strategy>, get_row<strategy_word>);
    keys.required("slots", Type::kWhole, "virtual workers per round, fixed for the job",
                  put_top<&JobSpec::slots>, get_top<&JobSpec::slots>);
    keys.required("rounds", Type::kWhole, "rounds to train", put_top<&JobSpec::rounds>,
                  get_top<&JobSpec::rounds>);
    keys.limited("seed", Type::kWhole, whole(0), "fixes data order and, without model.from, initial weights",
                 put_top<&JobSpec::seed>, get_top<&JobSpec::seed>);
}

void add_model(Section keys) {
    using M = program::ModelConfig;
    constexpr auto kModel = &JobSpec::model;
    keys.choice("family", {"gpt2", "llama"}, "shape of the model", put_family, get_family);
    keys.path("from", text(""),
              "folder of the model to start from ([what is read](../formats/model-folder.md)): its shape "
              "and weights are the job's; empty: initial weights from the seed",
              put_path<&JobFile::from>, get_path<&JobFile::from>);
    keys.required("layers", Type::kWhole, "transformer blocks", put_whole<kModel, &M::layers>,
                  get_whole<kModel, &M::layers>);
    keys.required("width", Type::kWhole, "numbers per token between blocks", put_whole<kModel, &M::width>,
                  get_whole<kModel, &M::width>);
    keys.required("heads", Type::kWhole, "attention heads; divides width", put_whole<kModel, &M::heads>,
                  get_whole<kModel, &M::heads>);
    keys.required("context", Type::kWhole, "tokens of a training sequence", put_whole<kModel, &M::context>,
                  get_whole<kModel, &M::context>);
    keys.required("vocabulary", Type::kWhole, "tokens of the tokenizer", put_whole<kModel, &M::vocabulary>,
                  get_whole<kModel, &M::vocabulary>);
    keys.or_zero("kv_heads", Type::kWhole, whole(0),
                 "llama: heads of keys and values, divides heads; 0: as many as heads",
                 put_whole<kModel, &M::kv_heads>, get_whole<kModel, &M::kv_heads>);
    keys.or_zero("hidden", Type::kWhole, whole(0),
                 "llama: numbers of the hidden layer; 0: 8/3 of width, up to a multiple of 64",
                 put_whole<kModel, &M::hidden>, get_whole<kModel, &M::hidden>);
    keys.or_zero("rope_theta", Type::kNumber, 0.0, "llama: base of the rotary frequencies; 0: 10000",
                 put_float<kModel, &M::rope_theta>, get_float<kModel, &M::rope_theta>);
    keys.limited("norm_epsilon", Type::kNumber, 1e-5, "added to the mean square before the root; gpt2: 1e-5",
                 put_float<kModel, &M::norm_epsilon>, get_float<kModel, &M::norm_epsilon>);
    keys.choice("head", {"tied", "untied"},
                "whether the logits use the embedding's matrix or, llama only, one of their own", put_head,
                get_head);
}

void add_data(Section keys) {
    keys.path("manifest", std::nullopt, "manifest.json of the packed text", put_path<&JobFile::manifest>,
              get_path<&JobFile::manifest>);
    keys.path("held_out", text(""), "token file for evaluation; empty: the manifest's own",
              put_path<&JobFile::held_out>, get_path<&JobFile::held_out>);
}

void add_train(Section keys) {
    using T = program::TrainConfig;
    constexpr auto kTrain = &JobSpec::train;
    keys.required("inner_steps", Type::kWhole, "AdamW steps of a slot in a round",
                  put_whole<kTrain, &T::inner_steps>, get_whole<kTrain, &T::inner_steps>);
    keys.required("batch", Type::kWhole, "sequences per slot and step", put_whole<kTrain, &T::batch>,
                  get_whole<kTrain, &T::batch>);
    keys.limited("warmup_steps", Type::kWhole, whole(0),
                 "inner steps of the whole job over which the rate rises",
                 put_whole<kTrain, &T::warmup_steps>, get_whole<kTrain, &T::warmup_steps>);
    keys.required("learning_rate", Type::kNumber, "of AdamW, after the warm-up",
                  put_float<kTrain, &T::learning_rate>, get_float<kTrain, &T::learning_rate>);
    keys.limited("beta1", Type::kNumber, 0.9, "of AdamW", put_float<kTrain, &T::beta1>,
                 get_float<kTrain, &T::beta1>);
    keys.limited("beta2", Type::kNumber, 0.95, "of AdamW", put_float<kTrain, &T::beta2>,
                 get_float<kTrain, &T::beta2>);
    keys.limited("epsilon", Type::kNumber, 1e-8, "of AdamW", put_float<kTrain, &T::epsilon>,
                 get_float<kTrain, &T::epsilon>);
    keys.limited("weight_decay", Type::kNumber, 0.1, "of AdamW, on matrices only",
                 put_float<kTrain, &T::weight_decay>, get_float<kTrain, &T::weight_decay>);
    keys.limited("clip_norm", Type::kNumber, 1.0, "largest gradient norm of a step",
                 put_float<kTrain, &T::clip_norm>, get_float<kTrain, &T::clip_norm>);
    keys.limited("outer_learning_rate", Type::kNumber, 0.7, "of the merge (Nesterov)",
                 put_float<kTrain, &T::outer_learning_rate>, get_float<kTrain, &T::outer_learning_rate>);
    keys.limited("outer_momentum", Type::kNumber, 0.9, "of the merge (Nesterov)",
                 put_float<kTrain, &T::outer_momentum>, get_float<kTrain, &T::outer_momentum>);
    keys.limited("sum_exponent", Type::kWhole, whole(-40), "updates are summed as integers at 2^sum_exponent",
                 put_whole<kTrain, &T::sum_exponent>, get_whole<kTrain, &T::sum_exponent>);
    keys.limited("max_update_norm", Type::kNumber, 0.0,
                 "norm beyond which a slot's update is scaled down to it in the merge; 0: none is",
                 put_float<kTrain, &T::max_update_norm>, get_float<kTrain, &T::max_update_norm>);
    keys.choice("codec", words_of(codec_word),
                "how an update is rounded and sent: whole numbers of 8 bytes, or FP16 of 2 bytes",
                put_row<rename_codec>, get_row<codec_word>);
    keys.choice("inner_state", {"reset", "carried"},
                "AdamW's moments at the start of a round: zero, or those of the slot's last accepted round",
                put_inner_state, get_inner_state);
}

void add_market(Section keys) {
    using K = program::MarketConfig;
    constexpr auto kMarket = &JobSpec::market;
    keys.required("max_price", Type::kMoney, "most that is paid per work unit (10^9 FLOPs)",
                  put_money<kMarket, &K::max_price>, get_money<kMarket, &K::max_price>);
    keys.required("budget", Type::kMoney, "locked in escrow at submission; nothing beyond it is spent",
                  put_money<kMarket, &K::budget>, get_money<kMarket, &K::budget>);
    keys.required("deadline", Type::kWhole,
                  "blocks after submission from which no round begins; a running round is finished",
                  put_whole<kMarket, &K::deadline_blocks>, get_whole<kMarket, &K::deadline_blocks>);
    using T = program::MarketTerms;
    keys.limited("machines_least", Type::kWhole, whole(0),
                 "least machines that the job leases in the market, and waits for; 0: it holds an auction of "
                 "its own",
                 put_terms<&T::gang>, get_terms<&T::gang>);
    keys.limited("machines_most", Type::kWhole, whole(0),
                 "most machines that it uses at once, at most slots; it leases up to twice as many where "
                 "some cannot work; 0: as many as machines_least",
                 put_terms<&T::most>, get_terms<&T::most>);
    keys.limited("least_speed", Type::kWhole, whole(0),
                 "of a leased machine's class: bits of its verified speed in thousandths of a work unit per "
                 "height",
                 put_terms<&T::least_speed>, get_terms<&T::least_speed>);
    keys.limited("least_memory", Type::kWhole, whole(0),
                 "of a leased machine's class: bits of its GiB; 5 stands for 16 to 31",
                 put_terms<&T::least_memory>, get_terms<&T::least_memory>);
    keys.limited("least_network", Type::kWhole, whole(0),
                 "of a leased machine's class: bits of its Mbit/s; 7 stands for 64 to 127",
                 put_terms<&T::least_network>, get_terms<&T::least_network>);
}

void add_security(Section keys) {
    using S = program::SecurityConfig;
    constexpr auto kSecurity = &JobSpec::security;
    keys.limited("q", Type::kNumber, 1.0, "share of the work of proven miners that is recomputed",
                 put_rate<&S::audit_threshold>, get_rate<&S::audit_threshold>);
    keys.limited("finalise_q", Type::kNumber, 1.0,
                 "share of proven miners' updates that are recomputed; the others must only be there",
                 put_rate<&S::finalise_threshold>, get_rate<&S::finalise_threshold>);
    keys.required("segment_steps", Type::kWhole, "inner steps per audited segment; at most inner_steps",
                  put_whole<kSecurity, &S::segment_steps>, get_whole<kSecurity, &S::segment_steps>);
    keys.limited("gain_bound", Type::kMoney, text("0u"),
                 "what a cheat could gain outside the job; raises the bond",
                 put_money<kSecurity, &S::gain_bound>, get_money<kSecurity, &S::gain_bound>);
    keys.choice("merge", {"verified"}, "when an update may enter the model", put_only,
                [](const JobFile&) { return text("verified"); });
}

std::vector<JobKey> make_keys() {
    std::vector<JobKey> keys;
    add_job({"job", keys});
    add_model({"model", keys});
    add_data({"data", keys});
    add_train({"train", keys});
    add_market({"market", keys});
    add_security({"security", keys});
    return keys;
}

// A double beyond the floats is none of them; the conversion would be undefined.
Float32 narrowed(double value) {
    const bool fits = std::abs(value) <= std::numeric_limits<float>::max();
    return fits ? static_cast<float>(value) : std::numeric_limits<float>::infinity();
}

}  // namespace

const std::vector<JobKey>& job_keys() {
    static const std::vector<JobKey> keys = make_keys();
    return keys;
}

std::optional<program::FieldValue> field_value(const JobKey& key, const JobValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
    if (const auto* number = std::get_if<double>(&value)) {
        if (key.limit->quantity == program::Quantity::kRate) return threshold_of(*number);
        return narrowed(*number);
    }
    const auto& text = std::get<std::string>(value);
    if (key.type != Type::kMoney) return std::uint64_t{text.size()};
    const auto amount = base::parse_amount(text);
    if (!amount) return std::nullopt;
    return amount->units();
}

bool is_allowed(const JobKey& key, const JobValue& value) {
    if (key.type == Type::kChoice)
        return std::find(key.words.begin(), key.words.end(), std::get<std::string>(value)) != key.words.end();
    if (key.limit == nullptr) return true;
    if (key.zero_is_standard && value == key.standard) return true;
    const auto field = field_value(key, value);
    return field && key.limit->allows(*field);
}

}  // namespace assay::node
