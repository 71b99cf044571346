// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/port.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "node/rpc/tls.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

// Zero when the socket has no port.
std::uint16_t port_of(int fd) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
    if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

base::Outcome<ReservedPort> ReservedPort::take(const std::string& listen) {
    ASSAY_ASSIGN(const HostPort wanted, parse_host_port(listen));
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (getaddrinfo(wanted.host.c_str(), std::to_string(wanted.port).c_str(), &hints, &found) != 0) {
        return fail(ErrorKind::kUsage, "'" + wanted.host + "' is not an address that this machine knows",
                    "give an address of this machine, for example 127.0.0.1");
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    // With this on both sockets, and the first not listening, the server may bind the same port.
    const bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       bind(fd, found->ai_addr, found->ai_addrlen) == 0;
    const std::uint16_t port = bound ? port_of(fd) : std::uint16_t{0};
    if (port == 0) {
        if (fd >= 0) close(fd);
        return fail(
            ErrorKind::kFailure,
            "cannot listen on " + listen + ": the port is taken or the address is not of this machine",
            "stop the program that uses it, or choose another port (0 lets the system choose)");
    }
    const std::string host =
        wanted.host.find(':') == std::string::npos ? wanted.host : "[" + wanted.host + "]";
    return ReservedPort(fd, host + ":" + std::to_string(port));
}

ReservedPort::ReservedPort(ReservedPort&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), address_(std::move(other.address_)) {}
ReservedPort& ReservedPort::operator=(ReservedPort&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(address_, other.address_);
    return *this;
}
ReservedPort::~ReservedPort() {
    if (fd_ >= 0) close(fd_);
}

}  // namespace assay::node
