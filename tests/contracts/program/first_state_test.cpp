// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/first_state.hpp"

#include "contracts/program/state_root.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;
using assay::base::Hash256;

Hash256 root_named(std::string_view text) {
    return assay::base::hash("test/name", assay::base::as_bytes(text));
}

struct Begun {
    JobSpec spec = tiny::spec();
    std::vector<TensorInfo> tensors = parameter_tensors(spec.model);
    std::vector<float> parameters = std::vector<float>(parameter_count(spec.model), 0.5F);
    std::vector<float> zeros = std::vector<float>(parameters.size(), 0.0F);
    StateRoots base;

    explicit Begun(InnerState inner = InnerState::kReset) {
        spec.inner_state = inner;
        base.parameters = array_root(tensors, parameters);
        base.outer = array_root(tensors, std::vector<float>(parameters.size(), 0.25F));
        base.step_count = 2ULL * spec.train.inner_steps;
    }
    [[nodiscard]] std::optional<Hash256> first(const FirstStateParts& parts, std::uint32_t round,
                                               const Hash256& carried = {}) const {
        return first_state_root(spec, {round, state_root(base), carried}, parts);
    }
};
}  // namespace

TEST_CASE("an array of zeros has the root that its shapes give") {
    for (const ModelConfig& model : {tiny::model(), tiny::llama()}) {
        const std::vector<float> zeros(parameter_count(model), 0.0F);
        CHECK(zero_array_root(parameter_tensors(model)) == array_root(parameter_tensors(model), zeros));
    }
    // Trees that are no power of two, and one leaf.
    const std::vector<TensorInfo> odd = {{.name = "a", .rows = 16 * 5, .cols = 16 * 3 + 1, .offset = 0},
                                         {.name = "b", .rows = 1, .cols = 2, .offset = 80 * 49}};
    CHECK(zero_array_root(odd) == array_root(odd, std::vector<float>(80 * 49 + 2, 0.0F)));
}

TEST_CASE("the first state of a slot has the base's parameters, no moments, and the round's cursor") {
    const Begun begun;
    const std::uint32_t steps = begun.spec.train.inner_steps;
    // A base may be older than the round: no merge stood meanwhile.
    for (const std::uint32_t round : {2U, 5U}) {
        const auto first = begun.first(first_state_parts(begun.base, std::nullopt), round);
        REQUIRE(first.has_value());
        CHECK(*first == slot_state_root(begun.tensors, begun.parameters, begun.zeros, begun.zeros, 0,
                                        std::uint64_t{round} * steps));
    }
}

TEST_CASE("a slot that carries starts with its moments and their age, and without any at age 0") {
    const Begun begun(InnerState::kCarried);
    StateRoots start;
    start.parameters = begun.base.parameters;
    start.data_cursor = 3ULL * begun.spec.train.inner_steps;
    start.moment_age = 0;
    start.first_moment = start.second_moment = zero_array_root(begun.tensors);
    CHECK(begun.first(first_state_parts(begun.base, std::nullopt), 3) == state_root(start));

    const CarriedParts carried{root_named("first"), root_named("second"), 12};
    const Hash256 root = carried_root(carried.first_moment, carried.second_moment, carried.age);
    start.first_moment = carried.first_moment;
    start.second_moment = carried.second_moment;
    start.moment_age = 12;
    CHECK(begun.first(first_state_parts(begun.base, carried), 3, root) == state_root(start));
    CHECK_FALSE(begun.first(first_state_parts(begun.base, std::nullopt), 3, root).has_value());
    CHECK_FALSE(begun.first(first_state_parts(begun.base, carried), 3).has_value());
    CarriedParts older = carried;
    older.age = 11;
    CHECK_FALSE(begun.first(first_state_parts(begun.base, older), 3, root).has_value());
}

TEST_CASE("what is shown is the base's own, in the place of the parameters") {
    const Begun begun;
    const FirstStateParts parts = first_state_parts(begun.base, std::nullopt);
    CHECK(parts.siblings.size() == kFirstStateSiblings);
    const auto refused = [&](const auto& change) {
        FirstStateParts other = parts;
        change(other);
        CHECK_FALSE(begun.first(other, 2).has_value());
    };
    refused([](FirstStateParts& p) { p.parameters = root_named("another"); });
    refused([](FirstStateParts& p) { p.siblings[2] = root_named("another"); });
    refused([](FirstStateParts& p) { p.siblings.pop_back(); });
    refused([](FirstStateParts& p) { p.siblings.push_back(root_named("more")); });
    refused([](FirstStateParts& p) { p.siblings.clear(); });
    // The outer state has a root of the same kind, and another place.
    refused([&](FirstStateParts& p) { p.parameters = begun.base.outer; });
}
