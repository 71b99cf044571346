// SPDX-License-Identifier: Apache-2.0
// What an owner's command does when the ledger node takes what it signed and does not say so.
#include <thread>

#include "node/cli/context.hpp"
#include "node/cli/owner_transaction.hpp"
#include "tests/node/cli/served_chain.hpp"
#include "tests/node/cli/silent_node.hpp"

namespace assay::test {
namespace {

using namespace std::chrono_literals;
using base::ByteView;
using node::SubmitReply;

struct Payers {
    Payers() {
        for (const char* name : {"buyer", "other"}) env.person(name);
        chain.emplace(env);
        home.emplace(*chain, env.person("buyer"));
        node.emplace(chain->address());
    }
    /// `assay wallet send` of one base unit through the silent node.
    [[nodiscard]] CliRun send() {
        return home->cli()({"wallet", "send", env.person("other").owner_key().hex(), "1u", "--node",
                            node->address(), "--genesis", chain->genesis(), "--passphrase-file",
                            (home->cli().home() / "pass").string()});
    }
    /// What the payee has more than at the last look.
    [[nodiscard]] std::uint64_t received() {
        const auto now =
            contracts::read_account(*chain->state(), env.person("other").owner_key()).balance.units();
        return now - std::exchange(seen, now);
    }

    contracts::test::Env env;
    std::optional<ServedChain> chain;
    std::optional<PersonHome> home;
    std::optional<SilentNode> node;
    std::uint64_t seen = 0;
};

Payers& payers() {
    static Payers made;
    return made;
}

void expect_one_transfer(Payers& p) {
    const CliRun sent = p.send();
    INFO(sent.err);
    CHECK(sent.code == 0);
    CHECK(p.received() == 1);
}

}  // namespace

TEST_CASE("a transfer whose first answer is lost is sent again as it was signed, and made once") {
    Payers& p = payers();
    (void)p.received();
    base::Bytes first;
    p.node->on_submit([&](int count, ByteView transaction) -> base::Outcome<SubmitReply> {
        auto reply = p.node->execute(transaction);
        if (count > 1) CHECK(base::to_bytes(transaction) == first);
        if (count > 1) return reply;
        first = base::to_bytes(transaction);
        return broken_off();
    });
    expect_one_transfer(p);
    CHECK(p.node->submissions() == 2);
}

TEST_CASE("where the first copy waits for its block, the refusal of the second is not the answer") {
    Payers& p = payers();
    (void)p.received();
    p.node->on_submit([&](int count, ByteView transaction) -> base::Outcome<SubmitReply> {
        if (count > 2) return p.node->execute(transaction);
        if (count == 1) return broken_off();
        return refused_for(contracts::Reason::kNonceWaiting);
    });
    expect_one_transfer(p);
}

TEST_CASE("a block that comes later than an answer to a read may take is waited for") {
    Payers& p = payers();
    (void)p.received();
    const auto longer_than_a_read = node::ClientOptions{}.deadline + 500ms;
    p.node->on_submit([&](int, ByteView transaction) {
        std::this_thread::sleep_for(longer_than_a_read);
        return p.node->execute(transaction);
    });
    expect_one_transfer(p);
    CHECK(p.node->submissions() == 1);
}

TEST_CASE("what is refused at first, though only for the moment, is a refusal") {
    Payers& p = payers();
    p.node->on_submit([](int, ByteView) { return refused_for(contracts::Reason::kNodeBusy); });
    const CliRun sent = p.send();
    CHECK(sent.code == 6);
    CHECK(p.node->submissions() == 1);
}

TEST_CASE("a node that never says what became of a transfer: it may still be executed, says the error") {
    Payers& p = payers();
    p.node->on_submit([](int, ByteView) -> base::Outcome<SubmitReply> { return broken_off(); });
    std::ostringstream out;
    std::ostringstream err;
    node::Context context{out, err, {}, {}, {}};
    context.submission_patience = 1s;
    context.settings.home = node::Home{p.home->cli().home()};
    context.settings.node = p.node->address();
    const node::PassphraseFlags passphrase{.file = (p.home->cli().home() / "pass").string()};
    const auto sent = node::submit_as_owner(
        context, passphrase, p.chain->genesis(),
        contracts::Transfer{.to = p.env.person("other").owner_key(), .amount = *base::Amount::of(1)},
        "the transfer", "see your balance with: assay wallet show");
    REQUIRE_FALSE(sent.ok());
    CHECK(p.node->submissions() > 1);
    CHECK(sent.error().kind == base::ErrorKind::kUnreachable);
    CHECK(sent.error().what.find("it may still be executed") != std::string::npos);
    CHECK(sent.error().fix == "before you send it a second time, see your balance with: assay wallet show");
    CHECK((sent.error().what + sent.error().fix).find("try again") == std::string::npos);
}

}  // namespace assay::test
