// SPDX-License-Identifier: Apache-2.0
// Holders that accept no connection are asked over calls that they open: honest ones, strangers, and such
// that answer something else, nothing, or not to the end.
#include <grpcpp/create_channel.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "assay.grpc.pb.h"
#include "node/blob/fetch.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/outward.hpp"
#include "node/rpc/server.hpp"
#include "node/rpc/wire.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using namespace std::chrono_literals;

constexpr const char* kChain = "test-chain";
constexpr std::uint64_t kMiB = 1 << 20;

base::SecretKey key_named(const std::string& name) {
    return base::SecretKey::from_seed(base::hash("test/key", base::as_bytes(name)).view());
}

struct CountingRandom final : Random {
    void fill(std::span<std::uint8_t> out) override {
        for (std::uint8_t& byte : out) byte = ++next;
    }
    std::uint8_t next = 0;
};

struct SaidLog final : Log {
    void write(LogLevel, std::string_view text) override {
        const std::lock_guard lock(mutex);
        all += std::string(text) + "\n";
    }
    bool says(const std::string& words) {
        const std::lock_guard lock(mutex);
        return all.find(words) != std::string::npos;
    }
    std::mutex mutex;
    std::string all;
};

bool comes_true(const std::function<bool()>& what) {
    for (int i = 0; i < 1'000 && !what(); ++i) std::this_thread::sleep_for(10ms);
    return what();
}

Bytes content_of(std::size_t chunks) {
    Bytes content(chunks * kMiB - 100);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i / 1000 + i);
    return content;
}

/// A verifier that takes calls of one miner, whose key is "mia".
struct CalledVerifier {
    explicit CalledVerifier(ServerLimits limits = {})
        : mia(key_named("mia")),
          vera(key_named("vera")),
          here(BlobStore::open({.folder = folder / "here", .free_bytes_min = 0}).value()),
          there(BlobStore::open({.folder = folder / "there", .free_bytes_min = 0}).value()),
          desk(kChain, vera.public_key(), random) {
        limits.receive_bytes = 4 << 20;
        server = serve_blobs(*here, {.limits = limits}, &desk).value();
        desk.admit({mia.public_key()});
    }
    [[nodiscard]] bool open(std::chrono::milliseconds patience = 2s) {
        return desk.holder(mia.public_key(), Traffic::kAudit, patience).ok();
    }
    [[nodiscard]] OutwardPeer peer() const { return {vera.public_key(), server->address()}; }
    FetchEnd fetch(const BlobId& id, std::vector<HolderReport>* reports = nullptr,
                   std::chrono::milliseconds patience = 2s) {
        const ConnectHolder connect = [&](const Endpoint& at) {
            return desk.holder(outward_node(at).value(), Traffic::kAudit, patience);
        };
        return fetch_blob(*here, id, {outward_endpoint(mia.public_key())}, connect, {}, reports);
    }

    test::TemporaryFolder folder;
    base::SecretKey mia, vera;
    CountingRandom random;
    SaidLog log;
    std::unique_ptr<BlobStore> here, there;
    OutwardDesk desk;
    std::unique_ptr<RpcServer> server;
};

/// A holder's call, written by hand: says hello as `speaks` says, then answers as `answers` says.
class ByHand {
public:
    using Answer = std::function<std::optional<v1::LendAnswer>(const v1::LendAsk&)>;
    ByHand(const std::string& address, Answer answers)
        : stub_(v1::Blobs::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
          thread_([this, answers = std::move(answers)] {
              const auto call = stub_->Lend(&context_);
              v1::LendAsk question;
              while (call->Read(&question)) {
                  const auto answer = answers(question);
                  if (answer && !call->Write(*answer)) break;
              }
              status_ = call->Finish();
              over_ = true;
          }) {}
    ~ByHand() { context_.TryCancel(); }
    [[nodiscard]] bool over() const { return over_; }
    /// REQUIRES over().
    [[nodiscard]] std::string said() const { return status_.error_message(); }
    [[nodiscard]] grpc::StatusCode code() const { return status_.error_code(); }

private:
    grpc::ClientContext context_;
    std::unique_ptr<v1::Blobs::Stub> stub_;
    grpc::Status status_;
    std::atomic<bool> over_ = false;
    std::jthread thread_;
};

v1::LendAnswer hello(const base::SecretKey& key, const base::PublicKey& called, const std::string& challenge,
                     std::string_view domain = kOutwardDomain) {
    Bytes message = base::to_bytes(called.view());
    message.insert(message.end(), challenge.begin(), challenge.end());
    v1::LendAnswer answer;
    answer.mutable_hello()->set_node(wire_text(key.public_key().view()));
    answer.mutable_hello()->set_signature(wire_text(key.sign(domain, kChain, message).bytes));
    return answer;
}

v1::LendAnswer description_of(BlobStore& store, const BlobId& id) {
    const auto description = store.describe(id).value();
    v1::LendAnswer answer;
    answer.mutable_description()->set_size(description.size);
    for (const auto& leaf : description.leaves)
        answer.mutable_description()->mutable_leaves()->append(wire_text(leaf.view()));
    return answer;
}

v1::LendAnswer chunk_of(std::uint64_t index, const Bytes& bytes) {
    v1::LendAnswer answer;
    answer.mutable_chunk()->set_index(index);
    answer.mutable_chunk()->set_data(wire_text(bytes));
    return answer;
}

OutwardOptions quick() { return {.chain_id = kChain, .tls = {}, .pause = 20ms, .pause_most = 80ms}; }

}  // namespace

TEST_CASE("a holder that accepts no connection gives its blobs over the call that it opened") {
    CalledVerifier called;
    const Bytes content = content_of(3);
    const BlobId id = called.there->put(content).value();
    const BlobId kept_back = called.there->put(Bytes(100, 7), Serving::kWithheld).value();
    REQUIRE(called.fetch(id).error().what.find("has no call open here") != std::string::npos);
    OutwardLinks links(*called.there, called.mia, called.log, quick());
    links.lend_to({called.peer()});
    REQUIRE(comes_true([&] { return called.open(); }));
    std::vector<HolderReport> reports;
    REQUIRE(called.fetch(id, &reports).ok());
    CHECK(called.here->read(id).value() == content);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].chunks == 3);
    CHECK(called.fetch(base::Hash256()).error().kind == ErrorKind::kNotFound);
    CHECK(called.fetch(kept_back).error().kind == ErrorKind::kNotFound);
    CHECK(called.open());  // a refusal ends no call
    links.lend_to({});
    CHECK(comes_true([&] { return !called.open(); }));
}

TEST_CASE("who is no miner of our jobs is refused by name, and admitted once it is") {
    CalledVerifier called;
    called.desk.admit({});
    OutwardLinks links(*called.there, called.mia, called.log, quick());
    links.lend_to({called.peer()});
    REQUIRE(comes_true([&] { return called.log.says("is a stranger here"); }));
    CHECK_FALSE(called.open());
    called.desk.admit({called.mia.public_key()});
    REQUIRE(comes_true([&] { return called.open(); }));
    called.desk.admit({});
    CHECK(comes_true([&] { return !called.open(); }));
}

TEST_CASE("a call whose challenge is not signed for us by the node is refused") {
    CalledVerifier called;
    const auto refused = [&](const std::function<v1::LendAnswer(const std::string&)>& greeting) {
        ByHand holder(called.server->address(),
                      [&](const v1::LendAsk& question) { return greeting(question.challenge()); });
        REQUIRE(comes_true([&] { return holder.over(); }));
        CHECK_FALSE(called.open());
        return holder.said();
    };
    const base::PublicKey vera = called.vera.public_key();
    const base::SecretKey stranger = key_named("stranger");
    CHECK(refused([&](const std::string& challenge) {
              return hello(stranger, vera, challenge);
          }).find("is a stranger") != std::string::npos);
    const std::string forged = "the signature is not of node";
    // Another's signature under its name, of another challenge, for another verifier, for another purpose.
    CHECK(refused([&](const std::string& challenge) {
              v1::LendAnswer answer = hello(stranger, vera, challenge);
              answer.mutable_hello()->set_node(wire_text(called.mia.public_key().view()));
              return answer;
          }).find(forged) != std::string::npos);
    CHECK(refused([&](const std::string&) {
              return hello(called.mia, vera, std::string(32, 'x'));
          }).find(forged) != std::string::npos);
    CHECK(refused([&](const std::string& challenge) {
              return hello(called.mia, stranger.public_key(), challenge);
          }).find(forged) != std::string::npos);
    CHECK(refused([&](const std::string& challenge) {
              return hello(called.mia, vera, challenge, "assay/tx/v1");
          }).find(forged) != std::string::npos);
    CHECK(refused([&](const std::string&) {
              return chunk_of(0, Bytes(10));
          }).find("begins with its node key") != std::string::npos);
}

TEST_CASE("a node has one call: the newer one is asked, the older one is ended") {
    CalledVerifier called;
    const auto greets = [&](const v1::LendAsk& question) -> std::optional<v1::LendAnswer> {
        if (question.has_challenge())
            return hello(called.mia, called.vera.public_key(), question.challenge());
        return std::nullopt;
    };
    ByHand first(called.server->address(), greets);
    REQUIRE(comes_true([&] { return called.open(); }));
    std::atomic<int> asked = 0;
    ByHand second(called.server->address(), [&](const v1::LendAsk& question) {
        if (question.has_describe()) {
            ++asked;
            v1::LendAnswer answer;
            answer.mutable_refusal()->set_code(grpc::StatusCode::NOT_FOUND);
            return std::optional(answer);
        }
        return greets(question);
    });
    REQUIRE(comes_true([&] { return first.over(); }));
    REQUIRE(called.open());
    CHECK(called.fetch(base::Hash256()).error().kind == ErrorKind::kNotFound);
    CHECK(asked == 1);
    CHECK_FALSE(second.over());
}

TEST_CASE("what was not asked for ends the call, and a chunk of another blob is refused by its hash") {
    CalledVerifier called;
    const Bytes content = content_of(2);
    const BlobId id = called.there->put(content).value();
    const auto fault = [&](const std::function<v1::LendAnswer(const v1::LendAsk&)>& lie) {
        std::optional<ByHand> holder;
        holder.emplace(called.server->address(), [&](const v1::LendAsk& question) {
            if (question.has_challenge())
                return std::optional(hello(called.mia, called.vera.public_key(), question.challenge()));
            return std::optional(lie(question));
        });
        REQUIRE(comes_true([&] { return called.open(); }));
        const FetchEnd ended = called.fetch(id);
        holder.reset();
        REQUIRE(comes_true([&] { return !called.open(); }));
        REQUIRE_FALSE(ended.ok());
        CHECK(ended.error().kind == ErrorKind::kVerification);
        CHECK(ended.error().fault == FetchFault::kNotServed);
        return ended.error().what;
    };
    const Bytes first(content.begin(), content.begin() + kMiB);
    const auto after_description = [&](const v1::LendAnswer& chunk) {
        return [&, chunk](const v1::LendAsk& question) {
            return question.has_describe() ? description_of(*called.there, id) : chunk;
        };
    };
    const std::string unasked = "gave what was not asked for";
    CHECK(fault([&](const v1::LendAsk&) { return chunk_of(0, first); }).find(unasked) != std::string::npos);
    CHECK(fault(after_description(description_of(*called.there, id))).find(unasked) != std::string::npos);
    CHECK(fault(after_description(chunk_of(1, first))).find(unasked) != std::string::npos);
    CHECK(fault(after_description(chunk_of(0, Bytes(kMiB + 1)))).find(unasked) != std::string::npos);
    Bytes flipped = first;
    flipped[7] ^= 1;
    CHECK(fault(after_description(chunk_of(0, flipped))).find("is not the one its hash names") !=
          std::string::npos);
    const BlobId other = called.there->put(Bytes(10, 1)).value();
    CHECK(fault([&](const v1::LendAsk&) {
              return description_of(*called.there, other);
          }).find("by other content") != std::string::npos);
}

TEST_CASE("a holder that answers nothing is given up in time, and its call is ended") {
    CalledVerifier called;
    ByHand silent(called.server->address(),
                  [&](const v1::LendAsk& question) -> std::optional<v1::LendAnswer> {
                      if (!question.has_challenge()) return std::nullopt;
                      return hello(called.mia, called.vera.public_key(), question.challenge());
                  });
    REQUIRE(comes_true([&] { return called.open(); }));
    const FetchEnd ended = called.fetch(base::Hash256(), nullptr, 200ms);
    REQUIRE_FALSE(ended.ok());
    CHECK(ended.error().kind == ErrorKind::kUnreachable);
    CHECK(ended.error().what.find("answered nothing for 200 ms") != std::string::npos);
    REQUIRE(comes_true([&] { return silent.over(); }));
    CHECK(comes_true([&] { return !called.open(); }));
}

TEST_CASE("a holder that dies in the middle comes back and gives the rest alone") {
    CalledVerifier called;
    const Bytes content = content_of(3);
    const BlobId id = called.there->put(content).value();
    // Dies when it is asked for the second chunk.
    auto dying = std::make_unique<ByHand>(
        called.server->address(), [&](const v1::LendAsk& question) -> std::optional<v1::LendAnswer> {
            if (question.has_challenge())
                return hello(called.mia, called.vera.public_key(), question.challenge());
            if (question.has_describe()) return description_of(*called.there, id);
            if (question.chunk().first_chunk() > 0) return v1::LendAnswer();  // says nothing, and is cut
            return chunk_of(0, Bytes(content.begin(), content.begin() + kMiB));
        });
    REQUIRE(comes_true([&] { return called.open(); }));
    std::vector<HolderReport> reports;
    REQUIRE_FALSE(called.fetch(id, &reports).ok());
    CHECK(reports.at(0).chunks == 1);
    dying.reset();
    REQUIRE(comes_true([&] { return !called.open(); }));
    OutwardLinks links(*called.there, called.mia, called.log, quick());
    links.lend_to({called.peer()});
    REQUIRE(comes_true([&] { return called.open(); }));
    reports.clear();
    REQUIRE(called.fetch(id, &reports).ok());
    CHECK(reports.at(0).chunks == 2);
    CHECK(called.here->read(id).value() == content);
}

TEST_CASE("a call is opened again to a verifier that starts again, and neither end hangs") {
    CalledVerifier called;
    const BlobId id = called.there->put(content_of(1)).value();
    OutwardLinks links(*called.there, called.mia, called.log, quick());
    links.lend_to({called.peer()});
    REQUIRE(comes_true([&] { return called.open(); }));
    const std::string address = called.server->address();
    const auto start = std::chrono::steady_clock::now();
    called.server->stop();
    CHECK(std::chrono::steady_clock::now() - start < 20s);
    CHECK_FALSE(called.open());
    called.server.reset();
    called.server =
        serve_blobs(*called.here, {.listen = address, .tls = {}, .limits = {}}, &called.desk).value();
    REQUIRE(comes_true([&] { return called.open(); }));
    CHECK(called.fetch(id).ok());
}

TEST_CASE("waiting calls are bounded, and one that does not greet is ended") {
    ServerLimits limits;
    limits.subscriptions = {.total = 8, .per_address = 2, .per_caller = 2};
    limits.stall = 300ms;
    CalledVerifier called(limits);
    const auto silent = [](const v1::LendAsk&) { return std::optional<v1::LendAnswer>(); };
    ByHand first(called.server->address(), silent);
    ByHand second(called.server->address(), silent);
    ByHand third(called.server->address(), silent);
    const auto count = [&](grpc::StatusCode code) {
        int found = 0;
        for (const ByHand* one : {&first, &second, &third}) found += one->over() && one->code() == code;
        return found;
    };
    REQUIRE(comes_true([&] { return first.over() && second.over() && third.over(); }));
    CHECK(count(grpc::StatusCode::RESOURCE_EXHAUSTED) >= 1);
    CHECK(count(grpc::StatusCode::OK) == 0);
    // Who has greeted waits for questions as long as it likes.
    OutwardLinks links(*called.there, called.mia, called.log, quick());
    links.lend_to({called.peer()});
    REQUIRE(comes_true([&] { return called.open(); }));
    std::this_thread::sleep_for(900ms);
    CHECK(called.open());
}

TEST_CASE("who asks nobody over such calls says so") {
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "store", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {}).value();
    ByHand holder(server->address(), [](const v1::LendAsk&) { return std::optional<v1::LendAnswer>(); });
    REQUIRE(comes_true([&] { return holder.over(); }));
    CHECK(holder.said().find("nobody here asks holders") != std::string::npos);
}

TEST_CASE("one spelling alone is an endpoint of a party that accepts no connection") {
    const base::PublicKey node = key_named("mia").public_key();
    const Endpoint at = outward_endpoint(node);
    CHECK(outward_node(at) == node);
    std::string shout = at;
    for (char& letter : shout) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    for (const std::string& other : {shout, "0" + at, at + "0", at.substr(1), std::string("127.0.0.1:1"),
                                     std::string(".outward.invalid:1"), std::string()}) {
        INFO(other);
        CHECK_FALSE(outward_node(other).has_value());
    }
    CHECK(connect_blobs({.address = at}).error().what.find("accepts no connection") != std::string::npos);
}

}  // namespace assay::node
