// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/caller.hpp"

#include <arpa/inet.h>
#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <array>

#include "contracts/base/hash.hpp"

namespace assay::node {
namespace {

// The host of "ipv4:HOST:PORT" or "ipv6:[HOST]:PORT"; brackets may be written as %5B and %5D.
std::string host_of(const std::string& peer) {
    std::string text = peer.substr(0, peer.rfind(':'));
    text.erase(0, text.find(':') + 1);
    if (text.starts_with("%5B")) text = text.substr(3, text.size() - 6);
    if (text.starts_with("[")) text = text.substr(1, text.size() - 2);
    return text.substr(0, text.find('%'));  // without the zone of a link-local address
}

std::string address_of(const std::string& peer) {
    const std::string host = host_of(peer);
    in6_addr six{};
    if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return host;
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
        (void)inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
        return text.data();
    }
    std::fill(six.s6_addr + 8, six.s6_addr + 16, std::uint8_t{0});
    (void)inet_ntop(AF_INET6, &six, text.data(), text.size());
    return std::string(text.data()) + "/64";
}

}  // namespace

Caller caller_of(const std::string& peer, const std::string& certificate) {
    std::string address = address_of(peer);
    if (certificate.empty()) return {.name = peer, .address = std::move(address)};
    return {.name = base::hash("assay/rpc-caller", base::as_bytes(certificate)).hex(),
            .address = std::move(address)};
}

Caller caller_of(const grpc::CallbackServerContext& context) {
    std::string certificate;
    if (const auto auth = context.auth_context()) {
        const auto values = auth->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
        if (!values.empty()) certificate.assign(values.front().data(), values.front().size());
    }
    return caller_of(context.peer(), certificate);
}

}  // namespace assay::node
