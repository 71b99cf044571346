// SPDX-License-Identifier: Apache-2.0
#include "node/config/job_keys.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "contracts/program/names.hpp"

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
// Choices with one word so far: the default member value is that word's.
bool put_only(JobFile&, const JobValue&) { return true; }

bool put_name(JobFile& job, const JobValue& value) {
    job.spec.name = std::get<std::string>(value);
    return true;
}

bool put_rate(JobFile& job, const JobValue& value) {
    const double rate = std::get<double>(value);
    // Below 1 the product is below 2^64, and scaling by a power of two is exact.
    job.spec.security.audit_threshold =
        rate >= 1.0 ? UINT64_MAX : static_cast<std::uint64_t>(std::ldexp(rate, 64));
    return job.spec.security.audit_threshold > 0;
}
JobValue get_rate(const JobFile& job) {
    const std::uint64_t threshold = job.spec.security.audit_threshold;
    return threshold == UINT64_MAX ? 1.0 : std::ldexp(static_cast<double>(threshold), -64);
}

constexpr double kMaxSeed = 9007199254740992.0;  // 2^53: seeds survive every JSON reader

std::vector<JobKey> make_keys() {
    using M = program::ModelConfig;
    using T = program::TrainConfig;
    using K = program::MarketConfig;
    using S = program::SecurityConfig;
    const auto word = [](const char* section, const char* name, const char* only, const char* meaning,
                         JobValue (*get)(const JobFile&)) {
        return JobKey{section,  name, Type::kChoice, 0, 0, {only}, JobValue{std::string(only)}, meaning,
                      put_only, get};
    };
    const auto text = [](const char* value) { return JobValue{std::string(value)}; };
    const auto whole = [](std::int64_t value) { return JobValue{value}; };
    const auto number = [](double value) { return JobValue{value}; };
    std::vector<JobKey> keys;
    keys.push_back({"job",
                    "name",
                    Type::kText,
                    0,
                    0,
                    {},
                    {},
                    "what people call the job, 1 to 64 bytes",
                    put_name,
                    [](const JobFile& j) { return JobValue{j.spec.name}; }});
    keys.push_back(
        {"job",
         "profile",
         Type::kChoice,
         0,
         0,
         {"f32", "i16"},
         text("f32"),
         "arithmetic of matrix products: binary32 chains, or exact integers over 16-bit fixed point",
         put_profile,
         get_profile});
    keys.push_back(word("job", "engine", "local", "how machines divide the work: each trains slots alone",
                        [](const JobFile&) { return JobValue{std::string("local")}; }));
    keys.push_back(word("job", "strategy", "diloco", "how the slots' updates become the next model",
                        [](const JobFile&) { return JobValue{std::string("diloco")}; }));
    keys.push_back({"job",
                    "slots",
                    Type::kWhole,
                    1,
                    256,
                    {},
                    {},
                    "virtual workers per round, fixed for the job",
                    put_top<&JobSpec::slots>,
                    get_top<&JobSpec::slots>});
    keys.push_back({"job",
                    "rounds",
                    Type::kWhole,
                    1,
                    10'000,
                    {},
                    {},
                    "rounds to train",
                    put_top<&JobSpec::rounds>,
                    get_top<&JobSpec::rounds>});
    keys.push_back({"job",
                    "seed",
                    Type::kWhole,
                    0,
                    kMaxSeed,
                    {},
                    whole(0),
                    "fixes data order and, without model.from, initial weights",
                    put_top<&JobSpec::seed>,
                    get_top<&JobSpec::seed>});

    keys.push_back({"model",
                    "family",
                    Type::kChoice,
                    0,
                    0,
                    {"gpt2", "llama"},
                    text("gpt2"),
                    "shape of the model",
                    put_family,
                    get_family});
    keys.push_back(
        {"model",
         "from",
         Type::kPath,
         0,
         0,
         {},
         text(""),
         "folder of the model to start from ([what is read](../formats/model-folder.md)): its shape "
         "and weights are the job's; empty: initial weights from the seed",
         put_path<&JobFile::from>,
         get_path<&JobFile::from>});
    const auto size = [&keys](const char* name, double least, double most, const char* meaning, auto put,
                              auto get) {
        keys.push_back({"model", name, Type::kWhole, least, most, {}, {}, meaning, put, get});
    };
    size("layers", 1, 1024, "transformer blocks", put_whole<&JobSpec::model, &M::layers>,
         get_whole<&JobSpec::model, &M::layers>);
    size("width", 1, 65536, "numbers per token between blocks", put_whole<&JobSpec::model, &M::width>,
         get_whole<&JobSpec::model, &M::width>);
    size("heads", 1, 65536, "attention heads; divides width", put_whole<&JobSpec::model, &M::heads>,
         get_whole<&JobSpec::model, &M::heads>);
    size("context", 2, 16384, "tokens of a training sequence", put_whole<&JobSpec::model, &M::context>,
         get_whole<&JobSpec::model, &M::context>);
    size("vocabulary", 257, 4'194'304, "tokens of the tokenizer", put_whole<&JobSpec::model, &M::vocabulary>,
         get_whole<&JobSpec::model, &M::vocabulary>);
    const auto llama = [&keys](const char* name, double most, const char* meaning, auto put, auto get) {
        keys.push_back(
            {"model", name, Type::kWhole, 0, most, {}, JobValue{std::int64_t{0}}, meaning, put, get});
    };
    llama("kv_heads", 65536, "llama: heads of keys and values, divides heads; 0: as many as heads",
          put_whole<&JobSpec::model, &M::kv_heads>, get_whole<&JobSpec::model, &M::kv_heads>);
    llama("hidden", 262'144, "llama: numbers of the hidden layer; 0: 8/3 of width, up to a multiple of 64",
          put_whole<&JobSpec::model, &M::hidden>, get_whole<&JobSpec::model, &M::hidden>);
    keys.push_back({"model",
                    "rope_theta",
                    Type::kNumber,
                    0,
                    1e9,
                    {},
                    number(0),
                    "llama: base of the rotary frequencies; 0: 10000",
                    put_float<&JobSpec::model, &M::rope_theta>,
                    get_float<&JobSpec::model, &M::rope_theta>});
    keys.push_back({"model",
                    "norm_epsilon",
                    Type::kNumber,
                    1e-12,
                    1,
                    {},
                    number(1e-5),
                    "added to the mean square before the root; gpt2: 1e-5",
                    put_float<&JobSpec::model, &M::norm_epsilon>,
                    get_float<&JobSpec::model, &M::norm_epsilon>});
    keys.push_back({"model",
                    "head",
                    Type::kChoice,
                    0,
                    0,
                    {"tied", "untied"},
                    text("tied"),
                    "whether the logits use the embedding's matrix or, llama only, one of their own",
                    put_head,
                    get_head});

    keys.push_back({"data",
                    "manifest",
                    Type::kPath,
                    0,
                    0,
                    {},
                    {},
                    "manifest.json of the packed text",
                    put_path<&JobFile::manifest>,
                    get_path<&JobFile::manifest>});
    keys.push_back({"data",
                    "held_out",
                    Type::kPath,
                    0,
                    0,
                    {},
                    text(""),
                    "token file for evaluation; empty: the manifest's own",
                    put_path<&JobFile::held_out>,
                    get_path<&JobFile::held_out>});

    const auto count = [&keys](const char* name, double least, double most, std::optional<JobValue> standard,
                               const char* meaning, auto put, auto get) {
        keys.push_back(
            {"train", name, Type::kWhole, least, most, {}, std::move(standard), meaning, put, get});
    };
    const auto real = [&keys](const char* name, double least, double most, std::optional<JobValue> standard,
                              const char* meaning, auto put, auto get) {
        keys.push_back(
            {"train", name, Type::kNumber, least, most, {}, std::move(standard), meaning, put, get});
    };
    count("inner_steps", 1, 16'384, {}, "AdamW steps of a slot in a round",
          put_whole<&JobSpec::train, &T::inner_steps>, get_whole<&JobSpec::train, &T::inner_steps>);
    count("batch", 1, 65536, {}, "sequences per slot and step; batch times context is at most 2^24",
          put_whole<&JobSpec::train, &T::batch>, get_whole<&JobSpec::train, &T::batch>);
    count("warmup_steps", 0, 1e9, whole(0), "inner steps of the whole job over which the rate rises",
          put_whole<&JobSpec::train, &T::warmup_steps>, get_whole<&JobSpec::train, &T::warmup_steps>);
    real("learning_rate", 1e-9, 10, {}, "of AdamW, after the warm-up",
         put_float<&JobSpec::train, &T::learning_rate>, get_float<&JobSpec::train, &T::learning_rate>);
    real("beta1", 0, 0.9999, number(0.9), "of AdamW", put_float<&JobSpec::train, &T::beta1>,
         get_float<&JobSpec::train, &T::beta1>);
    real("beta2", 0, 0.99999, number(0.95), "of AdamW", put_float<&JobSpec::train, &T::beta2>,
         get_float<&JobSpec::train, &T::beta2>);
    real("epsilon", 1e-20, 1, number(1e-8), "of AdamW", put_float<&JobSpec::train, &T::epsilon>,
         get_float<&JobSpec::train, &T::epsilon>);
    real("weight_decay", 0, 10, number(0.1), "of AdamW, on matrices only",
         put_float<&JobSpec::train, &T::weight_decay>, get_float<&JobSpec::train, &T::weight_decay>);
    real("clip_norm", 1e-6, 1e6, number(1.0), "largest gradient norm of a step",
         put_float<&JobSpec::train, &T::clip_norm>, get_float<&JobSpec::train, &T::clip_norm>);
    real("outer_learning_rate", 1e-9, 10, number(0.7), "of the merge (Nesterov)",
         put_float<&JobSpec::train, &T::outer_learning_rate>,
         get_float<&JobSpec::train, &T::outer_learning_rate>);
    real("outer_momentum", 0, 0.9999, number(0.9), "of the merge (Nesterov)",
         put_float<&JobSpec::train, &T::outer_momentum>, get_float<&JobSpec::train, &T::outer_momentum>);
    count("sum_exponent", -64, 0, whole(-40), "updates are summed as integers at 2^sum_exponent",
          put_whole<&JobSpec::train, &T::sum_exponent>, get_whole<&JobSpec::train, &T::sum_exponent>);
    keys.push_back(word("train", "inner_state", "reset", "AdamW's moments at the start of a round",
                        [](const JobFile&) { return JobValue{std::string("reset")}; }));

    keys.push_back({"market",
                    "max_price",
                    Type::kMoney,
                    0,
                    0,
                    {},
                    {},
                    "most that is paid per work unit (10^9 operations), above 0",
                    put_money<&JobSpec::market, &K::max_price>,
                    get_money<&JobSpec::market, &K::max_price>});
    keys.push_back({"market",
                    "budget",
                    Type::kMoney,
                    0,
                    0,
                    {},
                    {},
                    "locked in escrow at submission, above 0; nothing beyond it is spent",
                    put_money<&JobSpec::market, &K::budget>,
                    get_money<&JobSpec::market, &K::budget>});
    keys.push_back({"market",
                    "deadline",
                    Type::kWhole,
                    1,
                    1e9,
                    {},
                    {},
                    "blocks after submission at which the job ends",
                    put_whole<&JobSpec::market, &K::deadline_blocks>,
                    get_whole<&JobSpec::market, &K::deadline_blocks>});

    keys.push_back({"security",
                    "q",
                    Type::kNumber,
                    0,
                    1,
                    {},
                    number(1.0),
                    "share of the work of proven miners that is recomputed, above 0",
                    put_rate,
                    get_rate});
    keys.push_back({"security",
                    "segment_steps",
                    Type::kWhole,
                    1,
                    100'000,
                    {},
                    {},
                    "inner steps per audited segment; at most inner_steps",
                    put_whole<&JobSpec::security, &S::segment_steps>,
                    get_whole<&JobSpec::security, &S::segment_steps>});
    keys.push_back({"security",
                    "gain_bound",
                    Type::kMoney,
                    0,
                    0,
                    {},
                    text("0u"),
                    "what a cheat could gain outside the job; raises the bond",
                    put_money<&JobSpec::security, &S::gain_bound>,
                    get_money<&JobSpec::security, &S::gain_bound>});
    keys.push_back(word("security", "merge", "verified", "when an update may enter the model",
                        [](const JobFile&) { return JobValue{std::string("verified")}; }));
    return keys;
}

}  // namespace

const std::vector<JobKey>& job_keys() {
    static const std::vector<JobKey> keys = make_keys();
    return keys;
}

}  // namespace assay::node
