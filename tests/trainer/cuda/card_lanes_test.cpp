// SPDX-License-Identifier: Apache-2.0
// What the host waits for and copies, and the order of work and copies on a card: a step waits once, and an
// order that somebody forgot is found.
#include "trainer/cuda/card_lanes.hpp"

#include <cstdlib>
#include <numeric>
#include <utility>

#include "contracts/program/state_root.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/cuda/card_bands.hpp"
#include "trainer/cuda/emulated_card.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::trainer::cuda {
namespace {
constexpr std::uint32_t kLaneBatch = 3;
// So small that every array goes in many pieces and parts.
constexpr CudaOptions kSmallSizes{.staging = 4096, .band = 1000};

// Forgets one order between lanes.
class ForgetfulCard final : public Card {
public:
    ForgetfulCard(const StreamOptions& options, std::uint64_t forgets)
        : inner_(2, EmulatedOptions{.stream = options}), forgets_(forgets) {}
    [[nodiscard]] std::uint64_t holds() const { return holds_; }

    [[nodiscard]] std::string_view name() const override { return inner_.name(); }
    [[nodiscard]] std::optional<std::uint64_t> capacity() const override { return inner_.capacity(); }
    [[nodiscard]] LaunchStream stream() override { return inner_.stream(); }
    void* allocate(std::uint64_t bytes) override { return inner_.allocate(bytes); }
    void release(void* at) override { inner_.release(at); }
    void* allocate_pinned(std::uint64_t bytes) override { return inner_.allocate_pinned(bytes); }
    void release_pinned(void* at) override { inner_.release_pinned(at); }
    void zero(void* at, std::uint64_t bytes) override { inner_.zero(at, bytes); }
    void discard(CardLane lane, void* at, std::uint64_t bytes) override { inner_.discard(lane, at, bytes); }
    void copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes) override {
        inner_.copy(lane, direction, to, from, bytes);
    }
    [[nodiscard]] Ticket record(CardLane lane) override { return inner_.record(lane); }
    void hold(CardLane lane, Ticket until) override {
        if (holds_++ != forgets_) inner_.hold(lane, until);
    }
    void wait(Ticket until) override { inner_.wait(until); }
    void mark() override { inner_.mark(); }
    [[nodiscard]] std::vector<double> take_marks() override { return inner_.take_marks(); }
    [[nodiscard]] bool has_failed() override { return inner_.has_failed(); }
    [[nodiscard]] base::Outcome<void> check() override { return inner_.check(); }

private:
    EmulatedCard inner_;
    std::uint64_t forgets_;
    std::uint64_t holds_ = 0;
};

struct LaneJob {
    explicit LaneJob(const program::JobSpec& job)
        : spec(job),
          program(program::build_step_program(spec.model, spec.train, spec.profile)),
          expected(trainer::test::initial_state(spec)) {
        outcome = program::reference_step(program, coefficients(0), tokens(), expected);
        REQUIRE_FALSE(outcome.diverged);
    }
    [[nodiscard]] arithmetic::AdamWCoefficients coefficients(std::uint32_t step) const {
        return program::Schedule(spec.train).at(0, step);
    }
    [[nodiscard]] std::vector<std::uint32_t> tokens() const {
        return trainer::test::batch_of(spec, kLaneBatch, 41);
    }
    // A step whose bits are the law's, from adopted arrays and back.
    [[nodiscard]] bool is_right_on(CudaDevice& device, Adoption moments) const {
        program::SlotArrays state = trainer::test::initial_state(spec);
        {
            AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment, moments);
            Executor executor(program, device,
                              plan_allocation(program, device, {.micro_batch = 2}, kLaneBatch));
            const StepResult result = executor.step(coefficients(0), tokens(), adopted.at());
            adopted.sync();
            const DeviceView moment{adopted.at().first_moment, state.parameters.size()};
            const auto root = device.roots(program.parameters, {&moment, 1}).value().front();
            if (root != program::array_root(program.parameters, expected.first_moment, base::hash_one_by_one))
                return false;
            if (result.diverged || !(result.fingerprint == outcome.fingerprint)) return false;
        }
        return trainer::test::same(state, expected) && device.check().ok();
    }
    program::JobSpec spec;
    program::Program program;
    program::SlotArrays expected;
    program::StepOutcome outcome;
};
}  // namespace

TEST_CASE("a step waits once for the card and copies once from it", "[trainer][cuda]") {
    for (const Adoption moments : {Adoption::kWhole, Adoption::kStreamed}) {
        const program::JobSpec spec = trainer::test::small_jobs()[moments == Adoption::kWhole ? 0 : 3];
        const LaneJob job(spec);
        CudaHostDevice device(2);
        const CardCounts& counts = device.emulated().counts();
        program::SlotArrays state = trainer::test::initial_state(spec);
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment, moments);
        Executor executor(job.program, device,
                          plan_allocation(job.program, device, {.micro_batch = 1}, kLaneBatch));
        for (std::uint32_t step = 0; step < 2; ++step) {
            REQUIRE(device.check().ok());
            const CardCounts before = counts;
            REQUIRE_FALSE(executor.step(job.coefficients(step), job.tokens(), adopted.at()).diverged);
            // As the job runner asks after every step: nothing is left to wait for.
            REQUIRE(device.check().ok());
            INFO(spec.name << ", step " << step);
            CHECK(counts.waits - before.waits == 1);
            // Streamed moments go back, too, without anybody waiting for them alone.
            if (moments == Adoption::kWhole) CHECK(counts.copies_to_host - before.copies_to_host == 1);
            if (step > 0) CHECK(counts.allocations == before.allocations);
        }
    }
}

TEST_CASE("an order between work and copies that is forgotten is found", "[trainer][cuda]") {
    program::JobSpec tiny = trainer::test::small_job();
    tiny.model = {program::Family::kGpt2, 1, 8, 2, 5, 11};
    const LaneJob job(tiny);
    for (const Adoption moments : {Adoption::kWhole, Adoption::kStreamed}) {
        const auto run = [&](const StreamOptions& options, std::uint64_t forgets) {
            auto card = std::make_unique<ForgetfulCard>(options, forgets);
            const ForgetfulCard& seen = *card;
            CudaDevice device(std::move(card), {.staging = 4096, .band = 200});
            const bool is_right = job.is_right_on(device, moments);
            return std::pair(is_right, seen.holds());
        };
        std::uint64_t holds = 0;
        for (const StreamOptions& options : test::all_orders()) {
            const auto [is_right, counted] = run(options, UINT64_MAX);
            REQUIRE(is_right);
            holds = counted;  // of a drawn order the same: what is ordered depends on no order
        }
        REQUIRE(holds > 3);
        std::uint64_t found = 0;
        for (std::uint64_t forgets = 0; forgets < holds; ++forgets) {
            bool shows = false;
            for (const StreamOptions& options : test::all_orders())
                shows = shows || !run(options, forgets).first;
            found += shows ? 1U : 0U;
            if (!shows) UNSCOPED_INFO("hold " << forgets << " is not found");
        }
        INFO("moments " << static_cast<int>(moments) << ": " << found << " of " << holds);
        CHECK(found == holds);
    }
}

TEST_CASE("arrays go in pieces and parts of any size, and every order of lanes gives the law's bits",
          "[trainer][cuda]") {
    const LaneJob job(trainer::test::small_jobs().back());
    for (const StreamOptions& options : test::all_orders()) {
        for (const Adoption moments : {Adoption::kWhole, Adoption::kStreamed}) {
            CudaHostDevice device(2, EmulatedOptions{.stream = options}, kSmallSizes);
            REQUIRE(job.is_right_on(device, moments));
        }
    }
}

TEST_CASE("moments that stay with the host are updated operator by operator, and read where they lie",
          "[trainer][cuda]") {
    const std::vector<program::JobSpec> specs = trainer::test::small_jobs();
    const std::vector<StreamOptions> orders = test::all_orders();
    for (std::size_t i = 0; i < std::max(specs.size(), orders.size()); ++i) {
        const program::JobSpec& spec = specs[i % specs.size()];
        const LaneJob job(spec);
        CudaHostDevice device(2, EmulatedOptions{.stream = orders[i % orders.size()]}, kSmallSizes);
        const PlanChoice choice{.micro_batch = kLaneBatch, .grouping = Grouping::kSingle};
        Executor executor(job.program, device, plan_allocation(job.program, device, choice, kLaneBatch));
        program::SlotArrays state = trainer::test::initial_state(spec);
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment,
                             Adoption::kStreamed);
        const auto last = static_cast<std::uint32_t>(job.program.operators.size() - 1);
        REQUIRE_FALSE(executor.run_until(last, job.coefficients(0), job.tokens(), adopted.at(),
                                         [](std::uint64_t, std::uint64_t) {}));
        std::size_t next = 0;
        for (program::TensorId id = 0; id < job.program.tensors.size(); ++id) {
            if (job.program.tensors[id].role != program::TensorRole::kSecondMoment) continue;
            const program::TensorInfo& info = job.program.parameters[next++];
            std::vector<float> found(info.size());
            executor.read(id, found);
            const auto first = job.expected.second_moment.begin() + static_cast<std::ptrdiff_t>(info.offset);
            REQUIRE(trainer::test::same(found, {first, first + static_cast<std::ptrdiff_t>(info.size())}));
        }
        adopted.sync();
        REQUIRE(trainer::test::same(state, job.expected));
    }
}

TEST_CASE("an update that would not be finite changes no moment of the host", "[trainer][cuda]") {
    const LaneJob job(trainer::test::small_job());
    program::SlotArrays broken = trainer::test::initial_state(job.spec);
    // In the last part of the last parameter: all before it could be written already.
    broken.first_moment.back() = 3e38F;
    program::SlotArrays law = broken;
    const auto outcome = program::reference_step(job.program, job.coefficients(0), job.tokens(), law);
    REQUIRE(outcome.diverged);
    CudaHostDevice device(2, EmulatedOptions{}, kSmallSizes);
    Executor executor(job.program, device,
                      plan_allocation(job.program, device, {.micro_batch = 1}, kLaneBatch));
    program::SlotArrays state = broken;
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment,
                         Adoption::kStreamed);
    REQUIRE(executor.step(job.coefficients(0), job.tokens(), adopted.at()).diverged == outcome.diverged);
    adopted.sync();
    REQUIRE(trainer::test::same(state, broken));
}

TEST_CASE("a copy may name no other memory of the host than pinned memory", "[trainer][cuda]") {
    EmulatedCard card(1, {});
    void* const at = card.allocate(64);
    std::vector<float> plain(16);
    card.copy(CardLane::kWork, Direction::kToCard, at, plain.data(), 64);
    card.wait(card.record(CardLane::kWork));
    const auto checked = card.check();
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().kind == base::ErrorKind::kPreflight);
}

TEST_CASE("each part of a streamed array begins where words of eight bytes may be read", "[trainer][cuda]") {
    EmulatedCard card(1, {});
    CardLanes lanes(card, 4096);
    CardBands bands(lanes);
    // After an odd number of floats comes an update's part that is no larger: the room stays as it is.
    for (const std::uint64_t bytes : {12U, 8U, 33'924U, 33'920U, 8U}) {
        INFO(bytes);
        std::byte* parts[2];
        for (std::byte*& part : parts) {
            part = bands.begin(bytes);
            bands.filled();
            bands.end();
        }
        const auto apart = static_cast<std::uint64_t>(std::abs(parts[1] - parts[0]));
        CHECK(apart >= bytes);
        CHECK(apart % CardBands::kPiece == 0);
    }
    bands.finish();
}

TEST_CASE("what goes to a card may change as soon as the call returns", "[trainer][cuda]") {
    for (const StreamOptions& options : test::all_orders()) {
        EmulatedCard card(1, EmulatedOptions{.stream = options});
        CardLanes lanes(card, 4096);
        constexpr std::size_t kCount = 5000;
        std::vector<std::uint32_t> numbers(kCount), wanted, found(kCount);
        std::iota(numbers.begin(), numbers.end(), 7U);
        wanted = numbers;
        CardRoom<std::uint32_t> room(lanes);
        room.put(numbers);
        std::fill(numbers.begin(), numbers.end(), 0U);
        lanes.to_host(found.data(), room.data(), kCount * sizeof(std::uint32_t));
        REQUIRE(found == wanted);
    }
}

}  // namespace assay::trainer::cuda
