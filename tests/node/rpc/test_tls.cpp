// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "node/blob/blob_store.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

// A CA and one certificate for 127.0.0.1 that it signed, made by the openssl program.
TlsFiles make_certificates(const test::TemporaryFolder& folder, const std::string& name) {
    const std::string base = (folder / name).string();
    std::ofstream(base + ".ext") << "subjectAltName=IP:127.0.0.1\n";
    const std::string quiet = " >/dev/null 2>&1";
    const std::string key = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";
    const std::string commands =
        key + "-x509 -days 2 -subj /CN=" + name + "-ca -keyout " + base + ".cakey -out " + base + ".ca" +
        quiet + " && " + key + "-subj /CN=node -keyout " + base + ".key -out " + base + ".csr" + quiet +
        " && openssl x509 -req -days 2 -in " + base + ".csr -CA " + base + ".ca -CAkey " + base +
        ".cakey -CAcreateserial -extfile " + base + ".ext -out " + base + ".crt" + quiet;
    REQUIRE(std::system(commands.c_str()) == 0);
    chmod((base + ".key").c_str(), 0600);
    return {.certificate = base + ".crt", .key = base + ".key", .ca = base + ".ca"};
}

TEST_CASE("with certificates of one CA both sides talk; without, or with another CA, they do not") {
    const test::TemporaryFolder folder;
    const TlsFiles ours = make_certificates(folder, "ours");
    const TlsFiles theirs = make_certificates(folder, "theirs");
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

}  // namespace
}  // namespace assay::node
