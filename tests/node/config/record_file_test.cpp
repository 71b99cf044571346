// SPDX-License-Identifier: Apache-2.0
#include "node/config/record_file.hpp"

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::node;

namespace {
RunRecord sample() {
    const base::Hash256 a = base::hash("test/a", {});
    const base::Hash256 b = base::hash("test/b", {});
    RunRecord record;
    record.job_id = "job-1";
    record.slots = 4;
    record.rounds.push_back({0, a, {{0, 1}, {2, 3}}, std::nullopt, b});
    record.rounds.push_back({1, b, {}, 0x3f800000U, b});
    return record;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}
}  // namespace

TEST_CASE("a run record reads back") {
    const auto back = record_from_json(record_to_json(sample()));
    REQUIRE(back.ok());
    CHECK(*back == sample());
}

TEST_CASE("a run record's bytes are these") {
    RunRecord record = sample();
    record.rounds[0].accepted = {{2, 3, base::Hash256{}}};
    const std::string a = record.rounds[0].base_root.hex();
    const std::string b = record.rounds[1].base_root.hex();
    const std::string zero(64, '0');
    const std::string first =
        "    {\n      \"round\": 0,\n      \"base_root\": \"" + a +
        "\",\n      \"accepted\": [\n        {\n          \"slot\": 2,\n          \"weight\": "
        "3,\n          \"carried_in\": \"" +
        zero + "\"\n        }\n      ],\n      \"clip_bits\": null,\n      \"result_root\": \"" + b +
        "\"\n    },\n";
    const std::string second = "    {\n      \"round\": 1,\n      \"base_root\": \"" + b +
                               "\",\n      \"accepted\": [],\n      \"clip_bits\": 1065353216,\n      "
                               "\"result_root\": \"" +
                               b + "\"\n    }\n";
    CHECK(record_to_json(record) ==
          "{\n  \"schema\": \"assay.record/v2\",\n  \"job_id\": \"job-1\",\n  \"slots\": 4,\n  \"rounds\": "
          "[\n" +
              first + second + "  ]\n}\n");
}

TEST_CASE("a run record that does not hold together is refused") {
    const std::string good = record_to_json(sample());
    CHECK_FALSE(record_from_json(replaced(good, "\"slot\": 2", "\"slot\": 0")).ok());
    CHECK_FALSE(record_from_json(replaced(good, "\"slot\": 2", "\"slot\": 4")).ok());
    CHECK_FALSE(record_from_json(replaced(good, "\"weight\": 3", "\"weight\": 0")).ok());
    CHECK_FALSE(record_from_json(replaced(good, "\"round\": 1", "\"round\": 2")).ok());
    CHECK_FALSE(record_from_json(replaced(good, "\"job_id\"", "\"job\"")).ok());
    CHECK_FALSE(record_from_json(replaced(good, "assay.record/v2", "assay.record/v3")).ok());
    const auto earlier = record_from_json(replaced(good, "assay.record/v2", "assay.record/v1"));
    REQUIRE_FALSE(earlier.ok());
    CHECK(earlier.error().what.find("its roots are of an earlier law") != std::string::npos);
    RunRecord gap = sample();
    gap.rounds[1].base_root = gap.rounds[0].base_root;
    CHECK_FALSE(record_from_json(record_to_json(gap)).ok());
}
