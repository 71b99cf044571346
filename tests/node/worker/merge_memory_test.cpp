// SPDX-License-Identifier: Apache-2.0
// A merge takes the memory of a base state and of one update, however many slots it merges; so does a
// question about it.
#include <random>
#include <vector>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/round_law.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/program/job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/heap_peak.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/run/state_bytes.hpp"

using namespace assay;
namespace frames = worker;
using frames::SharedDescriptor;

namespace {
constexpr std::uint32_t kMany = 32;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kParts = 34 * kMiB;  // what is decoded at a time, and what is small

SharedDescriptor file_of(base::ByteView bytes) { return frames::memory_file("test", bytes).value(); }

// An open job of a million parameters, its first base state, and an update of each slot.
struct MergingWorker {
    explicit MergingWorker(program::Strategy strategy) {
        tests::TinyJob made = tests::tiny_job();
        spec = made.spec;
        spec.slots = kMany;
        spec.strategy = strategy;
        spec.model.vocabulary = 60'000;
        spec.train.max_update_norm = 1e-2F;
        const base::Bytes tokens = trainer::token_file_bytes(made.tokens, spec.model.vocabulary);
        spec.data.train = spec.data.held_out = base::blob_id(tokens);
        const SharedDescriptor file = file_of(tokens);
        auto opened = verifier::WorkerJob::open(frames::OpenJob{"devnet-1", spec}, {file, file}, {},
                                                trainer::make_heap_arena());
        if (!opened.ok()) FAIL(opened.error().text);
        job = std::move(opened).value();
        base = std::move(answered(frames::Initial{}, {}).bulk.front());
        add_updates();
    }

    void add_updates() {
        const std::uint64_t count = job->opened().parameters;
        std::mt19937_64 random(3);
        for (std::uint32_t slot = 0; slot < kMany; ++slot) {
            trainer::Update update{std::vector<std::int64_t>(count)};
            std::vector<float> start(count), end(count);
            for (float& one : end) one = static_cast<float>(random() % 4096) * 0x1p-24F;
            const auto settings = program::round_settings(spec);
            REQUIRE(program::strategy_of(spec).codec->finalise(settings, start, end, update.values));
            files.push_back(file_of(trainer::encode_update(update, spec)));
            const auto rooted = answered(frames::Root{frames::BulkKind::kUpdate}, {files.back()});
            roots.push_back(std::get<frames::Rooted>(rooted.message).root);
        }
    }

    template <class Request>
    verifier::Answered asked(const Request& request, std::vector<SharedDescriptor> bulk) {
        verifier::RequestContext context;
        context.bulk = std::move(bulk);
        context.report = [](verifier::WorkerAnswer) {};
        return job->answer(request, context);
    }
    template <class Request>
    verifier::WorkerAnswer answered(const Request& request, std::vector<SharedDescriptor> bulk) {
        auto answer = asked(request, std::move(bulk));
        if (!answer.ok()) FAIL(answer.error().text);
        return std::move(answer).value();
    }
    [[nodiscard]] std::vector<SharedDescriptor> with_base(std::uint32_t slots) const {
        std::vector<SharedDescriptor> bulk{base};
        bulk.insert(bulk.end(), files.begin(), files.begin() + slots);
        return bulk;
    }
    [[nodiscard]] frames::Merge merge_of(std::uint32_t slots) const {
        frames::Merge merge;
        for (std::uint32_t slot = 0; slot < slots; ++slot)
            merge.accepted.push_back({slot, 1 + slot, roots[slot]});
        return merge;
    }
    [[nodiscard]] frames::DescendArray question_of(std::uint32_t slots) const {
        frames::DescendArray asked;
        asked.question.subject = dispute::ArraySubject::kMergedParameters;
        asked.question.level = dispute::ArrayLevel::kTensors;
        asked.question.row = {0, 0, 1};
        for (std::uint32_t slot = 0; slot < slots; ++slot)
            asked.merged.push_back({slot, 1 + slot, 40'000, roots[slot]});
        return asked;
    }
    /// The most that the request took at a time.
    template <class Request>
    std::uint64_t peak_of(const Request& request, std::uint32_t slots) {
        const std::uint64_t before = tests::heap_in_use();
        tests::forget_heap_peak();
        (void)answered(request, with_base(slots));
        return tests::heap_peak() - before;
    }

    program::JobSpec spec;
    std::unique_ptr<verifier::WorkerJob> job;
    SharedDescriptor base;
    std::vector<SharedDescriptor> files;
    std::vector<base::Hash256> roots;
};

constexpr auto kStrategies = {program::Strategy::kDiloco, program::Strategy::kDilocoHalf};
}  // namespace

TEST_CASE("a merge of many slots takes no more memory than one of two, and parts of what is decoded") {
    for (const program::Strategy strategy : kStrategies) {
        MergingWorker worker(strategy);
        const std::uint64_t two = worker.peak_of(worker.merge_of(2), 2);
        const std::uint64_t many = worker.peak_of(worker.merge_of(kMany), kMany);
        INFO("two slots " << two / kMiB << " MiB, many " << many / kMiB << " MiB");
        CHECK(many < two + kParts);
        const std::uint64_t asked_two = worker.peak_of(worker.question_of(2), 2);
        const std::uint64_t asked_many = worker.peak_of(worker.question_of(kMany), kMany);
        INFO("asked about two slots " << asked_two / kMiB << " MiB, many " << asked_many / kMiB << " MiB");
        CHECK(asked_many < asked_two + kParts);
    }
}

TEST_CASE("a merge has the root and the clips of the law over whole updates") {
    for (const program::Strategy strategy : kStrategies) {
        MergingWorker worker(strategy);
        const auto merged = worker.answered(worker.merge_of(kMany), worker.with_base(kMany));
        const auto bytes_of = [](const SharedDescriptor& file) {
            return frames::read_all(*file, frames::kMaxBulk).value();
        };
        const std::uint64_t count = worker.job->opened().parameters;
        auto expected = trainer::decode_base_state(bytes_of(worker.base), count).value();
        std::vector<trainer::Update> updates;
        std::vector<program::Contribution> contributions;
        std::vector<std::uint32_t> clips;
        for (std::uint32_t slot = 0; slot < kMany; ++slot) {
            updates.push_back(
                trainer::decode_update(bytes_of(worker.files[slot]), count, worker.spec).value());
            clips.push_back(program::update_clip(worker.spec, updates.back().values));
            contributions.push_back({updates.back().values, 1 + slot, clips.back()});
        }
        program::strategy_of(worker.spec)
            .outer->merge(program::round_settings(worker.spec), contributions, expected.parameters,
                          expected.outer_momentum);
        expected.step += worker.spec.train.inner_steps;
        CHECK(bytes_of(merged.bulk.front()) == trainer::encode_base_state(expected));
        CHECK(std::get<frames::BaseStateFrame>(merged.message).clips == clips);
    }
}

TEST_CASE("an update that is damaged or another slot's is refused, wherever it stands in a merge") {
    MergingWorker worker(program::Strategy::kDiloco);
    const base::Bytes good = frames::read_all(*worker.files[2], frames::kMaxBulk).value();
    const auto refusal_with = [&](const SharedDescriptor& file, const auto& request) {
        auto bulk = worker.with_base(4);
        bulk[3] = file;
        const auto answer = worker.asked(request, std::move(bulk));
        REQUIRE_FALSE(answer.ok());
        CHECK(answer.error().reason == frames::RefusalReason::kBadBytes);
        return answer.error().text;
    };
    base::Bytes altered = good, beyond = good;
    altered[8] ^= 1;
    beyond.back() = 0x7f;
    const base::Bytes cut(good.begin(), good.end() - 8);
    const auto both = [&](const SharedDescriptor& file, const char* why) {
        CHECK_THAT(refusal_with(file, worker.merge_of(4)), Catch::Contains(why));
        CHECK_THAT(refusal_with(file, worker.question_of(4)), Catch::Contains(why));
    };
    both(file_of(altered), "the update of slot 2 is not the accepted one");
    both(worker.files[1], "the update of slot 2 is not the accepted one");
    both(file_of(beyond), "has a number that codec int64 never writes");
    both(file_of(cut), "which is no length that codec int64 gives this model");
    both(file_of({}), "does not begin with AUPDT001");
}
