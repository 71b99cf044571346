// SPDX-License-Identifier: Apache-2.0
// What a stranger on the network can do to a listener, against a server in a process of its own, so that its
// memory and its end can be seen. Each case is a fault that gRPC 1.51 shows with its default settings.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "node/rpc/client.hpp"
#include "node/rpc/self_probe.hpp"
#include "node/runtime/process.hpp"
#include "tests/node/rpc/raw_http2.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;
using test::FloodEnd;
using test::FloodResult;
using test::RawHttp2;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1ULL << 20U;
// The address sanitizer keeps what was freed for a while, and pads the rest.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kCeiling = 6;
#else
constexpr std::uint64_t kCeiling = 1;
#endif
constexpr const char* kSubscribe = "/assay.v1.Ledger/Subscribe";
constexpr const char* kFetch = "/assay.v1.Blobs/Fetch";
constexpr const char* kDescribe = "/assay.v1.Blobs/Describe";

// The server program, running until this goes.
class Server {
public:
    explicit Server(std::uint64_t open_files = 0) : open_files_(open_files) { start(); }

    void start() {
        process_.reset();
        std::filesystem::remove(folder_ / "ready");
        const std::string bin = std::getenv("ASSAY_BIN_DIR") == nullptr ? "" : std::getenv("ASSAY_BIN_DIR");
        ProcessOptions options;
        options.program = bin + "/rpc_server_child";
        options.arguments = {folder_.path().string(), std::to_string(open_files_)};
        options.stderr_file = folder_ / "log";
        process_ = Process::spawn(options).value();
        for (int i = 0; i < 500 && !std::filesystem::exists(folder_ / "ready"); ++i) {
            REQUIRE_FALSE(process_->poll().has_value());
            std::this_thread::sleep_for(10ms);
        }
        std::ifstream(folder_ / "ready") >> ledger >> blobs;
        REQUIRE(wait_until_healthy({.address = ledger}, 5s).ok());
    }

    Process& process() { return *process_; }

    [[nodiscard]] bool answers(std::chrono::milliseconds within = 10s) const {
        return check_health({.address = ledger, .deadline = within}).ok();
    }

    [[nodiscard]] std::string log() const {
        std::ifstream file(folder_ / "log");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    // Of /proc/PID/status, in bytes: "VmRSS:" now, "VmHWM:" the highest so far.
    [[nodiscard]] std::uint64_t memory(const std::string& key) const {
        std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
        std::string word;
        std::uint64_t kib = 0;
        while (status >> word) {
            if (word == key) status >> kib;
        }
        REQUIRE(kib > 0);
        return kib * 1024;
    }

    std::string ledger, blobs;

private:
    test::TemporaryFolder folder_;
    std::uint64_t open_files_;
    std::optional<Process> process_;
};

// Opens `count` connections at once, then closes them all. Connecting does not block: the server may be
// unable to accept.
void connect_and_close(const std::string& address, int count) {
    REQUIRE(raise_file_limit() > static_cast<std::uint64_t>(count) + 50);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<int> sockets;
    for (int i = 0; i < count; ++i) {
        const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        REQUIRE(one >= 0);
        const int connected = connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        REQUIRE((connected == 0 || errno == EINPROGRESS));
        sockets.push_back(one);
    }
    std::this_thread::sleep_for(500ms);
    for (const int one : sockets) close(one);
}

// A gzip stream of `mebibytes` MiB of zeros: one compressed MiB, flushed to a byte border, over and over.
base::Bytes gzip_bomb(std::uint64_t mebibytes) {
    const base::Bytes zeros(kMiB, 0);
    base::Bytes piece(64 << 10, 0);
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = const_cast<Bytef*>(zeros.data());
    stream.avail_in = static_cast<uInt>(zeros.size());
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    REQUIRE(deflate(&stream, Z_FULL_FLUSH) == Z_OK);
    piece.erase(piece.end() - stream.avail_out, piece.end());
    REQUIRE(deflateEnd(&stream) == Z_DATA_ERROR);  // as it must for a stream without an end

    base::Bytes bomb{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
    const uLong one = crc32(0, zeros.data(), static_cast<uInt>(zeros.size()));
    uLong sum = crc32(0, nullptr, 0);
    for (std::uint64_t i = 0; i < mebibytes; ++i) {
        bomb.insert(bomb.end(), piece.begin(), piece.end());
        sum = crc32_combine(sum, one, static_cast<z_off_t>(kMiB));
    }
    bomb.insert(bomb.end(), {3, 0});  // an empty final block
    for (const std::uint64_t value : {std::uint64_t{sum}, mebibytes * kMiB}) {
        for (int shift = 0; shift < 32; shift += 8) bomb.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return bomb;
}

// One stream to the blob port that declares half a gigabyte and sends it.
FloodResult oversize_flood(const std::string& address, std::chrono::milliseconds patience) {
    RawHttp2 raw(address);
    raw.open_stream(kDescribe);
    const base::Bytes head = RawHttp2::message_head(false, 512U << 20U);
    raw.flood(head, head.size(), 2s);
    const base::Bytes body(64 << 10, 0x41);
    return raw.flood(body, 512 * kMiB, patience);
}

// protobuf: field 1 as a number, or as bytes.
base::Bytes from_height(std::uint8_t height) { return {0x08, height}; }
base::Bytes varint_height(std::uint64_t height) {
    base::Bytes message{0x08};
    for (; height >= 0x80; height >>= 7U) message.push_back(static_cast<std::uint8_t>(height | 0x80U));
    message.push_back(static_cast<std::uint8_t>(height));
    return message;
}
base::Bytes blob_id() {
    base::Bytes message{0x0A, 32};
    message.resize(34, 0x33);
    return message;
}

using Connections = std::vector<std::unique_ptr<RawHttp2>>;

// `connections` connections from an address, each with as many calls as HTTP/2 lets it have, none of which
// reads on. They last as long as what is returned.
Connections hold(const std::string& server, const std::string& from, int connections, const std::string& path,
                 base::ByteView body, std::uint32_t window = 65'535) {
    Connections held;
    for (int i = 0; i < connections; ++i) {
        held.push_back(std::make_unique<RawHttp2>(server, from, window));
        for (int call = 0; call < 32; ++call) held.back()->ask(path, body);
        held.back()->listen_for(50ms);
    }
    return held;
}

// What a role does all day: it follows every block from the first on, reads each, and submits.
void require_service(const Server& server) {
    const auto ledger = connect_ledger({.address = server.ledger, .deadline = 5s}).value();
    std::stop_source stop;
    std::uint64_t followed = 0;
    std::uint64_t wanted = 0;
    {
        const auto first = ledger->submit(base::Bytes{1});
        if (!first) UNSCOPED_INFO(first.error().what << "; " << server.log());
        REQUIRE(first.ok());
        wanted = first->height + 10;
    }
    base::Outcome<void> ended;
    std::thread follower([&] {
        ended = ledger->subscribe(1, stop.get_token(), [&](const BlockNotice& block) {
            if (!ledger->block(block.height).ok()) return false;
            followed = block.height;
            return followed < wanted;
        });
    });
    std::vector<SubmitReply> replies;
    for (int i = 0; i < 10; ++i) {
        if (const auto reply = ledger->submit(base::Bytes{1})) replies.push_back(*reply);
    }
    std::jthread alarm([&](const std::stop_token& over) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        if (!wake.wait_for(lock, over, 20s, [&] { return over.stop_requested(); })) stop.request_stop();
    });
    follower.join();
    alarm.request_stop();
    if (!ended) UNSCOPED_INFO("the subscription ended: " << ended.error().what);
    REQUIRE(replies.size() == 10);
    REQUIRE(followed == wanted);
    REQUIRE(ledger->status().ok());
}

void require_blob(const Server& server) {
    const auto blobs = connect_blobs({.address = server.blobs}).value();
    std::uint64_t chunks = 0;
    const auto ended = blobs->fetch({}, 0, [&](std::uint64_t, base::ByteView chunk) {
        if (chunk.size() == kMiB) ++chunks;
        return true;
    });
    if (!ended) UNSCOPED_INFO("the transfer ended: " << ended.error().what);
    REQUIRE(chunks == 16);
}

}  // namespace

TEST_CASE("the hand-written client is served like any other while it behaves") {
    Server server;
    RawHttp2 raw(server.blobs);
    raw.open_stream(kDescribe);
    const base::Bytes empty = RawHttp2::message_head(false, 0);
    REQUIRE(raw.flood(empty, empty.size(), 2s).end == FloodEnd::kAllSent);
    REQUIRE(raw.finish(2s));
    REQUIRE(raw.answered());
}

TEST_CASE(
    "F1: after the file descriptors ran out the server serves again, or ends so that a restart serves") {
    Server server(128);
    connect_and_close(server.ledger, 600);
    const auto until = SteadyClock::now() + 5s;
    bool served = false;
    std::optional<ExitStatus> ended;
    while (!served && !ended && SteadyClock::now() < until) {
        ended = server.process().wait(50ms);
        // Three answers in a row over new connections: a server that is about to end does not count.
        served = !ended && server.answers() && server.answers() && server.answers();
    }
    REQUIRE((served || ended));
    if (ended) {
        REQUIRE((ended->code == 1 && ended->signal == 0));
        REQUIRE(server.log().find("no longer answers its own health check") != std::string::npos);
        server.start();
        REQUIRE(server.answers());
    }
}

TEST_CASE("F1 control: few connections leave the same server untouched") {
    Server server(128);
    connect_and_close(server.ledger, 60);
    std::this_thread::sleep_for(1500ms);
    REQUIRE_FALSE(server.process().poll().has_value());
    REQUIRE(server.answers());
}

TEST_CASE("F2: a message that declares 512 MiB is cut off long before it fills the memory") {
    Server server;
    const std::uint64_t before = server.memory("VmRSS:");
    const FloodResult flood = oversize_flood(server.blobs, 8s);
    const std::uint64_t grown = server.memory("VmHWM:") - before;
    INFO("sent " << flood.sent / kMiB << " MiB, grew by " << grown / kMiB << " MiB");
    REQUIRE(flood.end == FloodEnd::kRefused);
    REQUIRE(grown < kCeiling * 150 * kMiB);
    REQUIRE(server.answers());
}

TEST_CASE("F3: floods of the blob port leave the ledger port to honest callers") {
    Server server;
    std::atomic<bool> over = false;
    std::vector<std::thread> attackers;
    for (int i = 0; i < 4; ++i) {
        attackers.emplace_back([&] {
            while (!over) {
                (void)oversize_flood(server.blobs, 1s);
            }
        });
    }
    std::this_thread::sleep_for(500ms);
    int answered = 0;
    for (int i = 0; i < 12; ++i) {
        const auto ledger = connect_ledger({.address = server.ledger, .deadline = 10s}).value();
        if (const auto status = ledger->status()) answered += status->chain_id == "abused" ? 1 : 0;
        std::this_thread::sleep_for(150ms);
    }
    over = true;
    for (std::thread& attacker : attackers) attacker.join();
    INFO("peak memory " << server.memory("VmHWM:") / kMiB << " MiB");
    REQUIRE(answered == 12);
    REQUIRE(server.memory("VmHWM:") < kCeiling * 400 * kMiB);
}

TEST_CASE("F3: a flood of the port that the self-probe asks, longer than its patience, ends no process") {
    Server server;
    std::atomic<bool> over = false;
    std::vector<std::thread> attackers;
    for (int i = 0; i < 6; ++i) {
        attackers.emplace_back([&] {
            while (!over) (void)oversize_flood(server.ledger, 1s);
        });
    }
    // The probe allows two failures, 0.2 s apart, of 0.7 s each.
    int refused = 0;
    for (const auto until = SteadyClock::now() + 8s; SteadyClock::now() < until;) {
        if (!server.answers(700ms)) ++refused;
        std::this_thread::sleep_for(50ms);
    }
    over = true;
    for (std::thread& attacker : attackers) attacker.join();
    INFO("honest probes that were refused: " << refused << "; " << server.log());
    REQUIRE_FALSE(server.process().poll().has_value());
    REQUIRE(server.answers(5s));
}

TEST_CASE("F4: a gzip bomb is refused without being unpacked") {
    const base::Bytes bomb = gzip_bomb(890);
    INFO("on the wire: " << bomb.size() / 1024 << " KiB");
    REQUIRE(bomb.size() < kMiB);
    for (const bool ledger_port : {false, true}) {
        Server server;
        const std::uint64_t before = server.memory("VmRSS:");
        RawHttp2 raw(ledger_port ? server.ledger : server.blobs);
        raw.open_stream(ledger_port ? "/assay.v1.Ledger/Submit" : kDescribe, "gzip");
        const base::Bytes head = RawHttp2::message_head(true, static_cast<std::uint32_t>(bomb.size()));
        raw.flood(head, head.size(), 2s);
        raw.flood(bomb, bomb.size(), 5s);
        REQUIRE(raw.finish(5s));
        const std::uint64_t grown = server.memory("VmHWM:") - before;
        INFO("grew by " << grown / kMiB << " MiB");
        REQUIRE(grown < kCeiling * 64 * kMiB);
        REQUIRE(server.answers());
    }
}

TEST_CASE("a connection that says nothing is closed when its handshake is overdue") {
    Server server;
    RawHttp2 silent(server.blobs);
    const auto start = SteadyClock::now();
    REQUIRE(silent.closed_within(9s));
    REQUIRE(SteadyClock::now() - start > 2s);  // slow but honest clients get their time
    REQUIRE(server.answers());
}

TEST_CASE("noise instead of HTTP/2 ends the connection and nothing else") {
    Server server;
    for (int i = 0; i < 20; ++i) {
        RawHttp2 raw(server.ledger);
        raw.flood(base::Bytes(3000, static_cast<std::uint8_t>(17 * i + 1)), 3000, 1s);
        REQUIRE(raw.closed_within(2s));
    }
    REQUIRE(server.answers());
}

TEST_CASE("two clients with every subscription they can get keep no role from blocks and submissions") {
    Server server;
    const auto idle = hold(server.ledger, "127.0.0.1", 2, kSubscribe, from_height(100));
    require_service(server);
    REQUIRE(idle.front()->listen_for(0ms));
}

TEST_CASE("subscribers that stop reading in the middle of a block keep nobody from blocks") {
    Server server;
    const auto slow = hold(server.ledger, "127.0.0.1", 2, kSubscribe, from_height(1));
    require_service(server);
}

TEST_CASE("forty connections of each of two addresses, full of subscriptions, keep nobody from blocks") {
    Server server;
    auto idle = hold(server.ledger, "127.0.0.2", 40, kSubscribe, from_height(100));
    for (auto& more : hold(server.ledger, "127.0.0.3", 40, kSubscribe, from_height(100))) {
        idle.push_back(std::move(more));
    }
    require_service(server);
}

TEST_CASE("blocks that are asked for and not read keep nobody from blocks and submissions") {
    Server server;
    const auto slow = hold(server.ledger, "127.0.0.2", 6, "/assay.v1.Ledger/GetBlock", from_height(1));
    require_service(server);
}

TEST_CASE(
    "long blocks that are asked for and not read are in memory up to a limit, and keep nobody from theirs") {
    Server server;
    const std::uint64_t before = server.memory("VmRSS:");
    Connections slow;
    std::uint64_t height = 1'000'000;  // blocks of 4 MiB, each another
    for (const char* from : {"127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
        for (int connection = 0; connection < 4; ++connection) {
            slow.push_back(std::make_unique<RawHttp2>(server.ledger, from));
            for (int call = 0; call < 16; ++call)
                slow.back()->ask("/assay.v1.Ledger/GetBlock", varint_height(height++));
            slow.back()->listen_for(50ms);
        }
    }
    require_service(server);
    const std::uint64_t grown = server.memory("VmHWM:") - before;
    INFO("grew by " << grown / kMiB << " MiB for " << slow.size() * 16 << " calls");
    REQUIRE(grown < kCeiling * 250 * kMiB);
}

TEST_CASE("answers that nobody takes hold up no other answer") {
    Server server;
    // The server may send no byte of the answer: one that waited for its client would wait for ever.
    const auto mute = hold(server.ledger, "127.0.0.2", 6, "/assay.v1.Ledger/Status", {}, 0);
    require_service(server);
}

TEST_CASE("a storm of callers that subscribe and hang up keeps nobody from blocks") {
    Server server;
    std::atomic<int> storms = 0;
    std::vector<std::jthread> callers;
    for (const char* from : {"127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3"}) {
        callers.emplace_back([&, from](const std::stop_token& over) {
            while (!over.stop_requested()) {
                RawHttp2 raw(server.ledger, from);
                for (int call = 0; call < 32; ++call) raw.ask(kSubscribe, from_height(100));
                raw.listen_for(20ms);  // long enough to be admitted, or refused
                ++storms;
            }
        });
    }
    while (storms < 50) std::this_thread::sleep_for(5ms);
    UNSCOPED_INFO("storms: " << storms);
    require_service(server);
    callers.clear();
    // Nothing of them is left behind.
    require_service(server);
}

TEST_CASE("two clients with every transfer they can get keep nobody from a blob") {
    Server server;
    const auto slow = hold(server.blobs, "127.0.0.1", 2, kFetch, blob_id());
    require_blob(server);
}

TEST_CASE("forty connections of each of two addresses, full of transfers, keep nobody from a blob") {
    Server server;
    const std::uint64_t before = server.memory("VmRSS:");
    auto slow = hold(server.blobs, "127.0.0.2", 40, kFetch, blob_id());
    for (auto& more : hold(server.blobs, "127.0.0.3", 40, kFetch, blob_id())) slow.push_back(std::move(more));
    require_blob(server);
    const std::uint64_t grown = server.memory("VmHWM:") - before;
    INFO("grew by " << grown / kMiB << " MiB");
    REQUIRE(grown < kCeiling * 500 * kMiB);
}

}  // namespace assay::node
