// SPDX-License-Identifier: Apache-2.0
// The programs of both families are agreed values: the index of an operator names where a slot diverged, its
// operations are what is paid for.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/contracts/program/program_text.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("programs of both families, profiles and heads are those that were agreed, field by field") {
    // tests/vectors/programs.txt: program, operators, operations on one and two sequences, hash of all
    // fields. To accept a change of the law: ASSAY_UPDATE_GOLDEN=1 build/bin/program_test "programs of both*"
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    const std::string path = std::string(source) + "/tests/vectors/programs.txt";
    if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << program_text::pinned_lines();
        return;
    }
    std::ifstream file(path);
    REQUIRE(file.good());
    const std::string wanted{std::istreambuf_iterator<char>(file), {}};
    CHECK(program_text::pinned_lines() == wanted);
}

TEST_CASE("the text of a program shows every change of a field") {
    const assay::program::Program program =
        assay::program::build_step_program(tiny::llama(), tiny::spec().train, assay::program::Profile::kI16);
    const std::string text = program_text::full_text(program);
    const auto shows = [&](auto change) {
        assay::program::Program other = program;
        change(other);
        return program_text::full_text(other) != text;
    };
    using P = assay::program::Program;
    CHECK(shows([](P& p) { p.operators[3].name += "x"; }));
    CHECK(shows([](P& p) { std::swap(p.operators[3].kind, p.operators[0].kind); }));
    CHECK(shows([](P& p) { ++p.operators[3].layer; }));
    CHECK(shows([](P& p) { ++p.operators[3].operands[0]; }));
    CHECK(shows([](P& p) { ++p.operators[3].outputs[0]; }));
    CHECK(shows([](P& p) { ++p.operators[3].flops.fixed; }));
    CHECK(shows([](P& p) { ++p.operators[3].flops.per_sequence; }));
    CHECK(shows([](P& p) { ++p.operators[3].rule.block; }));
    CHECK(shows([](P& p) { ++p.operators[3].rule.a_digits; }));
    CHECK(shows([](P& p) { p.operators[2].layout = assay::program::WeightLayout::kInOut; }));
    CHECK(shows([](P& p) { p.operators.pop_back(); }));
    CHECK(shows([](P& p) { ++p.tensors[5].cols; }));
    CHECK(shows([](P& p) { ++p.tensors[5].rows.fixed; }));
    CHECK(shows([](P& p) { ++p.parameters[5].offset; }));
    CHECK(shows([](P& p) { ++p.loss; }));
    CHECK(shows([](P& p) { ++p.norm; }));
    CHECK(shows([](P& p) { p.clip_norm = 0.5F; }));
}
