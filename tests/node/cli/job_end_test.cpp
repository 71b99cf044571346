// SPDX-License-Identifier: Apache-2.0
// What a buyer is told of its job's deadline and of its end.
#include "tests/node/cli/working_chain.hpp"

namespace assay::test {

using nlohmann::json;

TEST_CASE("job show says how far the deadline is") {
    WorkingChain& s = working_chain();
    const PersonHome other(*s.chain, s.env.person("other"));
    const json shown = other.must_ask({"job", "show", s.unasked.hex()});
    const auto left = shown.at("blocks_left").get<std::uint64_t>();
    CHECK(left > 0);
    CHECK(left == shown.at("deadline").get<std::uint64_t>() - shown.at("height").get<std::uint64_t>());
    // A block each tenth of a second, where the machine is not slower.
    CHECK(shown.at("hours_left").get<double>() >= static_cast<double>(left) * 0.1 / 3600 * 0.9);
    const CliRun table = other.ask({"job", "show", s.unasked.hex()});
    CHECK(table.out.find("deadline           block " + shown.at("deadline").dump() + ", in ") !=
          std::string::npos);
    CHECK(table.out.find("at the pace of the last blocks") != std::string::npos);
    CHECK(table.out.find("at                 block ") != std::string::npos);
}

TEST_CASE("a job that nobody works for ends at once where it is cancelled, and is told to have ended") {
    WorkingChain& s = working_chain();
    const PersonHome other(*s.chain, s.env.person("other"));
    const auto before = s.balance_of("other");
    const CliRun run = other.sign({"job", "cancel", s.unasked.hex()});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.out.find("job " + s.unasked.brief() + " has ended in block ") == 0);
    CHECK(run.out.find("10.000000 ASY came back") != std::string::npos);
    CHECK(s.balance_of("other") > before);
    const json over = other.must_ask({"job", "show", s.unasked.hex()});
    CHECK(over.at("blocks_left").is_null());
    CHECK(over.at("hours_left").is_null());
}

TEST_CASE("a job whose round runs is told to wait for it, and for the windows of its claims") {
    WorkingChain& s = working_chain();
    const PersonHome buyer(*s.chain, s.env.person("buyer"));
    const json said = buyer.must_sign({"job", "cancel", s.job.hex()});
    CHECK(keys_of(said) == std::set<std::string>{"schema", "job", "height", "end"});
    CHECK(said.at("schema") == "assay.job.cancel/v1");
    const json& end = said.at("end");
    CHECK(keys_of(end) == std::set<std::string>{"phase", "running_round", "claim_window", "open_claims",
                                                "held", "windows_end", "escrow", "ended_at", "refunded"});
    CHECK(end.at("phase") == "rounds");
    CHECK(end.at("running_round") == 1);
    CHECK(end.at("claim_window") == WorkingChain::kClaimWindow);
    CHECK(end.at("windows_end") == s.settled_at + WorkingChain::kClaimWindow);
    CHECK(end.at("open_claims").get<std::uint64_t>() >= 2);
    CHECK(units_in(end.at("held")) > 0);
    CHECK(end.at("ended_at").is_null());
    CHECK(end.at("refunded").is_null());
}

}  // namespace assay::test
