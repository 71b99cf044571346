// SPDX-License-Identifier: Apache-2.0
// Bytes between processes: what a relay counts at the sockets, and what the clients count by purpose.
#include "node/devnet/relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include "node/blob/blob_store.hpp"
#include "node/blob/fetch.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "node/rpc/tls.hpp"
#include "node/rpc/traffic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

/// A TCP socket, closed when it goes.
class Plug {
public:
    explicit Plug(int number) : number_(number) { REQUIRE(number >= 0); }
    Plug(const Plug&) = delete;
    ~Plug() { ::close(number_); }
    [[nodiscard]] int number() const { return number_; }
    void send(const std::string& text) const {
        REQUIRE(::send(number_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    }
    void end() const { REQUIRE(::shutdown(number_, SHUT_WR) == 0); }
    /// Everything up to the other side's end.
    [[nodiscard]] std::string rest() const {
        std::string text;
        char part[4096];
        while (true) {
            const ssize_t got = ::recv(number_, part, sizeof part, 0);
            if (got <= 0) return text;
            text.append(part, static_cast<std::size_t>(got));
        }
    }

private:
    int number_;
};

sockaddr_in loopback_at(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

int plug_into(const std::string& address) {
    const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = loopback_at(parse_host_port(address).value().port);
    REQUIRE(::connect(number, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    return number;
}

std::pair<int, std::uint16_t> bound() {
    const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at = loopback_at(0);
    socklen_t size = sizeof at;
    REQUIRE(::bind(number, reinterpret_cast<const sockaddr*>(&at), size) == 0);
    REQUIRE(::getsockname(number, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    return {number, ntohs(at.sin_port)};
}

std::pair<int, std::uint16_t> listening(int backlog = 8) {
    const auto made = bound();
    REQUIRE(::listen(made.first, backlog) == 0);
    return made;
}

/// While it lives, this process gets no descriptor more.
class NoDescriptors {
public:
    NoDescriptors() {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const int next = ::dup(0);
        REQUIRE(next >= 0);
        ::close(next);
        const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    NoDescriptors(const NoDescriptors&) = delete;
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

std::chrono::nanoseconds processor_time() {
    timespec used{};
    REQUIRE(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::uint64_t all(const RelayCounts& counts) { return counts.to_target + counts.from_target; }

}  // namespace

TEST_CASE("a relay passes both directions and their ends on, and counts each byte once") {
    const auto [number, port] = listening();
    const Plug server(number);
    const auto relay = Relay::start(port).value();
    CHECK(relay->counts().connections == 0);
    const Plug caller(plug_into(relay->address()));
    const Plug answering(::accept(server.number(), nullptr, nullptr));
    const std::string question(3'000'000, 'q');  // more than any buffer on the way holds
    std::string heard;
    std::thread reading([&] { heard = answering.rest(); });
    caller.send(question);
    caller.end();
    reading.join();
    CHECK(heard == question);
    answering.send("an answer after the other side has ended");
    answering.end();
    CHECK(caller.rest() == "an answer after the other side has ended");
    const RelayCounts counts = relay->counts();
    CHECK(counts.connections == 1);
    CHECK(counts.to_target == question.size());
    CHECK(counts.from_target == 40);
}

TEST_CASE("a relay cuts callers off when nobody listens behind it, and lives on") {
    const auto [number, port] = bound();  // so that nobody else takes the port
    const Plug silent(number);
    const auto relay = Relay::start(port).value();
    for (int i = 0; i < 2; ++i) {
        const Plug caller(plug_into(relay->address()));
        CHECK(caller.rest().empty());
    }
    CHECK(all(relay->counts()) == 0);
}

TEST_CASE("a relay without descriptors waits for one, keeps its callers and burns no time") {
    const auto [number, port] = listening();
    const Plug server(number);
    const auto relay = Relay::start(port).value();
    const Plug caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = loopback_at(parse_host_port(relay->address()).value().port);
    {
        const NoDescriptors none;
        REQUIRE(::connect(caller.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
        const auto before = processor_time();
        std::this_thread::sleep_for(1500ms);
        CHECK(processor_time() - before < 100ms);
        CHECK(relay->counts().connections == 0);
    }
    caller.send("after all");
    caller.end();
    const Plug answering(::accept(server.number(), nullptr, nullptr));
    CHECK(answering.rest() == "after all");
}

TEST_CASE("a target that does not answer a call holds up no other connection of its relay") {
    const auto [number, port] = listening(0);
    const Plug server(number);
    const auto relay = Relay::start(port).value();
    const Plug caller(plug_into(relay->address()));
    const Plug answering(::accept(server.number(), nullptr, nullptr));
    // Nobody takes these: soon the kernel leaves the calls of others unanswered.
    std::vector<std::unique_ptr<Plug>> queue;
    for (int i = 0; i < 8; ++i) {
        queue.push_back(std::make_unique<Plug>(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)));
        const sockaddr_in to = loopback_at(port);
        (void)::connect(queue.back()->number(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
    const Plug waiting(plug_into(relay->address()));
    std::this_thread::sleep_for(100ms);
    CHECK(relay->counts().connections == 1);
    const timeval patience{20, 0};
    REQUIRE(::setsockopt(answering.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    caller.send("still here");
    caller.end();
    CHECK(answering.rest() == "still here");
}

TEST_CASE("the messages of a transfer count by its purpose; the sockets carry them and little more") {
    const test::TemporaryFolder folder;
    const auto open = [&](const char* name) {
        return BlobStore::open({.folder = folder / name, .free_bytes_min = 0}).value();
    };
    const auto source = open("source");
    const auto target = open("target");
    const Bytes content(5'000'000, 0x37);
    const BlobId id = source->put(content).value();
    const auto server = serve_blobs(*source, {}).value();
    const auto relay = Relay::start(server->port()).value();
    const TrafficCounts before = traffic_counts();
    const ConnectHolder connect = [](const Endpoint& at) {
        ClientOptions client;
        client.address = at;
        client.traffic = Traffic::kAudit;
        return connect_blobs(client);
    };
    REQUIRE(fetch_blob(*target, id, {relay->address()}, connect).ok());
    const TrafficCounts after = traffic_counts();
    const auto grown = [&](Traffic traffic) {
        return ByteCount{after.of(traffic).sent - before.of(traffic).sent,
                         after.of(traffic).received - before.of(traffic).received,
                         after.of(traffic).messages - before.of(traffic).messages};
    };
    const ByteCount audit = grown(Traffic::kAudit);
    // A question and five leaves; a question and five chunks.
    CHECK(audit.messages == 8);
    CHECK(audit.received > content.size());
    CHECK(audit.received < content.size() + 300);
    CHECK(audit.sent < 100);
    for (const Traffic other : {Traffic::kLedger, Traffic::kData, Traffic::kBase, Traffic::kUpdate}) {
        CHECK(grown(other) == ByteCount{});
    }
    server->stop();
    const std::uint64_t counted = audit.sent + audit.received;
    // gRPC puts 5 bytes before a message, HTTP/2 at least 9 before a frame of it, of 16 KiB at most by
    // default.
    CHECK(all(relay->counts()) >= counted + 14 * audit.messages);
    CHECK(all(relay->counts()) < counted + counted / 100 + 4096);
}

TEST_CASE("counts are read back as they were written, and nothing else is") {
    TrafficCounts counts;
    for (std::size_t i = 0; i < counts.by_kind.size(); ++i) counts.by_kind[i] = {10 * i, 10 * i + 1, i};
    const std::string text = to_text(counts);
    REQUIRE(parse_traffic(text));
    CHECK(*parse_traffic(text) == counts);
    CHECK(text.starts_with("ledger 0 1 0\ndata 10 11 1\n"));
    for (std::size_t cut = 0; cut < text.size(); ++cut) CHECK_FALSE(parse_traffic(text.substr(0, cut)));
    CHECK_FALSE(parse_traffic(text + "\n"));
    std::string zeros = text;
    zeros.insert(zeros.find(' ') + 1, "0");
    CHECK_FALSE(parse_traffic(zeros));
    TrafficCounts sum = counts;
    sum += counts;
    CHECK(sum.of(Traffic::kData).received == 22);
}

}  // namespace assay::node
