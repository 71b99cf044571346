// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>
#include <vector>

namespace assay::node {

using base::ErrorKind;
using base::Outcome;

namespace {

class Socket {
public:
    explicit Socket(int number) : number_(number) {}
    Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Socket& operator=(Socket&&) = delete;
    ~Socket() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool valid() const { return number_ >= 0; }

private:
    int number_;
};

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

Socket tcp_socket(int flags = 0) { return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)); }

bool set_up(const Socket& socket) {
    const int one = 1;
    return ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0;
}

/// Bytes on their way in one direction. What the sender ended is ended for the receiver when the last byte
/// has gone.
class RelayedStream {
public:
    enum class Flow : std::uint8_t { kOpen, kEnded, kBroken };

    RelayedStream(int from, int to, std::atomic<std::uint64_t>& passed)
        : from_(from), to_(to), passed_(passed) {}

    [[nodiscard]] bool wants_to_read() const { return state_ == Flow::kOpen && waiting() == 0; }
    [[nodiscard]] bool wants_to_write() const { return waiting() > 0; }
    [[nodiscard]] Flow state() const { return state_; }

    void read() {
        const ssize_t got = ::recv(from_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (got > 0) {
            first_ = 0;
            last_ = static_cast<std::size_t>(got);
            return write();
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        state_ = got == 0 ? Flow::kEnded : Flow::kBroken;
        if (got == 0) ::shutdown(to_, SHUT_WR);
    }

    void write() {
        const ssize_t sent = ::send(to_, buffer_.data() + first_, waiting(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (sent < 0) {
            state_ = Flow::kBroken;
            first_ = last_;
            return;
        }
        first_ += static_cast<std::size_t>(sent);
        passed_ += static_cast<std::uint64_t>(sent);
    }

private:
    [[nodiscard]] std::size_t waiting() const { return last_ - first_; }

    int from_;
    int to_;
    std::atomic<std::uint64_t>& passed_;
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{256} << 10);
    std::size_t first_ = 0;
    std::size_t last_ = 0;
    Flow state_ = Flow::kOpen;
};

/// A caller and the target that is called for it. The call may take long, and holds up nobody else.
struct RelayedConnection {
    enum class Call : std::uint8_t { kRinging, kAnswered, kFailed };

    RelayedConnection(Socket of_caller, Socket of_target, std::atomic<std::uint64_t>& to_target,
                      std::atomic<std::uint64_t>& from_target)
        : caller(std::move(of_caller)),
          target(std::move(of_target)),
          there(caller.number(), target.number(), to_target),
          back(target.number(), caller.number(), from_target) {}

    [[nodiscard]] bool over() const {
        using Flow = RelayedStream::Flow;
        const bool broken = there.state() == Flow::kBroken || back.state() == Flow::kBroken;
        return call == Call::kFailed || broken ||
               (there.state() == Flow::kEnded && back.state() == Flow::kEnded);
    }
    [[nodiscard]] pollfd watched_caller() const {
        if (call != Call::kAnswered) return {-1, 0, 0};
        return watched(caller.number(), there, back);
    }
    [[nodiscard]] pollfd watched_target() const {
        if (call != Call::kAnswered) return {target.number(), POLLOUT, 0};
        return watched(target.number(), back, there);
    }
    /// True when the target has just answered the call.
    bool end_call(const pollfd& of_target) {
        if (call != Call::kRinging || of_target.revents == 0) return false;
        int error = 0;
        socklen_t size = sizeof error;
        const int told = ::getsockopt(target.number(), SOL_SOCKET, SO_ERROR, &error, &size);
        call = told == 0 && error == 0 ? Call::kAnswered : Call::kFailed;
        return call == Call::kAnswered;
    }
    [[nodiscard]] static pollfd watched(int socket, const RelayedStream& reading,
                                        const RelayedStream& writing) {
        short events = 0;
        if (reading.wants_to_read()) events = static_cast<short>(events | POLLIN);
        if (writing.wants_to_write()) events = static_cast<short>(events | POLLOUT);
        // Without an event that is waited for, an end that is known would be told again and again.
        return {events == 0 ? -1 : socket, events, 0};
    }
    void serve(const pollfd& of_caller, const pollfd& of_target) {
        if (call != Call::kAnswered) return;
        if (of_caller.revents != 0 && there.wants_to_read()) there.read();
        if (of_target.revents != 0 && there.wants_to_write()) there.write();
        if (of_target.revents != 0 && back.wants_to_read()) back.read();
        if (of_caller.revents != 0 && back.wants_to_write()) back.write();
    }

    Socket caller;
    Socket target;
    Call call = Call::kRinging;
    RelayedStream there;
    RelayedStream back;
};

/// How long callers wait when the process has no descriptor left for them.
constexpr int kNoRoomPauseMs = 100;

class PollingRelay final : public Relay {
public:
    PollingRelay(Socket listening, Socket waking, std::uint16_t port, std::uint16_t target_port)
        : listening_(std::move(listening)),
          waking_(std::move(waking)),
          port_(port),
          target_port_(target_port),
          thread_([this] { run(); }) {}

    ~PollingRelay() override {
        stopping_ = true;
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(waking_.number(), &one, sizeof one);
        thread_.join();
    }

    [[nodiscard]] std::string address() const override { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] RelayCounts counts() const override { return {connections_, to_target_, from_target_}; }

private:
    void run() {
        std::list<RelayedConnection> connections;
        std::vector<pollfd> watched;
        while (!stopping_) {
            const int listening = no_room_ ? -1 : listening_.number();
            watched.assign({{listening, POLLIN, 0}, {waking_.number(), POLLIN, 0}});
            for (const RelayedConnection& one : connections) {
                watched.push_back(one.watched_caller());
                watched.push_back(one.watched_target());
            }
            if (::poll(watched.data(), watched.size(), no_room_ ? kNoRoomPauseMs : -1) < 0) continue;
            no_room_ = false;
            std::size_t at = 2;
            for (auto one = connections.begin(); one != connections.end(); at += 2) {
                if (one->end_call(watched[at + 1])) {
                    ++connections_;
                } else {
                    one->serve(watched[at], watched[at + 1]);
                }
                one = one->over() ? connections.erase(one) : std::next(one);
            }
            if (watched[0].revents != 0) take_caller(connections);
        }
    }

    void take_caller(std::list<RelayedConnection>& connections) {
        Socket caller(::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!caller.valid()) {
            // The caller stays in the queue, and would be told of again at once.
            no_room_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            return;
        }
        Socket target = tcp_socket(SOCK_NONBLOCK);
        const sockaddr_in address = loopback(target_port_);
        if (!target.valid() || !set_up(caller) || !set_up(target)) return;
        if (::connect(target.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
            errno != EINPROGRESS) {
            return;
        }
        connections.emplace_back(std::move(caller), std::move(target), to_target_, from_target_);
    }

    Socket listening_;
    Socket waking_;
    std::uint16_t port_;
    std::uint16_t target_port_;
    bool no_room_ = false;  ///< for one more caller
    std::atomic<bool> stopping_ = false;
    std::atomic<std::uint64_t> connections_ = 0;
    std::atomic<std::uint64_t> to_target_ = 0;
    std::atomic<std::uint64_t> from_target_ = 0;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace

Outcome<std::unique_ptr<Relay>> Relay::start(std::uint16_t target_port) {
    Socket listening = tcp_socket();
    Socket waking(::eventfd(0, EFD_CLOEXEC));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (!listening.valid() || !waking.valid() || ::bind(listening.number(), raw, size) != 0 ||
        ::listen(listening.number(), 128) != 0 || ::getsockname(listening.number(), raw, &size) != 0) {
        return base::fail(ErrorKind::kFailure, std::string("cannot relay: ") + std::strerror(errno));
    }
    const std::uint16_t port = ntohs(address.sin_port);
    return std::unique_ptr<Relay>(
        std::make_unique<PollingRelay>(std::move(listening), std::move(waking), port, target_port));
}

}  // namespace assay::node
