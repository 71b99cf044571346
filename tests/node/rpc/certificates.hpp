// SPDX-License-Identifier: Apache-2.0
// Certificates for tests of what talks over TLS.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "node/rpc/tls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::test {

/// A CA and one certificate for 127.0.0.1 that it signed, made by the openssl program.
inline node::TlsFiles make_certificates(const TemporaryFolder& folder, const std::string& name) {
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

}  // namespace assay::test
