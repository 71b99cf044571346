// SPDX-License-Identifier: Apache-2.0
// The job runner has a job's roots, finiteness, updates and merges from its device and from nowhere else.
#include <vector>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/step/forwarding_device.hpp"

namespace assay::trainer {
namespace {

// A device that counts what it is asked of whole arrays and answers with a mark of its own: whoever computes
// such an answer elsewhere has it without the mark.
class MarkingDevice final : public ForwardingDevice {
public:
    struct Calls {
        int finite = 0;
        int roots = 0;
        int update_roots = 0;
        int finalised = 0;
        int merged = 0;
        bool calls_all_infinite = false;
        friend bool operator==(const Calls&, const Calls&) = default;
    };
    explicit MarkingDevice(Calls& calls)
        : ForwardingDevice(std::make_unique<CpuDevice>(test::all_targets().front(), 2, nullptr)),
          calls_(calls) {}

    static base::Hash256 marked(base::Hash256 root) {
        root.bytes[0] ^= 0x80U;
        return root;
    }

    [[nodiscard]] bool is_finite(DeviceView array) override {
        ++calls_.finite;
        return !calls_.calls_all_infinite && ForwardingDevice::is_finite(array);
    }
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override {
        ++calls_.roots;
        auto found = ForwardingDevice::roots(tensors, arrays).value();
        for (base::Hash256& root : found) root = marked(root);
        return found;
    }
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) override {
        ++calls_.update_roots;
        return marked(ForwardingDevice::update_root(tensors, update).value());
    }
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) override {
        ++calls_.finalised;
        auto in_range = ForwardingDevice::finalise(law, start, end, update);
        update[0] += kMark;
        return in_range;
    }
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) override {
        ++calls_.merged;
        auto finite = ForwardingDevice::merge(law, contributions, parameters, outer_momentum);
        parameters[0] = kMark;
        outer_momentum[0] = kMark;
        return finite;
    }
    static constexpr int kMark = 77;

private:
    Calls& calls_;
};

}  // namespace

TEST_CASE("roots, finiteness, finalise and merge of a job are its device's answers", "[trainer][device]") {
    program::JobSpec spec = test::small_job();
    spec.inner_state = program::InnerState::kCarried;
    const auto train = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
    const auto held_out = test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2);
    MarkingDevice::Calls calls;
    const auto runner =
        JobRunner::create(spec, {train}, {held_out}, {}, std::make_unique<MarkingDevice>(calls)).value();
    const auto plain = JobRunner::create(spec, {train}, {held_out}, {}).value();
    const auto root = [&](const std::vector<float>& array) {
        return MarkingDevice::marked(program::array_root(runner->tensors(), array));
    };
    const BaseState base = runner->initial();
    const SlotRoundOutcome slot = runner->run_slot_round(base, 0, 0, std::nullopt, {}, {}).value();
    const SlotRoundOutcome expected = plain->run_slot_round(base, 0, 0, std::nullopt, {}, {}).value();
    const int segments = static_cast<int>(program::RoundPlan(spec).segments());
    // Three arrays are looked at before each segment; roots are of boundary 0, of each segment's end and of
    // what is carried.
    CHECK(calls == MarkingDevice::Calls{3 * segments, segments + 2, 1, 1, 0});

    CHECK(slot.end == expected.end);
    program::StateRoots state;
    state.parameters = root(slot.end.parameters);
    state.first_moment = root(slot.end.first_moment);
    state.second_moment = root(slot.end.second_moment);
    state.step_count = slot.end.step;
    state.data_cursor = slot.end.cursor;
    state.moment_age = slot.end.age;
    CHECK(slot.trace.boundaries.back() == program::state_root(state));
    CHECK(runner->state_root(slot.end) == program::state_root(state));
    CHECK(slot.trace.carried->out ==
          program::carried_root(state.first_moment, state.second_moment, slot.end.age.value()));

    REQUIRE((slot.update && expected.update));
    Update update = *expected.update;
    update.values[0] += MarkingDevice::kMark;
    CHECK(*slot.update == update);
    CHECK(slot.trace.update == MarkingDevice::marked(program::update_root(runner->tensors(), update.values)));

    calls = {};
    const std::vector<AcceptedUpdate> accepted = {{0, 1, &update}};
    const BaseState next = runner->merge(base, accepted).value();
    BaseState merged = plain->merge(base, accepted).value();
    merged.parameters[0] = merged.outer_momentum[0] = MarkingDevice::kMark;
    CHECK(next == merged);
    program::StateRoots outer;
    outer.parameters = root(next.parameters);
    outer.outer = root(next.outer_momentum);
    outer.step_count = next.step;
    CHECK(runner->base_root(next) == program::state_root(outer));
    CHECK(calls == MarkingDevice::Calls{0, 1, 0, 0, 1});

    calls = {.calls_all_infinite = true};
    SlotState start = runner->start(base).value();
    CHECK(runner->run_segment(start, {0, 0, 0}, {}).error().kind == base::ErrorKind::kUsage);
    CHECK(runner->misfit(start, 0, 0, program::strategy_of(runner->spec()).lane_arrays).find("not finite") !=
          std::string::npos);
    CHECK(runner->evaluate_held_out(base.parameters, 1, {}).error().kind == base::ErrorKind::kRejected);
    CHECK_FALSE(runner->sample(base.parameters, {{1}, 1, 1.0F, 1}).ok());
    const CarriedState carried = carried_of(slot.end);
    CHECK_FALSE(runner->start(base, &carried).ok());
    CHECK(calls.finite == 5);
}

}  // namespace assay::trainer
