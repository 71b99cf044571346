// SPDX-License-Identifier: Apache-2.0
// Merges of updates that stay packed in their files: a part of each is decoded at a time, and no bit depends
// on it.
#include <vector>

#include "contracts/program/round_law.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint32_t kSlots = 128;  // so many that the model is merged in three parts

program::JobSpec merged_job(program::Strategy strategy) {
    program::JobSpec spec = test::small_job();
    spec.slots = kSlots;
    spec.strategy = strategy;
    spec.model.vocabulary = 2003;
    spec.train.max_update_norm = 1.0F;
    return spec;
}

// Three updates, one of them beyond the norm bound, which the slots hand in by turns; all in memory, and all
// in files.
struct MergeParts {
    explicit MergeParts(program::Strategy strategy, const DeviceOptions& device = {})
        : spec(merged_job(strategy)),
          tokens(test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          runner(JobRunner::create(spec, {tokens}, {tokens}, {.device = device}).value()),
          base(runner->initial()) {
        for (const float scale : {1e-4F, 2e-3F, 1.0F}) {
            std::vector<float> end = base.parameters;
            std::mt19937 random(static_cast<unsigned>(updates.size()));
            for (float& one : end) one += scale * (static_cast<float>(random()) * 0x1p-31F - 1.0F);
            Update update{std::vector<std::int64_t>(end.size())};
            const RoundLaw& law = runner->law();
            REQUIRE(law.row.codec->finalise(law.settings, base.parameters, end, update.values));
            files.push_back(encode_update(update, spec));
            updates.push_back(std::move(update));
        }
        for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
            const std::size_t which = slot % updates.size();
            const std::uint32_t clip = program::update_clip(spec, updates[which].values);
            in_memory.push_back({slot, 1 + slot, &updates[which], clip});
            packed.push_back(in_memory.back());
            packed.back().update = nullptr;
            packed.back().packed = UpdateNumbers(runner->law(), files[which], runner->parameter_count());
        }
        REQUIRE(in_memory[2].clip < arithmetic::kWholeClip);
    }
    program::JobSpec spec;
    std::vector<std::uint32_t> tokens;
    std::unique_ptr<JobRunner> runner;
    BaseState base;
    std::vector<Update> updates;
    std::vector<base::Bytes> files;
    std::vector<AcceptedUpdate> in_memory, packed;
};

constexpr auto kStrategies = {program::Strategy::kDiloco, program::Strategy::kDilocoHalf};

}  // namespace

TEST_CASE("a merge of packed updates has the bits of one of updates in memory, on every device",
          "[trainer][merge]") {
    for (const program::Strategy strategy : kStrategies) {
        std::optional<BaseState> expected;
        for (const char* device : {"cpu", "reference", "cuda-host"}) {
            INFO(device << ", strategy " << static_cast<int>(strategy));
            MergeParts parts(strategy, {.name = device, .threads = 2});
            std::size_t between = 0;
            Watch watch;
            watch.batch = [&] { ++between; };
            const auto whole = parts.runner->merge(parts.base, parts.in_memory, watch);
            REQUIRE(whole.ok());
            CHECK(between == 0);
            const auto in_parts = parts.runner->merge(parts.base, parts.packed, watch);
            REQUIRE(in_parts.ok());
            CHECK(between == 2);
            CHECK(*in_parts == *whole);
            CHECK(whole->parameters != parts.base.parameters);
            if (!expected) expected = *whole;
            CHECK(*whole == *expected);
        }
    }
}

TEST_CASE("questions about a merge of packed updates have the answers of updates in memory",
          "[trainer][merge]") {
    using dispute::ArrayLevel;
    using dispute::ArraySubject;
    for (const program::Strategy strategy : kStrategies) {
        MergeParts parts(strategy);
        dispute::ArrayQuestion question;
        const auto both = [&](std::size_t slots, ArrayLevel level, dispute::TreeRow row) {
            question.level = level;
            question.row = row;
            const BaseState* base = question.subject == ArraySubject::kClip ? nullptr : &parts.base;
            const auto of = [&](const std::vector<AcceptedUpdate>& accepted) {
                return parts.runner->answer({base, nullptr, {}, std::span(accepted).first(slots)}, question);
            };
            const auto found = of(parts.packed), expected = of(parts.in_memory);
            INFO("subject " << static_cast<int>(question.subject) << ", level " << static_cast<int>(level));
            REQUIRE(expected.ok());
            REQUIRE(found.ok());
            CHECK(found->hashes == expected->hashes);
            CHECK(found->witness == expected->witness);
            CHECK(found->hashes.size() + found->witness.size() > 0);
        };
        for (const ArraySubject subject : {ArraySubject::kMergedParameters, ArraySubject::kMergedOuter}) {
            question.subject = subject;
            question.at = {};
            both(kSlots, ArrayLevel::kTensors, {0, 0, 2});
            both(kSlots, ArrayLevel::kTiles, {0, 0, 2});
            both(kSlots, ArrayLevel::kPartials, {0, 0, 2});
            question.at = {0, 1, 1};
            both(kSlots, ArrayLevel::kWitness, {});
        }
        question.subject = ArraySubject::kClip;
        question.at = {};
        both(1, ArrayLevel::kPartials, {0, 0, 2});
        question.at.partial = 1;
        both(1, ArrayLevel::kWitness, {});
    }
}

TEST_CASE("a file that is no update any more ends a merge and a question, and a cancelled merge ends",
          "[trainer][merge]") {
    MergeParts parts(program::Strategy::kDiloco);
    std::atomic<bool> cancel = false;
    Watch watch;
    watch.cancel = &cancel;
    watch.batch = [&] { cancel = true; };
    CHECK(parts.runner->merge(parts.base, parts.packed, watch).error().kind == base::ErrorKind::kInterrupted);
    parts.files[1].back() = 0x7f;  // a number that no update has
    const auto merged = parts.runner->merge(parts.base, parts.packed);
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().kind == base::ErrorKind::kVerification);
    dispute::ArrayQuestion question;
    question.subject = dispute::ArraySubject::kClip;
    question.level = dispute::ArrayLevel::kPartials;
    question.row = {0, 0, 2};
    const auto answered =
        parts.runner->answer({nullptr, nullptr, {}, std::span(parts.packed).subspan(1, 1)}, question);
    REQUIRE_FALSE(answered.ok());
    CHECK(answered.error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("updates in memory, and optimizers that read whole arrays, are merged in one part",
          "[trainer][merge]") {
    const MergeParts parts(program::Strategy::kDiloco);
    const RoundLaw& law = parts.runner->law();
    const std::uint64_t all = parts.runner->parameter_count();
    const MergedUpdate memory{UpdateNumbers(parts.updates[0].values)}, packed{*parts.packed[0].packed};
    CHECK(numbers_at_a_time(law, std::vector(kSlots, memory)) == all);
    CHECK(numbers_at_a_time(law, std::vector(kSlots, packed)) == (std::uint64_t{1} << 22) / kSlots);
    CHECK(numbers_at_a_time(law, std::vector(1024, packed)) == std::uint64_t{1} << 15);
    program::OuterOptimizer whole = *law.row.outer;
    whole.cut = program::ArrayCut::kNowhere;
    program::StrategyRow row = law.row;
    row.outer = &whole;
    CHECK(numbers_at_a_time({row, law.settings}, std::vector(kSlots, packed)) == all);
}

}  // namespace assay::trainer
