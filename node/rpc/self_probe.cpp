// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/self_probe.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "node/rpc/channel.hpp"
#include "node/rpc/tls.hpp"

namespace assay::node {
namespace {

using SteadyClock = std::chrono::steady_clock;

bool wait_for(int socket, short events, SteadyClock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
    pollfd wanted{socket, events, 0};
    return left.count() > 0 && poll(&wanted, 1, static_cast<int>(left.count())) == 1;
}

/// Connected in time, or -1.
int connect_to(const addrinfo& address, SteadyClock::time_point until) {
    const int one = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (one < 0) return -1;
    int error = 0;
    socklen_t size = sizeof error;
    const bool begun = connect(one, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS;
    if (begun && wait_for(one, POLLOUT, until) && getsockopt(one, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
        error == 0) {
        return one;
    }
    close(one);
    return -1;
}

/// The numeric addresses of a server; none while its name cannot be resolved.
class OwnPlaces {
public:
    explicit OwnPlaces(std::string address) : address_(std::move(address)) {}

    /// Resolved once: a name service that fails later says nothing about the server.
    const addrinfo* find() {
        if (found_) return found_.get();
        const auto place = parse_host_port(address_);
        if (!place) return nullptr;
        addrinfo hints{};
        hints.ai_flags = AI_NUMERICSERV;
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        if (getaddrinfo(place->host.c_str(), std::to_string(place->port).c_str(), &hints, &found) == 0)
            found_.reset(found);
        return found_.get();
    }

private:
    std::string address_;
    std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found_{nullptr, &freeaddrinfo};
};

/// Whether the server takes a new connection: it says something to it, or ends it. Its limits let it refuse
/// a call, and its memory quota a connection, while others flood it; only a deaf one says nothing at all.
bool takes_connections(const addrinfo& address, std::chrono::milliseconds patience) {
    const auto until = SteadyClock::now() + patience;
    const int one = connect_to(address, until);
    if (one < 0) return false;
    // The beginning of HTTP/2, with empty settings: under TLS it is no handshake, and ends the connection.
    constexpr std::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    (void)send(one, kPreface.data(), kPreface.size(), MSG_NOSIGNAL);
    const bool heard = wait_for(one, POLLIN, until);
    close(one);
    return heard;
}

class Prober final : public SelfProbe {
public:
    Prober(SelfProbeOptions options, std::function<void()> on_deaf)
        : options_(std::move(options)), on_deaf_(std::move(on_deaf)), places_(options_.client.address) {
        options_.client.deadline = options_.timeout;
        (void)places_.find();
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

private:
    void run(const std::stop_token& stop) {
        int failures = 0;
        std::mutex mutex;
        std::condition_variable_any wake;
        while (!stop.stop_requested()) {
            std::unique_lock lock(mutex);
            wake.wait_for(lock, stop, options_.interval, [] { return false; });
            if (stop.stop_requested()) return;
            failures = serves() ? 0 : failures + 1;
            if (failures > options_.failures_allowed) {
                on_deaf_();
                return;
            }
        }
    }

    /// True also where nothing can be told: a name that never had an address leads to no server.
    bool serves() {
        if (check_own_health(options_.client).ok()) return true;
        const addrinfo* place = places_.find();
        if (place == nullptr) return true;
        for (; place != nullptr; place = place->ai_next)
            if (takes_connections(*place, options_.timeout)) return true;
        return false;
    }

    SelfProbeOptions options_;
    std::function<void()> on_deaf_;
    OwnPlaces places_;
    std::jthread thread_;
};

}  // namespace

std::unique_ptr<SelfProbe> start_self_probe(const SelfProbeOptions& options, std::function<void()> on_deaf) {
    return std::make_unique<Prober>(options, std::move(on_deaf));
}

void exit_deaf() {
    // write(2) and _exit: whatever made the server deaf (no descriptors left) may break anything larger.
    constexpr std::string_view kText =
        "error: this server no longer answers its own health check; ending so that it is started again\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
}

std::uint64_t raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    const rlimit wanted{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) return wanted.rlim_cur;
    return limit.rlim_cur;
}

}  // namespace assay::node
