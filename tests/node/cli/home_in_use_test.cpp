// SPDX-License-Identifier: Apache-2.0
// Commands in the home of a role that runs.
#include <filesystem>
#include <fstream>
#include <set>

#include "node/blob/blob_store.hpp"
#include "node/runtime/home.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/node/cli/env_home.hpp"

namespace assay::test {
namespace {

std::set<std::string> files_below(const std::filesystem::path& folder) {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(folder).string());
    }
    return found;
}

}  // namespace

TEST_CASE("a command that reads a running role's home removes nothing of it") {
    const Cli cli;
    contracts::test::Env env;
    env.miner("m1");
    const base::Hash256 job = env.post(contracts::test::small_job());
    env.next_block();
    write_ledger(env, cli.home());
    const std::filesystem::path blobs = node::Home{cli.home()}.blobs();
    auto role = node::BlobStore::open({.folder = blobs, .free_bytes_min = 0}).value();
    const node::BlobId id = role->put(base::Bytes(1000, 1)).value();
    REQUIRE(role->set_pin(id, node::Pin::kEvictable).ok());
    // A write, a download that may be dropped, and a further one of a blob that another party owes too.
    for (const std::string name : {"new/1", "partial/ID.evictable", "partial/ID.1"}) {
        std::string file = name;
        if (const auto at = file.find("ID"); at != std::string::npos) file.replace(at, 2, id.hex());
        std::ofstream(blobs / file) << "half";
    }
    const std::set<std::string> before = files_below(blobs);
    // Where no role runs, one may start meanwhile: the command is no owner then either.
    for (const bool runs : {true, false}) {
        INFO(runs);
        if (!runs) role.reset();
        const CliRun run =
            cli({"model", "export", "--job", job.hex(), "--out", (cli.home() / "model").string()});
        INFO(run.err);
        CHECK(run.code == 3);
        CHECK(run.err.find("has no merged round") != std::string::npos);
        CHECK(files_below(blobs) == before);
    }
}

}  // namespace assay::test
