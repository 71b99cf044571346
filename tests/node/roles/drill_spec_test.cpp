// SPDX-License-Identifier: Apache-2.0
#include "node/roles/drill_spec.hpp"

#include "contracts/program/tensors.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using worker::Drill;
using worker::DrillKind;

struct Good {
    const char* text;
    std::optional<std::uint32_t> miner;
    std::optional<std::uint32_t> round;
    Drill drill;
};

program::JobSpec job() {
    program::JobSpec spec;
    spec.rounds = 4;
    spec.model = {program::Family::kGpt2, 2, 16, 2, 12, 29};
    spec.train.inner_steps = 6;
    spec.security.segment_steps = 2;
    return spec;
}

}  // namespace

TEST_CASE("sabotage texts mean what they say") {
    const std::vector<Good> table{
        {"miner=2,round=3,tensor=wte.weight,index=5,bit=7", 2, 3, {DrillKind::kFlip, 0, "wte.weight", 5, 7}},
        {"tensor=wte.weight", {}, {}, {DrillKind::kFlip, 0, "wte.weight", 0, 0}},
        {"tensor=transformer.wte.weight", {}, {}, {DrillKind::kFlip, 0, "wte.weight", 0, 0}},
        {"kind=lazy", {}, {}, {DrillKind::kLazy, 0, "", 0, 0}},
        {"kind=zero,segment=1", {}, {}, {DrillKind::kZero, 1, "", 0, 0}},
        {"kind=bad-finalise", {}, {}, {DrillKind::kFinalise, 0, "", 0, 0}},
        {"kind=stale-base,round=1", {}, 1, {DrillKind::kStale, 0, "", 0, 0}},
        {"kind=operator,segment=1,step=1,operator=17,index=320",
         {},
         {},
         {DrillKind::kOperator, 1, "", 320, 0, 1, 17}},
        {"round=0,kind=lazy,segment=2", {}, 0, {DrillKind::kLazy, 2, "", 0, 0}},
        {"kind=ulp,tensor=h.0.mlp.c_fc.weight,index=4242",
         {},
         {},
         {DrillKind::kUlp, 0, "h.0.mlp.c_fc.weight", 4242, 0}},
        {"bit=31,kind=flip,tensor=ln_f.bias,miner=4294967295",
         4294967295U,
         {},
         {DrillKind::kFlip, 0, "ln_f.bias", 0, 31}},
        {"tensor=a,index=18446744073709551615", {}, {}, {DrillKind::kFlip, 0, "a", UINT64_MAX, 0}},
        {"tensor=a,", {}, {}, {DrillKind::kFlip, 0, "a", 0, 0}},
    };
    for (const Good& good : table) {
        INFO(good.text);
        const auto spec = parse_drill(good.text);
        REQUIRE(spec.ok());
        REQUIRE(spec->miner == good.miner);
        REQUIRE(spec->planned.round == good.round);
        REQUIRE(spec->planned.drill == good.drill);
    }
}

TEST_CASE("nonsense in a sabotage text is named and answered with an example") {
    struct Bad {
        const char* text;
        const char* named;
    };
    const std::vector<Bad> table{
        {"", "empty"},
        {"miner", "miner"},
        {"tensor=a,bit", "bit"},
        {",", "key=value"},
        {"tensor=a,,bit=1", "key=value"},
        {"miner=2", "tensor"},
        {"kind=ulp,round=1", "tensor"},
        {"tensor=a,tensor=b", "twice"},
        {"tensor=a,bit=1,bit=1", "twice"},
        {"tensor=a,bit=32", "bit"},
        {"tensor=a,bit=-1", "bit"},
        {"tensor=a,bit=0x7", "bit"},
        {"tensor=a,index=1e3", "index"},
        {"tensor=a,index=18446744073709551616", "index"},
        {"tensor=a,miner=4294967296", "miner"},
        {"tensor=a,miner= 2", "miner"},
        {"tensor=a,round=", "round"},
        {"tensor=a,segment=two", "segment"},
        {"tensor=a,kind=explode", "explode"},
        {"kind=operator,step=x", "step"},
        {"kind=operator,operator=-1", "operator"},
        {"kind=stale-base", "round after the first"},
        {"kind=replayed,round=0", "round after the first"},
        {"tensor=a,colour=red", "colour"},
        {"tensor=a,Bit=1", "Bit"},
        {"=1", "\"\""},
        {"tensor=", "tensor"},
        {"tensor=transformer.", "tensor"},
    };
    for (const Bad& bad : table) {
        INFO(bad.text);
        const auto refused = parse_drill(bad.text);
        REQUIRE_FALSE(refused.ok());
        INFO(refused.error().what);
        REQUIRE(refused.error().kind == ErrorKind::kUsage);
        REQUIRE(refused.error().what.find(bad.named) != std::string::npos);
        REQUIRE(refused.error().fix.find("example") != std::string::npos);
    }
}

TEST_CASE("a planned fault read back from its own text is the same") {
    for (const char* text :
         {"round=1,segment=2,kind=lazy", "round=2,segment=0,kind=replayed",
          "segment=1,kind=operator,step=1,operator=17,index=320", "segment=1,kind=wrong-shard",
          "segment=0,kind=ulp,tensor=h.1.attn.c_attn.weight,index=9",
          "round=3,segment=1,kind=flip,tensor=wte.weight,index=5,bit=7"}) {
        const auto spec = parse_drill(text).value();
        REQUIRE(to_text(spec.planned) == text);
    }
}

TEST_CASE("a sabotage is checked against the job: round, segment, tensor and element exist") {
    const program::JobSpec spec = job();
    const program::TensorInfo first = program::parameter_tensors(spec.model).front();
    const std::string tensor = "tensor=" + first.name;
    const std::string size = std::to_string(first.rows * first.cols);
    const std::string last = std::to_string(first.rows * first.cols - 1);
    for (const std::string& text :
         {tensor + ",round=3,segment=2,index=" + last, tensor, std::string("kind=lazy")}) {
        INFO(text);
        REQUIRE(check_drill(parse_drill(text)->planned, spec).ok());
    }
    const std::vector<std::pair<std::string, std::string>> bad{{tensor + ",round=4", "rounds 0 to 3"},
                                                               {tensor + ",segment=3", "segments 0 to 2"},
                                                               {"kind=lazy,segment=3", "segments 0 to 2"},
                                                               {"tensor=wte.wieght", "wte.wieght"},
                                                               {tensor + ",index=" + size, "0 to " + last}};
    for (const auto& [text, named] : bad) {
        INFO(text);
        const auto refused = check_drill(parse_drill(text)->planned, spec);
        REQUIRE(refused.error().kind == ErrorKind::kUsage);
        REQUIRE(refused.error().what.find(named) != std::string::npos);
    }
}

}  // namespace assay::node
