// SPDX-License-Identifier: Apache-2.0
// What a ledger node that lies can have its callers read and keep: no more than an honest one.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "assay.grpc.pb.h"
#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

/// Answers scans and blocks with whatever it is told to.
class ToldLedger final : public LedgerService {
public:
    Outcome<SubmitReply> submit(ByteView) override { return nothing(); }
    Outcome<StateValue> get(ByteView) override { return nothing(); }
    Outcome<StatePage> scan(const ScanRequest& request) override {
        ++pages;
        return page_for(request);
    }
    Outcome<Bytes> block(std::uint64_t) override { return encoded; }
    Outcome<LedgerStatus> status() override { return LedgerStatus{"lying", 1, {}, {}, "0"}; }
    Outcome<void> subscribe(std::uint64_t, std::stop_token, const BlockHandler&) override { return {}; }

    std::function<StatePage(const ScanRequest&)> page_for;
    Bytes encoded;
    std::size_t pages = 0;

private:
    static base::Failed<base::Error> nothing() { return base::fail(ErrorKind::kNotFound, "not asked for"); }
};

/// The key of a number under the prefix "k": ascending.
Bytes key_of_number(std::uint64_t number) {
    Bytes key{'k'};
    for (unsigned shift = 64; shift > 0; shift -= 8)
        key.push_back(static_cast<std::uint8_t>(number >> (shift - 8)));
    return key;
}

/// A page of one entry with a value of `bytes`, and another page after it.
std::function<StatePage(const ScanRequest&)> endless_pages(std::size_t bytes) {
    return [bytes, next = std::uint64_t{0}](const ScanRequest&) mutable {
        StatePage page{.height = 1, .state_root = {}, .entries = {}, .next = std::nullopt};
        page.entries.emplace_back(key_of_number(next++), Bytes(bytes));
        page.next = key_of_number(next);
        return page;
    };
}

/// What scan_all says of a ledger that gives `page`, and how many pages it asked for.
std::pair<std::string, std::size_t> lie(std::function<StatePage(const ScanRequest&)> page) {
    ToldLedger ledger;
    ledger.page_for = std::move(page);
    const auto read = scan_all(ledger, Bytes{'k'});
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind == ErrorKind::kVerification);
    CHECK_FALSE(read.error().fix.empty());
    return {read.error().what, ledger.pages};
}

/// A node of the wire alone: sends one part after the other while they are taken.
class LyingParts final : public v1::Ledger::Service {
public:
    explicit LyingParts(std::function<v1::BlockPart(int)> part) : part_(std::move(part)) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
        REQUIRE(server_ != nullptr);
    }
    ~LyingParts() override { server_->Shutdown(std::chrono::system_clock::now()); }
    grpc::Status Subscribe(grpc::ServerContext*, const v1::SubscribeRequest*,
                           grpc::ServerWriter<v1::BlockPart>* writer) override {
        constexpr int kGivesUp = 100'000;
        for (int sent = 0; sent < kGivesUp && writer->Write(part_(sent)); ++sent) {
        }
        return grpc::Status::OK;
    }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

private:
    std::function<v1::BlockPart(int)> part_;
    int port_ = 0;
    std::unique_ptr<grpc::Server> server_;
};

v1::BlockPart part_of(std::uint64_t height, const std::string& header, std::size_t events,
                      bool last = false) {
    v1::BlockPart part;
    part.set_height(height);
    part.set_header(header);
    part.set_events(std::string(events, 'e'));
    part.set_last(last);
    return part;
}

/// What a subscriber says of a node that sends these parts, after how many blocks.
std::pair<std::string, int> lie_in_parts(std::function<v1::BlockPart(int)> part) {
    const LyingParts node(std::move(part));
    const auto client = connect_ledger({.address = node.address()}).value();
    int blocks = 0;
    const auto ended = client->subscribe(1, {}, [&](const BlockNotice&) { return ++blocks < 100; });
    REQUIRE_FALSE(ended.ok());
    CHECK(ended.error().kind == ErrorKind::kVerification);
    return {ended.error().what, blocks};
}

}  // namespace

TEST_CASE("a range without an end is given up after so many pages, and after so many bytes") {
    const auto [pages, asked] = lie(endless_pages(1));
    CHECK(pages.find("pages of one range") != std::string::npos);
    CHECK(asked == kScanAllPagesMax + 1);
    constexpr std::size_t kPage = std::size_t{8} << 20;
    const auto [bytes, asked_for_bytes] = lie(endless_pages(kPage));
    CHECK(bytes.find("256 MiB") != std::string::npos);
    CHECK(asked_for_bytes == kScanAllBytesMax / kPage);
}

TEST_CASE("a state that is another on every second page is given up by pages too, however it goes on") {
    std::uint64_t asked = 0;
    auto honest = endless_pages(1);
    const auto [why, pages] = lie([&](const ScanRequest& request) {
        StatePage page = honest(request);
        page.state_root.bytes[0] = static_cast<std::uint8_t>(++asked / 400);
        return page;
    });
    CHECK(pages <= kScanAllPagesMax + 1);
}

TEST_CASE("an empty page, a page that leads back and keys that were not asked for end a range at once") {
    const StatePage empty{.height = 1, .state_root = {}, .entries = {}, .next = key_of_number(9)};
    CHECK(lie([&](const ScanRequest&) { return empty; }).second == 1);
    StatePage back = empty;
    back.entries.emplace_back(key_of_number(9), Bytes{});
    CHECK(lie([&](const ScanRequest&) { return back; }).second == 1);
    back.next = Bytes{'l'};  // behind the prefix
    CHECK(lie([&](const ScanRequest&) { return back; }).second == 1);
    StatePage strange{.height = 1, .state_root = {}, .entries = {{Bytes{'x'}, {}}}, .next = std::nullopt};
    CHECK(lie([&](const ScanRequest&) { return strange; }).second == 1);
    strange.entries = {{key_of_number(2), {}}, {key_of_number(2), {}}};
    CHECK(lie([&](const ScanRequest&) { return strange; }).second == 1);
}

TEST_CASE("a block is taken up to the most that a log keeps, and no longer") {
    ToldLedger ledger;
    const auto server = serve_ledger(ledger, {}).value();
    const auto client = connect_ledger({.address = server->address()}).value();
    ledger.encoded = Bytes(kBlockBytesMax, 7);
    CHECK(client->block(1)->size() == kBlockBytesMax);
    ledger.encoded.push_back(7);
    const auto refused = client->block(1);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::kVerification);
    CHECK(refused.error().what.find("16 MiB") != std::string::npos);
}

TEST_CASE("a block whose parts say nothing, begin again or belong to another ends the subscription") {
    const auto honest_first = [](int sent) { return part_of(1, "h", 5, sent == 0); };
    const auto empty = lie_in_parts([&](int sent) {
        return sent == 0 ? honest_first(0) : part_of(2, sent == 1 ? "h" : "", sent == 1 ? 5 : 0);
    });
    CHECK(empty.first.find("nothing in it") != std::string::npos);
    CHECK(empty.second == 1);
    CHECK(lie_in_parts([](int) { return part_of(1, "h", 0); }).second == 0);
    const auto again = lie_in_parts([](int) { return part_of(1, "h", 5); });
    CHECK(again.first.find("one header") != std::string::npos);
    CHECK(lie_in_parts([](int) { return part_of(1, "", 5, true); }).first.find("one header") !=
          std::string::npos);
    CHECK(lie_in_parts([](int) { return part_of(2, "h", 5, true); }).first.find("a gap") !=
          std::string::npos);
    const auto long_one = lie_in_parts([](int sent) { return part_of(1, sent == 0 ? "h" : "", 1U << 20U); });
    CHECK(long_one.first.find("64 MiB") != std::string::npos);
}

TEST_CASE("blocks whose parts are in order come whole, a block without events among them") {
    const LyingParts node([](int sent) {
        const auto block = static_cast<std::uint64_t>(sent / 2) + 1;
        if (sent % 2 == 0) return part_of(block, "h", 3);
        return part_of(block, "", block % 2 == 0 ? 0 : 4, true);
    });
    const auto client = connect_ledger({.address = node.address()}).value();
    std::uint64_t blocks = 0;
    const auto ended = client->subscribe(1, {}, [&](const BlockNotice& block) {
        CHECK(block.events.size() == (block.height % 2 == 0 ? 3 : 7));
        return ++blocks < 6;
    });
    CHECK(ended.ok());
    CHECK(blocks == 6);
}

}  // namespace assay::node
