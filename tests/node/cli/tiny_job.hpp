// SPDX-License-Identifier: Apache-2.0
// A job of 10,240 parameters or so that trains in milliseconds, as its buyer writes it.
#pragma once

#include <string>

#include "tests/node/cli/cli_fixture.hpp"
#include "tests/scenarios/small_text.hpp"

namespace assay::test {

/// Its data stand in data/ beside the file (pack_data). `market`: more lines of its [market].
inline std::string job_text(const std::string& budget, int rounds = 2, const std::string& market = "") {
    return R"([job]
name = "tiny"
slots = 2
rounds = )" +
           std::to_string(rounds) + R"(
seed = 5
[model]
layers = 1
width = 32
heads = 2
context = 32
vocabulary = 320
[data]
manifest = "data/manifest.json"
[train]
inner_steps = 4
batch = 2
learning_rate = 0.003
[market]
max_price = "1000u"
budget = ")" +
           budget + R"("
deadline = 1000
)" + market +
           R"([security]
q = 0.25
segment_steps = 2
gain_bound = "10000u"
)";
}

/// Packs text into the home's folder data/.
inline void pack_data(const Cli& cli) {
    const auto text = cli.write("text.txt", tests::small_text(1));
    const CliRun run =
        cli({"data", "pack", text.string(), "--out", (cli.home() / "data").string(), "--vocabulary", "320"});
    INFO(run.err);
    REQUIRE(run.code == 0);
}

}  // namespace assay::test
