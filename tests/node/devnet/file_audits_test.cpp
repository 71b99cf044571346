// SPDX-License-Identifier: Apache-2.0
// What the demo says when an audit does not come out as it must.
#include "node/devnet/file_audits.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

/// The error of the audits when the program `assay` is this shell script.
base::Error error_with(const std::string& script) {
    const test::TemporaryFolder folder;
    const std::filesystem::path program = folder / "assay";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    Devnet net;
    net.plan.home = folder / "home";
    net.plan.program = program;
    net.sequencer.home = {net.plan.home};
    std::filesystem::create_directories(net.plan.home / "logs");
    std::filesystem::create_directories(net.plan.home / "ledger");
    for (const char* name : {"blocks.log", "genesis.bin"})
        std::ofstream(net.plan.home / "ledger" / name) << "any bytes\n";
    auto audits = FileAudits::start(net, contracts::MemoryState(), contracts::Job());
    if (!audits.ok()) FAIL(audits.error().what);
    std::ostringstream progress;
    const auto audited = audits->finish(contracts::MemoryState(), progress);
    REQUIRE_FALSE(audited.ok());
    CHECK(progress.str().find("$ assay audit ledger --home") == 0);
    return audited.error();
}

}  // namespace

TEST_CASE("an audit that ends without a report is told with what it wrote on its error stream") {
    const base::Error error = error_with(R"(cat >&2 <<'END'
{"schema":"assay.error/v1","error":{"code":1,"message":"cannot seal a memory file"}}
END
exit 1)");
    CHECK(error.what == "assay audit ledger ended with exit code 1, not 0: cannot seal a memory file");
    CHECK(error.fix.find("audit-1.log") != std::string::npos);
}

TEST_CASE("an audit that ends well without a report, or by a signal, is told with what it wrote") {
    CHECK(error_with("echo plain words >&2").what ==
          "assay audit ledger ended with exit code 0 and without a report: plain words");
    const base::Error killed = error_with("echo about to go >&2; kill -9 $$");
    CHECK(killed.what.find("signal 9") != std::string::npos);
    CHECK(killed.what.find(": about to go") != std::string::npos);
}

TEST_CASE("an audit that reports a fault is told with its error and its report") {
    const base::Error error = error_with(R"(echo '{"ok":false}'
echo '{"schema":"assay.error/v1","error":{"message":"block 3"}}' >&2
exit 7)");
    CHECK(error.what ==
          R"(assay audit ledger ended with exit code 7, not 0: block 3; it reported {"ok":false})");
}

}  // namespace assay::node
