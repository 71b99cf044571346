// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <charconv>

#include "node/rpc/tls.hpp"

namespace assay::node {

base::Outcome<HostPort> parse_host_port(const std::string& text) {
    const auto refuse = [&] {
        return base::fail(base::ErrorKind::kUsage, "'" + text + "' is not an address",
                          "write host:port, for example 127.0.0.1:7400 or [::1]:7400");
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || text.size() > 261) return refuse();
    HostPort parts;
    parts.host = text.substr(0, colon);
    if (parts.host.front() == '[' && parts.host.back() == ']') {
        parts.host = parts.host.substr(1, parts.host.size() - 2);
        in6_addr address{};
        if (inet_pton(AF_INET6, parts.host.c_str(), &address) != 1) return refuse();
    } else if (parts.host.find_first_not_of(
                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") !=
               std::string::npos) {
        return refuse();
    }
    const char* begin = text.data() + colon + 1;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, parts.port);
    if (error != std::errc() || rest != end) return refuse();
    return parts;
}

bool is_loopback(const std::string& host) {
    if (host == "localhost") return true;
    in_addr four{};
    if (inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
    in6_addr six{};
    if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
    return false;
}

bool is_any_address(const std::string& host) {
    in_addr four{};
    if (inet_pton(AF_INET, host.c_str(), &four) == 1) return four.s_addr == htonl(INADDR_ANY);
    in6_addr six{};
    if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_UNSPECIFIED(&six);
    return false;
}

}  // namespace assay::node
