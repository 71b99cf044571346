// SPDX-License-Identifier: Apache-2.0
// Gives clients and servers transport security: nothing on loopback, mutual TLS everywhere else.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

/// PEM files. Both ends present a certificate that `ca` signed.
struct TlsFiles {
    std::filesystem::path certificate;
    std::filesystem::path key;  ///< readable by the owner only
    std::filesystem::path ca;
};

/// "host:port". `port` may be 0 for listening: the system chooses.
struct HostPort {
    std::string host;
    std::uint16_t port = 0;
};

/// kUsage unless the text is host:port, [ipv6]:port included.
base::Outcome<HostPort> parse_host_port(const std::string& text);

/// True for 127.0.0.0/8, ::1 and "localhost": only these may be used without TLS.
bool is_loopback(const std::string& host);

/// True for 0.0.0.0 and ::, at which a server listens on every address of its machine and nobody reaches it.
bool is_any_address(const std::string& host);

}  // namespace assay::node
