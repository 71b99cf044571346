// SPDX-License-Identifier: Apache-2.0
#include "node/views/json.hpp"

#include "contracts/base/hash.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "node/roles/verifier.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

struct Inner {
    std::string text;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("text", text);
    }
};

struct Outer {
    base::Amount money;
    Units found;
    SignedUnits delta;
    base::Hash256 root;
    contracts::Reason reason = contracts::Reason::kPaid;
    std::optional<float> loss, none;
    std::vector<Inner> list;
    bool ok = true;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("money", money);
        visit("found", found);
        visit("delta", delta);
        visit("root", root);
        visit("reason", reason);
        visit("loss", loss);
        visit("none", none);
        visit("list", list);
        visit("ok", ok);
    }
};

}  // namespace

TEST_CASE(
    "a record becomes an object with its fields in order: money as text, hashes as digits, nothing as null") {
    Outer record;
    record.money = base::Amount::of(base::kAmountMax).value();  // no double holds it
    record.found = {UINT64_MAX};
    record.delta = {-5};
    record.root.bytes[0] = 0xab;
    record.loss = 0.5F;
    record.list = {{"a"}, {"b"}};
    CHECK(json_of(record).dump() ==
          R"({"money":"4000000000000000000","found":"18446744073709551615","delta":"-5","root":"ab)" +
              std::string(62, '0') +
              R"(","reason":"paid","loss":0.5,"none":null,"list":[{"text":"a"},{"text":"b"}],"ok":true})");
}

TEST_CASE("empty lists and counts keep their kind, and counts keep their order") {
    CHECK(json_of(std::vector<Inner>{}).dump() == "[]");
    CHECK(json_of(NamedCounts{}).dump() == "{}");
    CHECK(json_of(NamedCounts{{"b", 1}, {"a", 2}}).dump() == R"({"b":1,"a":2})");
}

TEST_CASE("the schema stands first, and bytes that are no UTF-8 do not end a command") {
    JsonFields body;
    body("name", std::string("caf\xe9"));
    const Json object = body.take();
    CHECK(json_text("assay.test/v1", object, JsonLayout::kOneLine) ==
          "{\"schema\":\"assay.test/v1\",\"name\":\"caf\xef\xbf\xbd\"}");
    CHECK(Json::parse(json_text("assay.test/v1", object, JsonLayout::kIndented)).size() == 2);
}

TEST_CASE("a verifier's finding is one line by the names of its fields") {
    const Finding finding{.job = base::hash("test/job", {}),
                          .round = 3,
                          .slot = 1,
                          .unit = 2,
                          .miner = {},
                          .difference = "unit root: \xff differs"};
    CHECK(json_text("assay.finding/v1", json_of(finding), JsonLayout::kOneLine) ==
          "{\"schema\":\"assay.finding/v1\",\"job\":\"" + finding.job.hex() +
              "\",\"round\":3,\"slot\":1,\"unit\":2,\"miner\":\"" + std::string(64, '0') +
              "\",\"difference\":\"unit root: \xef\xbf\xbd differs\"}");
}

}  // namespace assay::node
