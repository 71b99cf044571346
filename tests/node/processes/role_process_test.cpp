// SPDX-License-Identifier: Apache-2.0
// The two phases of a role's process: everything is at hand, and nobody can reach it; then it serves.
#include "node/processes/role_process.hpp"

#include "node/rpc/port.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/processes/site.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using test_site::Site;

std::unique_ptr<RoleProcess> open_process(const Site& site) {
    RoleProcessOptions options;
    options.program = "test";
    options.home = site.home;
    options.node_address = site.node->address();
    options.genesis = site.genesis;
    options.passphrase.file = site.folder / "words";
    options.needs_worker = NeedsWorker::kNo;
    return RoleProcess::open(options, {}).value();
}

// What a stranger gets who asks the process for a blob.
ErrorKind asked_by_a_stranger(const std::string& endpoint) {
    const auto blobs = connect_blobs({.address = endpoint, .deadline = std::chrono::seconds(5)}).value();
    return blobs->describe({}).error().kind;
}

}  // namespace

TEST_CASE("a role's process is reached by nobody before it serves, at the endpoint that it named") {
    const Site site;
    const auto process = open_process(site);
    const std::string endpoint = process->endpoint();
    REQUIRE(asked_by_a_stranger(endpoint) == ErrorKind::kUnreachable);
    REQUIRE(process->serve().ok());
    REQUIRE(process->endpoint() == endpoint);
    REQUIRE(process->parts().endpoint == endpoint);
    REQUIRE(asked_by_a_stranger(endpoint) == ErrorKind::kNotFound);  // served, and not held
}

TEST_CASE("a reserved port refuses whoever connects, and the server that was meant takes it over") {
    auto reserved = std::optional(ReservedPort::take("127.0.0.1:0").value());
    const std::string address = reserved->address();
    REQUIRE(asked_by_a_stranger(address) == ErrorKind::kUnreachable);
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {.listen = address}).value();
    reserved.reset();
    REQUIRE(server->address() == address);
    REQUIRE(asked_by_a_stranger(address) == ErrorKind::kNotFound);
    REQUIRE(ReservedPort::take(address).error().kind == ErrorKind::kFailure);  // taken
    REQUIRE(ReservedPort::take("nonsense").error().kind == ErrorKind::kUsage);
}

}  // namespace assay::node
