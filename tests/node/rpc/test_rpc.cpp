// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "contracts/base/blob_id.hpp"
#include "node/blob/fetch.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/description.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/rpc/raw_http2.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

// A ledger of made-up blocks: block h has the header "h" and 700 KiB of events, so that it takes two
// messages.
class FakeLedger : public LedgerService {
public:
    Outcome<SubmitReply> submit(ByteView transaction) override {
        if (transaction.empty()) return SubmitReply{false, 7, "kEmpty", 0, {}};
        return SubmitReply{true, 0, {}, 12, base::to_bytes(transaction)};
    }
    Outcome<StateValue> get(ByteView key) override {
        StateValue value{3, {}, std::nullopt, Bytes{7, 8}};
        if (!key.empty()) value.value = Bytes{};
        return value;
    }
    Outcome<StatePage> scan(const ScanRequest& request) override {
        StatePage page{3, {}, {}, std::nullopt};
        for (std::uint8_t i = request.from.empty() ? 0 : request.from[1]; i < 5; ++i) {
            if (page.entries.size() == 2) {
                page.next = Bytes{'k', i};
                break;
            }
            page.entries.emplace_back(Bytes{'k', i}, Bytes{i});
        }
        return page;
    }
    Outcome<Bytes> block(std::uint64_t height) override {
        if (height > 3) return base::fail(ErrorKind::kNotFound, "no such block", "wait");
        return Bytes(2'000'000, static_cast<std::uint8_t>(height));
    }
    Outcome<LedgerStatus> status() override { return LedgerStatus{chain_id, 3, {}, {}, "0.1"}; }
    std::string chain_id = "test";
    Outcome<void> subscribe(std::uint64_t from, std::stop_token stop, const BlockHandler& handler) override {
        for (std::uint64_t h = from; h <= 3; ++h) {
            if (!handler({h, Bytes{1}, Bytes(700 * 1024, 5)})) return {};
        }
        while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return {};
    }
};

ClientOptions client_of(const RpcServer& server) {
    return {.address = server.address(), .deadline = std::chrono::seconds(5)};
}

TEST_CASE("what a ledger service answers arrives unchanged through gRPC") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    REQUIRE(server->port() != 0);
    const auto client = connect_ledger(client_of(*server)).value();
    const Bytes transaction{1, 2, 3};
    const auto accepted = client->submit(transaction).value();
    REQUIRE((accepted.accepted && accepted.height == 12 && accepted.receipt == transaction));
    const auto refused = client->submit({}).value();
    REQUIRE((!refused.accepted && refused.reason == 7 && refused.reason_text == "kEmpty"));
    REQUIRE_FALSE(client->get({})->value.has_value());
    REQUIRE(client->get(transaction)->value == Bytes{});  // empty is not absent
    REQUIRE(client->get(transaction)->proof == Bytes{7, 8});
    REQUIRE(scan_all(*client, Bytes{'k'})->entries.size() == 5);
    REQUIRE(client->block(2).value() == Bytes(2'000'000, 2));
    const auto missing = client->block(9);
    REQUIRE(missing.error().kind == ErrorKind::kNotFound);
    REQUIRE((missing.error().what == "no such block" && missing.error().fix == "wait"));
    REQUIRE(client->status()->chain_id == "test");
    REQUIRE(check_health(client_of(*server)).ok());
}

TEST_CASE("a subscription gives every block in order, and its end is noticed by the server") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    const auto client = connect_ledger(client_of(*server)).value();
    std::stop_source stop;
    std::uint64_t next = 1;
    const auto ended = client->subscribe(0, stop.get_token(), [&](const BlockNotice& block) {
        REQUIRE(block.height == next++);
        REQUIRE(block.events.size() == 700 * 1024);
        if (next == 4) stop.request_stop();
        return true;
    });
    REQUIRE(ended.ok());
    REQUIRE(next == 4);
    // A subscription that ended makes room for another: many times as many as one caller may hold.
    const auto again = [&] {
        return client->subscribe(1, {}, [](const BlockNotice&) { return false; }).ok();
    };
    for (int i = 0; i < 8 * ServerLimits{}.subscriptions.per_caller; ++i) {
        bool admitted = again();
        for (int wait = 0; wait < 400 && !admitted; ++wait) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            admitted = again();
        }
        REQUIRE(admitted);
    }
}

TEST_CASE("one caller holds as many subscriptions as it may, and the next is told so") {
    FakeLedger ledger;
    const int most = 3;
    const auto server =
        serve_ledger(ledger,
                     {.limits = {.subscriptions = {.total = 9, .per_address = 9, .per_caller = most}}})
            .value();
    const auto client = connect_ledger(client_of(*server)).value();
    std::atomic<int> admitted = 0;
    std::vector<std::jthread> readers;
    for (int i = 0; i < most; ++i) {
        readers.emplace_back([&](const std::stop_token& stop) {
            (void)client->subscribe(3, stop, [&](const BlockNotice&) {
                ++admitted;
                return true;
            });
        });
    }
    for (int i = 0; i < 500 && admitted < most; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(admitted == most);
    const auto refused = client->subscribe(3, {}, [](const BlockNotice&) { return true; });
    REQUIRE(refused.error().kind == ErrorKind::kUnreachable);
    REQUIRE(refused.error().what.find("too many calls") != std::string::npos);
    // Subscriptions take no room from blocks and answers.
    REQUIRE(client->block(2).ok());
    REQUIRE(client->status().ok());
}

TEST_CASE("a call that a busy node refuses is made again, and comes through once there is room") {
    /// Answers the server's own question, which it asks as it starts, and the next one only when told to.
    class SlowLedger final : public FakeLedger {
    public:
        Outcome<LedgerStatus> status() override {
            if (asked++ == 1) released.wait(false);
            return FakeLedger::status();
        }
        void release() {
            released = true;
            released.notify_all();
        }
        [[nodiscard]] bool is_released() const { return released; }
        [[nodiscard]] bool hears(int questions) const {
            for (int i = 0; i < 500 && asked < questions; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            return asked == questions;
        }

    private:
        std::atomic<int> asked = 0;
        std::atomic<bool> released = false;
    } ledger;
    const auto server =
        serve_ledger(ledger, {.limits = {.answers = {.total = 9, .per_address = 9, .per_caller = 1}}});
    REQUIRE(server.ok());
    REQUIRE(ledger.hears(1));
    const auto client = connect_ledger(client_of(**server)).value();
    bool first_is_answered = false;
    std::jthread first([&] { first_is_answered = client->status().ok(); });
    // `first` and the server can end, also when a requirement below fails.
    struct Release {
        SlowLedger& ledger;
        ~Release() { ledger.release(); }
    } const release{ledger};
    REQUIRE(ledger.hears(2));
    std::jthread frees([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        ledger.release();
    });
    const auto second = client->get(Bytes{1});
    const bool waited = ledger.is_released();
    first.join();
    INFO((second.ok() ? std::string() : second.error().what));
    CHECK(second.ok());
    CHECK(waited);  // there was no room before
    CHECK(first_is_answered);
}

TEST_CASE("a subscriber that takes nothing is cut off, and one that waits for blocks is not") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {.limits = {.stall = std::chrono::milliseconds(300)}}).value();
    test::RawHttp2 slow(server->address());
    slow.ask("/assay.v1.Ledger/Subscribe", base::Bytes{0x08, 1});  // blocks that it does not read
    test::RawHttp2 idle(server->address());
    idle.ask("/assay.v1.Ledger/Subscribe", base::Bytes{0x08, 9});  // no block yet
    for (int i = 0; i < 100 && slow.ended() == 0; ++i) slow.listen_for(std::chrono::milliseconds(50));
    REQUIRE(slow.ended() > 0);
    REQUIRE(idle.listen_for(std::chrono::milliseconds(1'000)));
    REQUIRE(idle.ended() == 0);
}

TEST_CASE("a stopping server ends its subscriptions") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    const auto client = connect_ledger(client_of(*server)).value();
    Outcome<void> ended;
    std::thread reader([&] { ended = client->subscribe(4, {}, [](const BlockNotice&) { return true; }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto start = std::chrono::steady_clock::now();
    server->stop();
    REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));  // they last for hours
    reader.join();
    REQUIRE(ended.error().kind == ErrorKind::kUnreachable);
}

TEST_CASE("nobody listening is unreachable, with the address in the message") {
    FakeLedger ledger;
    auto server = serve_ledger(ledger, {}).value();
    const auto options = client_of(*server);
    server.reset();
    const auto answer = connect_ledger(options).value()->status();
    REQUIRE(answer.error().kind == ErrorKind::kUnreachable);
    REQUIRE(answer.error().what.find(options.address) != std::string::npos);
    REQUIRE_FALSE(answer.error().fix.empty());
}

TEST_CASE("a taken port, a public address without TLS and nonsense are refused with a fix") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    const auto taken = serve_ledger(ledger, {.listen = server->address()});
    REQUIRE(taken.error().what.find("taken") != std::string::npos);
    for (const char* address : {"0.0.0.0:0", "192.0.2.1:80", "[::]:0", "example.org:1", "127.0.0.1",
                                "127.0.0.1:x", "127.0.0.1:70000", ":1", "a b:1", "[zz]:1"}) {
        INFO(address);
        const auto refused = serve_ledger(ledger, {.listen = address});
        REQUIRE(refused.error().kind == ErrorKind::kUsage);
        REQUIRE_FALSE(refused.error().fix.empty());
        REQUIRE(connect_ledger({.address = address}).error().kind == ErrorKind::kUsage);
    }
}

TEST_CASE("a message above the limit is refused and the server goes on") {
    FakeLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    const auto client = connect_ledger(client_of(*server)).value();
    REQUIRE_FALSE(client->submit(Bytes(3 << 20)).ok());
    REQUIRE(client->submit(Bytes(900 << 10)).ok());
}

TEST_CASE("two nodes exchange a blob; a peer with a damaged chunk is passed over") {
    const test::TemporaryFolder folder;
    const auto open = [&](const char* name) {
        return BlobStore::open({.folder = folder / name, .free_bytes_min = 0}).value();
    };
    // Lies after its own check: the store itself would refuse to serve a damaged chunk.
    struct Liar final : BlobService {
        explicit Liar(BlobService& service) : truth(service) {}
        FetchOutcome<BlobDescription> describe(const BlobId& id) override { return truth.describe(id); }
        FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
            return truth.fetch(id, first, [&](std::uint64_t index, ByteView chunk) {
                Bytes copy = base::to_bytes(chunk);
                if (index == 3) copy.back() ^= 0x80;
                return handler(index, copy);
            });
        }
        BlobService& truth;
    };
    const auto source = open("source");
    const auto target = open("target");
    const Bytes content(5 << 20, 0x37);
    const BlobId id = source->put(content).value();
    Liar liar(*source);
    const auto lying = serve_blobs(liar, {}).value();
    const auto honest = serve_blobs(*source, {}).value();
    std::vector<HolderReport> reports;
    const auto fetched = fetch_blob(
        *target, id, {lying->address(), honest->address()},
        [](const Endpoint& at) { return connect_blobs({.address = at}); }, {}, &reports);
    REQUIRE(fetched.ok());
    REQUIRE(target->read(id).value() == content);
    REQUIRE(reports.size() == 2);
    REQUIRE(reports[0].chunks == 3);
    REQUIRE(reports[0].failure->kind == ErrorKind::kVerification);
    REQUIRE(reports[1].chunks == 2);
    base::Hash256 unknown;
    REQUIRE(connect_blobs({.address = honest->address()}).value()->describe(unknown).error().kind ==
            ErrorKind::kNotFound);
}

TEST_CASE("an unfinished download that is shown is described and given as far as it goes, and no further") {
    const test::TemporaryFolder folder;
    const auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    const auto halfway = BlobStore::open({.folder = folder / "halfway", .free_bytes_min = 0}).value();
    const std::size_t chunks = 11;
    Bytes content(chunks * kChunkBytes - 1);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i / kChunkBytes);
    const BlobId id = source->put(content).value();
    const auto all = source->describe(id).value();
    CHECK(all.held.empty());
    const auto partial = halfway->begin(id, all, Pin::kPinned, Showing::kShown).value();
    for (const std::uint64_t index : {1U, 2U, 9U}) {
        REQUIRE(partial->add(index, ByteView(content).subspan(index * kChunkBytes, kChunkBytes)).ok());
    }
    const auto server = serve_blobs(*halfway, {}).value();
    const auto client = connect_blobs({.address = server->address()}).value();
    const auto described = client->describe(id).value();
    CHECK(described.leaves == all.leaves);
    CHECK(described.held == halfway->describe(id).value().held);
    REQUIRE(described.held.size() == chunks);
    CHECK(std::count(described.held.begin(), described.held.end(), true) == 3);
    std::vector<std::uint64_t> given;
    const ChunkHandler note = [&](std::uint64_t index, ByteView chunk) {
        CHECK(base::blob_chunk_hash(chunk) == all.leaves.at(index));
        given.push_back(index);
        return true;
    };
    CHECK(client->fetch(id, 1, note).error().kind == ErrorKind::kNotFound);  // where it ends
    CHECK(given == std::vector<std::uint64_t>{1, 2});
    CHECK(client->fetch(id, 3, note).error().kind == ErrorKind::kNotFound);
    CHECK(given.size() == 2);
}

TEST_CASE("a list of chunks is as long as the blob, and has no bit behind its end") {
    for (std::size_t chunks = 1; chunks < 20; ++chunks) {
        BlobDescription description;
        description.leaves.resize(chunks);
        for (std::size_t i = 0; i < chunks; ++i) description.held.push_back(i % 3 == 1);
        v1::DescribeResponse message;
        write_description(description, message);
        CHECK(read_held(message.held(), chunks) == description.held);
        CHECK_FALSE(read_held(message.held() + '\0', chunks).has_value());
        CHECK_FALSE(read_held(message.held(), chunks + 8).has_value());
        if (chunks % 8 == 0) continue;
        std::string behind = message.held();
        behind.back() = static_cast<char>(behind.back() | 0x80);
        CHECK_FALSE(read_held(behind, chunks).has_value());
    }
    CHECK(read_held("", 5)->empty());
}

TEST_CASE("a holder that stalls in the middle is given up in time") {
    struct Staller final : BlobService {
        FetchOutcome<BlobDescription> describe(const BlobId&) override { return BlobDescription{}; }
        FetchEnd fetch(const BlobId&, std::uint64_t, const ChunkHandler& handler) override {
            handler(0, Bytes(10));
            std::this_thread::sleep_for(std::chrono::milliseconds(1500));
            return {};
        }
    };
    Staller staller;
    const auto server = serve_blobs(staller, {}).value();
    const auto client =
        connect_blobs({.address = server->address(), .stall_timeout = std::chrono::milliseconds(300)})
            .value();
    const auto answer = client->fetch({}, 0, [](std::uint64_t, ByteView) { return true; });
    REQUIRE(answer.error().kind == ErrorKind::kUnreachable);
    REQUIRE(answer.error().what.find("sent nothing") != std::string::npos);
}

TEST_CASE("a holder without room for another call is busy, which is not the same as not serving") {
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "store", .free_bytes_min = 0}).value();
    const BlobId id = store->put(Bytes(100, 1)).value();
    ServerOptions full;
    full.limits.answers.total = 0;
    const auto server = serve_blobs(*store, full).value();
    const auto answer = connect_blobs({.address = server->address()}).value()->describe(id);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().fault == FetchFault::kBusy);
    ServerOptions no_transfers;
    no_transfers.limits.transfers.total = 0;
    const auto other = serve_blobs(*store, no_transfers).value();
    const auto client = connect_blobs({.address = other->address()}).value();
    REQUIRE(client->describe(id).ok());
    const auto given = client->fetch(id, 0, [](std::uint64_t, ByteView) { return true; });
    REQUIRE_FALSE(given.ok());
    CHECK(given.error().fault == FetchFault::kBusy);
    base::Hash256 unknown;
    CHECK(client->describe(unknown).error().fault == FetchFault::kNotServed);
}

TEST_CASE("a machine without a free file descriptor accuses nobody of not serving") {
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "store", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {}).value();
    // The library's own descriptors are there before the last one is taken.
    REQUIRE_FALSE(connect_blobs({.address = server->address()}).value()->describe({}).ok());
    const auto client = connect_blobs({.address = "127.0.0.1:1"}).value();
    REQUIRE(client->describe({}).error().fault == FetchFault::kNotServed);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(lowest_free >= 0);
    close(lowest_free);
    const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto answer = connect_blobs({.address = "127.0.0.2:1"}).value()->describe({});
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().fault == FetchFault::kOwnMachine);
}

/// Lines written to standard error while `act` runs.
template <class Act>
std::string standard_error_of(const std::filesystem::path& file, Act act) {
    const int before = ::dup(STDERR_FILENO);
    const int kept = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    REQUIRE(before >= 0);
    REQUIRE(kept >= 0);
    REQUIRE(::dup2(kept, STDERR_FILENO) >= 0);
    act();
    REQUIRE(::dup2(before, STDERR_FILENO) >= 0);
    ::close(before);
    ::close(kept);
    std::ifstream written(file);
    return {std::istreambuf_iterator<char>(written), {}};
}

TEST_CASE("a peer's text that is not UTF-8 is an error of the call, and nothing is written beside our log") {
    FakeLedger ledger;
    ledger.chain_id = "\xff\xfe no text";
    const auto server = serve_ledger(ledger, {}).value();
    const auto client = connect_ledger(client_of(*server)).value();
    const test::TemporaryFolder folder;
    Outcome<LedgerStatus> told = base::fail(ErrorKind::kUsage, "not asked");
    const std::string written = standard_error_of(folder / "stderr", [&] { told = client->status(); });
    REQUIRE_FALSE(told.ok());
    REQUIRE(written.empty());
}

}  // namespace
}  // namespace assay::node
