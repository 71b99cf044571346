// SPDX-License-Identifier: Apache-2.0
// Heads of slot states: bytes as documented, strictly read, and compared with what a job's states consist of.
#include "contracts/program/state_head.hpp"

#include <array>
#include <string>

#include "contracts/program/blob_sizes.hpp"
#include "tests/support/catch.hpp"

namespace assay::program {
namespace {

constexpr std::array kArrays = {StateArray::kParameters, StateArray::kFirstMoment, StateArray::kSecondMoment};

Hash256 named(const std::string& text) { return base::hash("test", base::as_bytes(text)); }

StateHead some_head(std::optional<std::uint64_t> age = std::nullopt) {
    StateHead head{.step = 2, .cursor = 12, .age = age, .parts = {}};
    for (const StateArray array : kArrays) {
        const std::string number = std::to_string(static_cast<int>(array));
        head.parts.push_back({array, named("root " + number), named("blob " + number)});
    }
    return head;
}

base::DecodeError refusal_of(const StateHead& head) {
    return decode_state_head(encode_state_head(head)).error();
}

}  // namespace

TEST_CASE("a head is read as it was written, and is as long as its arrays make it", "[program]") {
    for (const std::optional<std::uint64_t> age : {std::optional<std::uint64_t>(), std::optional(7UL)}) {
        for (std::size_t arrays = 0; arrays <= kArrays.size(); ++arrays) {
            StateHead head = some_head(age);
            head.parts.resize(arrays);
            const base::Bytes bytes = encode_state_head(head);
            CHECK(decode_state_head(bytes).value() == head);
            CHECK(bytes.size() == state_head_bytes(arrays, age.has_value()));
            CHECK(bytes.size() <= kMaxHeadBytes);
        }
    }
}

TEST_CASE("a head has the documented bytes", "[program]") {
    StateHead head{.step = 1, .cursor = 2, .age = 3, .parts = {}};
    head.parts.push_back({StateArray::kSecondMoment, Hash256{}, Hash256{}});
    CHECK(base::to_hex(encode_state_head(head)) ==
          "4148454144303031"
          "0100000000000000"
          "0200000000000000"
          "010300000000000000"
          "01000000"
          "03" +
              std::string(128, '0'));
}

TEST_CASE("bytes that are no head are refused, each with its reason", "[program]") {
    const base::Bytes whole = encode_state_head(some_head());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK_FALSE(decode_state_head(base::ByteView(whole).first(size)).ok());
    }
    base::Bytes bytes = whole;
    bytes.push_back(0);
    CHECK_FALSE(decode_state_head(bytes).ok());
    bytes.resize(kMaxHeadBytes + 1);
    CHECK(decode_state_head(bytes).error() == base::DecodeError::kTooLong);
    bytes = whole;
    bytes[7] = '2';
    CHECK(decode_state_head(bytes).error() == base::DecodeError::kBadVariant);
    CHECK(decode_state_head({}).error() == base::DecodeError::kBadVariant);
    StateHead twice = some_head();
    twice.parts[2].array = StateArray::kFirstMoment;
    CHECK(refusal_of(twice) == base::DecodeError::kUnsortedKeys);
    StateHead unknown = some_head();
    unknown.parts[1].array = static_cast<StateArray>(9);
    CHECK(refusal_of(unknown) == base::DecodeError::kBadEnum);
}

TEST_CASE("a head fits a job that has its arrays, in this order, and an age where moments live on",
          "[program]") {
    const StateHead head = some_head();
    CHECK(fits(head, kArrays, false));
    CHECK_FALSE(fits(head, kArrays, true));
    CHECK_FALSE(fits(some_head(3), kArrays, false));
    CHECK(fits(some_head(3), kArrays, true));
    StateHead missing = head;
    missing.parts.pop_back();
    CHECK_FALSE(fits(missing, kArrays, false));
    StateHead more = head;
    more.parts.push_back({StateArray::kResidual, {}, {}});
    CHECK_FALSE(fits(more, kArrays, false));
    StateHead turned = head;
    std::swap(turned.parts[0], turned.parts[1]);
    CHECK_FALSE(fits(turned, kArrays, false));
    StateHead other = head;
    other.parts[2].array = StateArray::kResidual;
    CHECK_FALSE(fits(other, kArrays, false));
    // Equal arrays have one blob.
    StateHead equal = head;
    equal.parts[2].root = equal.parts[1].root;
    equal.parts[2].blob = equal.parts[1].blob;
    CHECK(decode_state_head(encode_state_head(equal)).value() == equal);
    CHECK(fits(equal, kArrays, false));
}

TEST_CASE("a head gives the components of its state's root", "[program]") {
    const StateHead head = some_head(9);
    const StateRoots roots = roots_of(head);
    CHECK(roots.parameters == head.parts[0].root);
    CHECK(roots.first_moment == head.parts[1].root);
    CHECK(roots.second_moment == head.parts[2].root);
    CHECK(roots.residual.is_zero());
    CHECK(roots.outer.is_zero());
    CHECK(roots.step_count == 2);
    CHECK(roots.data_cursor == 12);
    CHECK(roots.moment_age == 9U);
    for (const StateArray array : kArrays) CHECK(root_of(roots, array) == head.part(array)->root);
    CHECK(head.part(StateArray::kResidual) == nullptr);
}

TEST_CASE("of a state's files the wanted arrays can be had; of others, all there are", "[program]") {
    const std::vector<int> files = {0, 1, 2, 3};
    const std::array moments = {StateArray::kFirstMoment, StateArray::kSecondMoment};
    const std::array parameters = {StateArray::kParameters};
    CHECK(narrowed(files, kArrays, moments) == std::vector<int>{0, 2, 3});
    CHECK(narrowed(files, kArrays, parameters) == std::vector<int>{0, 1});
    CHECK(narrowed(files, kArrays, kArrays) == files);
    CHECK(narrowed(std::vector<int>{5}, kArrays, moments) == std::vector<int>{5});
}

}  // namespace assay::program
