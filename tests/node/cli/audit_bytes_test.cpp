// SPDX-License-Identifier: Apache-2.0
// Whose fault it is that an audit does not have a blob.
#include "node/cli/commands/audit_bytes.hpp"

#include <sstream>
#include <thread>

#include "node/cli/context.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/rpc/certificates.hpp"

namespace assay::test {
namespace {

constexpr std::uint64_t kMebibyte = 1024 * 1024;

/// Holds what is put into it, and serves it.
struct Holder {
    explicit Holder(node::ServerOptions options = {})
        : store(node::BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value()),
          server(node::serve_blobs(*store, options).value()) {}

    TemporaryFolder folder;
    std::unique_ptr<node::BlobStore> store;
    std::unique_ptr<node::RpcServer> server;
};

std::unique_ptr<node::BytesAtHand> asking(const std::string& address, std::uint64_t quota,
                                          const std::optional<node::TlsFiles>& tls = {}) {
    static std::ostringstream nowhere;
    static node::Context context{nowhere, nowhere, {}, {}, {}};
    context.settings.tls = tls;
    auto bytes = node::BytesAtHand::make(
        nullptr, [](const node::Endpoint& holder) { return context.client_of(holder); }, quota);
    REQUIRE(bytes.ok());
    (*bytes)->ask({address});
    return std::move(bytes).value();
}

}  // namespace

TEST_CASE("a blob that the auditor has no room for is the auditor's failure, not the holder's") {
    const Holder honest;
    const auto large = honest.store->put(base::Bytes(3 * kMebibyte, 7)).value();
    const auto bytes = asking(honest.server->address(), kMebibyte);
    CHECK(bytes->find(large) == nullptr);
    REQUIRE(bytes->own_failure());
    CHECK(bytes->own_failure()->kind == base::ErrorKind::kFailure);
    CHECK(bytes->own_failure()->what.find("no room") != std::string::npos);
    CHECK(bytes->own_failure()->fix.find("TMPDIR") != std::string::npos);
    CHECK(asking(honest.server->address(), 64 * kMebibyte)->find(large) != nullptr);
}

TEST_CASE("a blob that no holder has is no failure of the auditor's, and is asked for once") {
    const Holder holder;
    const base::Bytes content(3000, 9);
    const auto bytes = asking(holder.server->address(), 64 * kMebibyte);
    const auto blob = Holder().store->put(content).value();
    CHECK(bytes->find(blob) == nullptr);
    CHECK_FALSE(bytes->own_failure());
    REQUIRE(holder.store->put(content).ok());
    CHECK(bytes->find(blob) == nullptr);
}

TEST_CASE("a holder that had no room for the question is asked again") {
    node::ServerOptions options;
    options.limits.answers.total = 0;
    Holder holder(options);
    const auto blob = holder.store->put(base::Bytes(3000, 9)).value();
    const std::string address = holder.server->address();
    const auto bytes = asking(address, 64 * kMebibyte);
    CHECK(bytes->find(blob) == nullptr);
    CHECK_FALSE(bytes->own_failure());
    holder.server.reset();
    holder.server = node::serve_blobs(*holder.store, {.listen = address, .tls = {}, .limits = {}}).value();
    for (int i = 0; i < 50 && bytes->find(blob) == nullptr; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(bytes->find(blob) != nullptr);
}

TEST_CASE("a holder behind TLS gives an audit its blobs") {
    const TemporaryFolder folder;
    const node::TlsFiles tls = make_certificates(folder, "network");
    node::ServerOptions options;
    options.tls = tls;
    const Holder holder(options);
    const auto blob = holder.store->put(base::Bytes(3000, 9)).value();
    CHECK(asking(holder.server->address(), 64 * kMebibyte)->find(blob) == nullptr);
    CHECK(asking(holder.server->address(), 64 * kMebibyte, tls)->find(blob) != nullptr);
}

}  // namespace assay::test
