// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/state_bytes.hpp"

#include "contracts/base/blob_id.hpp"
#include "contracts/program/round_law.hpp"
#include "tests/support/catch.hpp"

namespace assay::trainer {
namespace {
const BaseState kBase{10, {1.0F, -0.0F, 3.5F}, {0.0F, 1e-40F, -2.0F}};
const SlotState kSlot{2, 12, {1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}, {7.0F, 8.0F, 9.0F}};
const Update kUpdate{{1, -1, 1 - (std::int64_t{1} << 62)}};

/// A job whose updates are coded by this row.
program::JobSpec coded(program::Strategy strategy) {
    program::JobSpec spec;
    spec.strategy = strategy;
    return spec;
}
const program::JobSpec kWhole = coded(program::Strategy::kDiloco);
const program::JobSpec kHalf = coded(program::Strategy::kDilocoHalf);

std::string why(const base::Error& error) { return error.what; }
}  // namespace

TEST_CASE("state files come back as they were written", "[trainer][state]") {
    CHECK(decode_base_state(encode_base_state(kBase), 3).value() == kBase);
    for (const program::StateArray array : program::strategy_of(kWhole).lane_arrays) {
        const std::vector<float>& numbers = array_of(kSlot, array);
        CHECK(decode_array(array_file(numbers), 3).value() == numbers);
    }
    CHECK(decode_update(encode_update(kUpdate, kWhole), 3, kWhole).value() == kUpdate);
    const Update halves{{1LL << 40, -(3LL << 16), 0}};  // 1, -3·2^-24 and 0
    CHECK(decode_update(encode_update(halves, kHalf), 3, kHalf).value() == halves);
}

TEST_CASE("state files have the documented bytes", "[trainer][state]") {
    CHECK(base::to_hex(encode_base_state({1, {1.0F}, {-2.0F}})) ==
          "4142415345303031"
          "0100000000000000"
          "0000803f"
          "000000c0");
    CHECK(base::to_hex(array_file({1.0F, -2.0F})) == "0000803f000000c0");
    CHECK(base::to_hex(encode_update({{-2}}, kWhole)) ==
          "4155504454303031"
          "feffffffffffffff");
    CHECK(base::to_hex(encode_update({{1LL << 40, -(1LL << 16)}}, kHalf)) ==
          "4148414c46303031"
          "003c"
          "0180");
}

TEST_CASE("how long a state file is follows from the number of parameters", "[trainer][state]") {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
        const std::vector<float> numbers(count);
        CHECK(encode_base_state({1, numbers, numbers}).size() == base_state_bytes(count));
        CHECK(array_file(numbers).size() == program::array_bytes(count));
        const Update update{std::vector<std::int64_t>(count)};
        CHECK(encode_update(update, kWhole).size() == 8 + 8 * count);
        CHECK(encode_update(update, kHalf).size() == 8 + 2 * count);
    }
}

TEST_CASE("state files of a wrong kind, length or with numbers that are not finite are refused",
          "[trainer][state]") {
    base::Bytes bytes = encode_update(kUpdate, kWhole);
    CHECK_THAT(why(decode_base_state(bytes, 3).error()), Catch::Contains("does not begin with ABASE001"));
    CHECK_THAT(why(decode_base_state({}, 3).error()), Catch::Contains("does not begin"));
    bytes = encode_base_state(kBase);
    CHECK_THAT(why(decode_base_state(bytes, 4).error()),
               Catch::Contains("40 bytes where this model needs 48"));
    bytes.push_back(0);
    CHECK_THAT(why(decode_base_state(bytes, 3).error()), Catch::Contains("41 bytes"));
    BaseState bad = kBase;
    bad.outer_momentum[1] = __builtin_inff();
    CHECK_THAT(why(decode_base_state(encode_base_state(bad), 3).error()),
               Catch::Contains("outer momentum, element 1"));
    CHECK_THAT(why(decode_update(encode_base_state(kBase), 3, kWhole).error()), Catch::Contains("AUPDT001"));
}

TEST_CASE("an array's file of another length is refused; a claimed number may be any", "[trainer][state]") {
    base::Bytes bytes = base::to_bytes(array_file(kSlot.parameters));
    CHECK_THAT(why(decode_array(bytes, 4).error()), Catch::Contains("12 bytes where this model needs 16"));
    bytes.push_back(0);
    CHECK_FALSE(decode_array(bytes, 3).ok());
    bytes.resize(11);
    CHECK_FALSE(decode_array(bytes, 3).ok());
    CHECK_FALSE(decode_array({}, 3).ok());
    CHECK(decode_array({}, 0).value().empty());
    CHECK(decode_array(array_file({__builtin_inff()}), 1).value().size() == 1);
}

TEST_CASE("a slot's head says its counters, and of each array the root and the file", "[trainer][state]") {
    program::StateRoots roots;
    roots.first_moment = base::hash("test", base::as_bytes("root"));
    const auto arrays = program::strategy_of(kWhole).lane_arrays;
    const program::StateHead head = slot_head(kSlot, roots, arrays);
    CHECK(program::fits(head, arrays, false));
    CHECK(head.part(program::StateArray::kFirstMoment)->root == roots.first_moment);
    for (const program::StatePart& part : head.parts) {
        CHECK(part.blob == base::blob_id(array_file(array_of(kSlot, part.array))));
    }
    const SlotState counters = counters_of(head);
    CHECK(counters.step == kSlot.step);
    CHECK(counters.cursor == kSlot.cursor);
    CHECK(counters.parameters.empty());
}

TEST_CASE("update files of another codec, or with numbers that no codec writes, are refused",
          "[trainer][state]") {
    CHECK_THAT(why(decode_update(encode_update({{0}}, kWhole), 1, kHalf).error()),
               Catch::Contains("AHALF001"));
    const auto refused = [](base::Bytes bytes, const program::JobSpec& spec) {
        return why(decode_update(bytes, 1, spec).error());
    };
    base::Bytes file = encode_update({{0}}, kHalf);
    for (const int high : {0x7c, 0x7e, 0xfc, 0x80}) {  // infinities, a NaN, -0
        file[9] = static_cast<std::uint8_t>(high);
        CHECK_THAT(refused(file, kHalf), Catch::Contains("codec fp16 never writes"));
    }
    base::Bytes whole = encode_update({{0}}, kWhole);
    whole.back() = 0x40;  // 2^62
    CHECK_THAT(refused(whole, kWhole), Catch::Contains("codec int64 never writes"));
}

}  // namespace assay::trainer
