// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "node/blob/blob_store.hpp"
#include "node/rpc/channel.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/rpc/certificates.hpp"

namespace assay::node {
namespace {

TEST_CASE("with certificates of one CA both sides talk; without, or with another CA, they do not") {
    const test::TemporaryFolder folder;
    const TlsFiles ours = test::make_certificates(folder, "ours");
    const TlsFiles theirs = test::make_certificates(folder, "theirs");
    auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    const base::Bytes content(3000, 9);
    const BlobId id = store->put(content).value();
    const auto server = serve_blobs(*store, {.listen = "127.0.0.1:0", .tls = ours}).value();
    const auto describe = [&](const std::optional<TlsFiles>& tls) {
        return connect_blobs({.address = server->address(), .tls = tls, .deadline = std::chrono::seconds(3)})
            .value()
            ->describe(id);
    };
    REQUIRE(describe(ours)->size == 3000);
    REQUIRE_FALSE(describe(std::nullopt).ok());
    REQUIRE_FALSE(describe(theirs).ok());
    REQUIRE_FALSE(
        describe(TlsFiles{.certificate = theirs.certificate, .key = theirs.key, .ca = ours.ca}).ok());

    // With TLS any address may be listened on; a key that others can read is refused.
    REQUIRE(serve_blobs(*store, {.listen = "0.0.0.0:0", .tls = ours}).ok());
    chmod(ours.key.c_str(), 0644);
    REQUIRE(serve_blobs(*store, {.listen = "127.0.0.1:0", .tls = ours}).error().kind ==
            base::ErrorKind::kKey);
}

TEST_CASE("a server asks itself over TLS at an address that no certificate names; others need the name") {
    const test::TemporaryFolder folder;
    const TlsFiles ours = test::make_certificates(folder, "ours");
    const TlsFiles theirs = test::make_certificates(folder, "theirs");
    auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {.listen = "0.0.0.0:0", .tls = ours}).value();
    ClientOptions asking{.address = server->address(), .tls = ours, .deadline = std::chrono::seconds(3)};
    CHECK(check_own_health(asking).ok());
    CHECK_FALSE(check_health(asking).ok());
    asking.tls = TlsFiles{.certificate = ours.certificate, .key = ours.key, .ca = theirs.ca};
    CHECK_FALSE(check_own_health(asking).ok());  // another authority's server
    // Without TLS there are only servers on loopback.
    const auto bare = serve_blobs(*store, {.listen = "127.0.0.1:0"}).value();
    CHECK(check_own_health({.address = bare->address(), .deadline = std::chrono::seconds(3)}).ok());
}

}  // namespace
}  // namespace assay::node
