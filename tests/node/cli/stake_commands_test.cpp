// SPDX-License-Identifier: Apache-2.0
// What an owner does with the stake of its node keys on a ledger node: look at it, add to it, take it out,
// also that of a key that is revoked or lost.
#include <filesystem>

#include "tests/node/cli/silent_node.hpp"
#include "tests/node/cli/working_chain.hpp"

namespace assay::test {

using contracts::test::kPlenty;
using nlohmann::json;

namespace {

constexpr std::uint64_t kToken = base::kUnitsPerToken;

PersonHome home_of(const char* name) {
    return PersonHome(*working_chain().chain, working_chain().env.person(name));
}

std::uint64_t sum_of(const json& list, const char* member = "amount") {
    std::uint64_t sum = 0;
    for (const json& one : list) sum += units_in(one.at(member));
    return sum;
}

std::string message_of(const CliRun& run) {
    return json::parse(run.err.substr(run.err.find('{'))).at("error").at("message");
}

}  // namespace

TEST_CASE("stake show says what is free, and which job locks the rest until when") {
    WorkingChain& s = working_chain();
    const PersonHome m1 = home_of("m1");
    const json shown = m1.must_ask({"stake", "show"});
    CHECK(keys_of(shown) == std::set<std::string>{"schema", "height", "node", "owner", "revoked", "roles",
                                                  "free", "bonded", "locks", "deposits", "unbonding",
                                                  "withdrawals", "forfeited", "penalised"});
    CHECK(shown.at("schema") == "assay.stake.show/v1");
    CHECK(shown.at("node") == s.node_of("m1"));
    CHECK(shown.at("owner") == s.env.person("m1").owner_key().hex());
    CHECK(shown.at("revoked") == false);
    CHECK(shown.at("roles") == json::array({"miner"}));
    CHECK(units_in(shown.at("bonded")) == sum_of(shown.at("locks")));
    CHECK(shown.at("forfeited") == "0");
    const auto window = std::find_if(shown.at("locks").begin(), shown.at("locks").end(),
                                     [](const json& lock) { return lock.at("kind") == "windows"; });
    REQUIRE(window != shown.at("locks").end());
    CHECK(keys_of(*window) == std::set<std::string>{"job", "kind", "count", "amount", "until"});
    CHECK(window->at("job") == s.job.hex());
    CHECK(window->at("until") == s.settled_at + WorkingChain::kClaimWindow);

    const CliRun table = m1.ask({"stake", "show"});
    CHECK(table.out.find("registered as  miner") != std::string::npos);
    CHECK(table.out.find("in the claim window") != std::string::npos);
    CHECK(table.out.find("block " + std::to_string(s.settled_at + WorkingChain::kClaimWindow)) !=
          std::string::npos);
    // What others have locked is no secret, and the files say the same as the node.
    const CliRun files =
        s.chain->files()({"stake", "show", "--node-key", s.node_of("v1"), "--offline", "-o", "json"});
    INFO(files.err);
    REQUIRE(files.code == 0);
    const json asked = m1.must_ask({"stake", "show", "--node-key", s.node_of("v1")});
    for (const char* same : {"owner", "roles", "free", "bonded", "locks"})
        CHECK(files.json().at(same) == asked.at(same));
    CHECK(asked.at("roles") == json::array({"verifier"}));
}

TEST_CASE("stake show names a key that is none, or is on no ledger, or is not in the home") {
    const PersonHome m1 = home_of("m1");
    CHECK(m1.ask({"stake", "show", "--node-key", "abc"}).code == 2);
    const CliRun unknown = m1.ask({"stake", "show", "--node-key", std::string(64, 'a')});
    CHECK(unknown.code == 3);
    CHECK(unknown.err.find("is not on this ledger") != std::string::npos);
    std::filesystem::remove(m1.cli().home() / "keys" / "node.key");
    const CliRun lost = m1.ask({"stake", "show"});
    CHECK(lost.code == 3);
    CHECK(lost.err.find("--node-key") != std::string::npos);
    // The owner finds its node keys again.
    const json wallet = m1.must_ask({"wallet", "show"});
    REQUIRE(wallet.at("nodes").size() == 1);
    CHECK(wallet.at("nodes").at(0).at("node") == working_chain().node_of("m1"));
}

TEST_CASE("stake add moves what it says from the balance, once, and no more than there is") {
    WorkingChain& s = working_chain();
    const PersonHome m5 = home_of("m5");
    const auto balance = s.balance_of("m5");
    const json added = m5.must_sign({"stake", "add", "2.5"});
    CHECK(keys_of(added) ==
          std::set<std::string>{"schema", "node", "owner", "amount", "height", "free", "bonded"});
    CHECK(added.at("schema") == "assay.stake.add/v1");
    CHECK(added.at("amount") == "2500000");
    CHECK(units_in(added.at("free")) == kPlenty + 2'500'000);
    CHECK(s.balance_of("m5") == balance - 2'500'000);
    for (const char* amount : {"0", "-1", "much", "all", "1.0000001"}) {
        const CliRun run = m5.sign({"stake", "add", amount});
        CHECK(run.code == 2);
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
    }
    CHECK(m5.refused({"stake", "add", "4000000000000"}) == "insufficient_balance");
    CHECK(s.stake_of("m5").free.units() == kPlenty + 2'500'000);
    CHECK(s.balance_of("m5") == balance - 2'500'000);
}

TEST_CASE("a deposit whose first answer is lost is made once") {
    WorkingChain& s = working_chain();
    const PersonHome m5 = home_of("m5");
    const auto before = s.stake_of("m5").free.units();
    SilentNode node(s.chain->address());
    node.on_submit([&](int count, base::ByteView transaction) -> base::Outcome<node::SubmitReply> {
        auto reply = node.execute(transaction);
        if (count > 1) return reply;
        return broken_off();
    });
    const CliRun run =
        m5.cli()({"stake", "add", "1", "--node", node.address(), "--genesis", s.chain->genesis(),
                  "--passphrase-file", (m5.cli().home() / "pass").string()});
    INFO(run.err);
    CHECK(run.code == 0);
    CHECK(node.submissions() == 2);
    CHECK(s.stake_of("m5").free.units() == before + kToken);
}

TEST_CASE("a deposit is done, and said to be, where the node goes away behind it") {
    WorkingChain& s = working_chain();
    const PersonHome m5 = home_of("m5");
    const auto before = s.stake_of("m5").free.units();
    SilentNode node(s.chain->address());
    node.on_submit([&](int, base::ByteView transaction) { return node.execute(transaction); });
    node.fall_silent_after_submission();
    const CliRun run =
        m5.cli()({"stake", "add", "1", "--node", node.address(), "--genesis", s.chain->genesis(),
                  "--passphrase-file", (m5.cli().home() / "pass").string(), "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.json().at("free").is_null());
    CHECK(run.err.find("warning: it is done") != std::string::npos);
    CHECK(s.stake_of("m5").free.units() == before + kToken);
}

TEST_CASE("a withdrawal of more than is free is refused, and says which job has the rest") {
    WorkingChain& s = working_chain();
    const PersonHome m1 = home_of("m1");
    const auto before = s.stake_of("m1");
    REQUIRE_FALSE(before.bonded.is_zero());
    const CliRun run = m1.sign({"stake", "withdraw", "1000", "-o", "json"});
    CHECK(run.code == 6);
    CHECK(json::parse(run.err).at("error").at("reason").at("name") == "insufficient_stake");
    const std::string message = message_of(run);
    CHECK(message.find(base::to_text(before.bonded) + " is bonded (") != std::string::npos);
    CHECK(message.find("in the claim window of job " + s.job.brief() + " until block " +
                       std::to_string(s.settled_at + WorkingChain::kClaimWindow)) != std::string::npos);
    CHECK(s.stake_of("m1").free == before.free);
    for (const char* amount : {"0", "-1", "much", "ALL"})
        CHECK(m1.sign({"stake", "withdraw", amount}).code == 2);
}

TEST_CASE("withdrawn stake is on its way for the unbonding delay, and then in the owner's balance") {
    WorkingChain& s = working_chain();
    const PersonHome m1 = home_of("m1");
    const auto balance = s.balance_of("m1");
    const auto before = s.stake_of("m1");
    const json out = m1.must_sign({"stake", "withdraw", "5"});
    CHECK(keys_of(out) == std::set<std::string>{"schema", "node", "owner", "amount", "height", "free",
                                                "bonded", "paid_at", "warnings"});
    CHECK(out.at("schema") == "assay.stake.withdraw/v1");
    CHECK(units_in(out.at("free")) == before.free.units() - 5 * kToken);
    CHECK(out.at("bonded") == std::to_string(before.bonded.units()));
    CHECK(out.at("paid_at") == out.at("height").get<std::uint64_t>() + WorkingChain::kUnbonding);
    CHECK(out.at("warnings").empty());

    const json wallet = m1.must_ask({"wallet", "show"});
    CHECK(wallet.at("unbonding") == "5000000");
    REQUIRE(wallet.at("withdrawals").size() == 1);
    CHECK(wallet.at("withdrawals").at(0).at("node") == s.node_of("m1"));
    CHECK(wallet.at("withdrawals").at(0).at("block") == out.at("paid_at"));
    const json shown = m1.must_ask({"stake", "show"});
    REQUIRE(shown.at("withdrawals").size() == 1);
    const json& one = shown.at("withdrawals").at(0);
    CHECK(keys_of(one) == std::set<std::string>{"node", "amount", "block", "blocks_left", "hours_left"});
    CHECK(one.at("blocks_left") ==
          one.at("block").get<std::uint64_t>() - shown.at("height").get<std::uint64_t>());
    CHECK(m1.ask({"stake", "show"}).out.find("at the pace of the last blocks") != std::string::npos);
    CHECK(s.balance_of("m1") == balance);

    wait_for([&] { return s.balance_of("m1") == balance + 5 * kToken; });
    CHECK(m1.must_ask({"wallet", "show"}).at("unbonding") == "0");
    CHECK(m1.must_ask({"stake", "show"}).at("withdrawals").empty());
}

TEST_CASE("all that is free can be withdrawn once; the second time nothing is free") {
    WorkingChain& s = working_chain();
    const PersonHome m3 = home_of("m3");
    const CliRun first = m3.sign({"stake", "withdraw", "all"});
    INFO(first.err);
    REQUIRE(first.code == 0);
    CHECK(first.out.find("withdrew " + base::to_text(base::units(kPlenty))) != std::string::npos);
    CHECK(first.out.find("paid to the owner's balance in block ") != std::string::npos);
    CHECK(s.stake_of("m3").free.is_zero());
    for (const char* amount : {"all", "1u"}) {
        const CliRun again = m3.sign({"stake", "withdraw", amount, "-o", "json"});
        CHECK(again.code == 6);
        CHECK(message_of(again).find("is on its way to the owner") != std::string::npos);
    }
}

TEST_CASE("what a job may want next is taken out with --yes alone, and whoever does is told to drain") {
    WorkingChain& s = working_chain();
    const PersonHome m2 = home_of("m2");
    const json shown = m2.must_ask({"stake", "show"});
    REQUIRE(shown.at("deposits").size() == 1);
    CHECK(shown.at("deposits").at(0).at("behind") == "ask");
    CHECK(shown.at("deposits").at(0).at("job") == s.asked.hex());
    const CliRun unsure = m2.sign({"stake", "withdraw", "all"});
    CHECK(unsure.code == 2);
    CHECK(unsure.err.find("was not signed") != std::string::npos);
    CHECK(unsure.err.find("assay miner drain; or give --yes") != std::string::npos);
    CHECK_FALSE(s.stake_of("m2").free.is_zero());
    const CliRun run = m2.sign({"stake", "withdraw", "all", "--yes", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    REQUIRE(run.json().at("warnings").size() == 1);
    const std::string warning = run.json().at("warnings").at(0);
    CHECK(warning.find("job " + s.asked.brief() + " may want ") != std::string::npos);
    CHECK(run.err.find("warning: " + warning) != std::string::npos);
}

TEST_CASE("another owner's stake and node key are not touched") {
    WorkingChain& s = working_chain();
    const PersonHome other = home_of("other");
    const std::string key = s.node_of("m1");
    CHECK(other.refused({"key", "revoke", "--node-key", key, "--yes"}) == "not_yours");
    CHECK(other.refused({"stake", "withdraw", "1", "--node-key", key}) == "not_yours");
    CHECK(other.refused({"stake", "add", "1", "--node-key", key}) == "not_yours");
    CHECK_FALSE(contracts::read_node_key(*s.chain->state(), s.env.person("m1").node_key())->revoked);
}

TEST_CASE("a revoked key signs nothing more, and its stake can still be taken out") {
    WorkingChain& s = working_chain();
    const PersonHome m4 = home_of("m4");
    const std::string key = s.node_of("m4");
    const auto revoked = [&] {
        return contracts::read_node_key(*s.chain->state(), s.env.person("m4").node_key())->revoked;
    };
    const CliRun unsure = m4.sign({"key", "revoke"});
    CHECK(unsure.code == 2);
    CHECK(unsure.err.find("cannot be taken back") != std::string::npos);
    CHECK(unsure.err.find("--yes") != std::string::npos);
    CHECK_FALSE(revoked());

    // The machine with the node key is gone; the owner's key is a file elsewhere.
    const Cli elsewhere;
    const auto sign = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--node-key", key, "--owner-key",
                                   (m4.cli().home() / "keys" / "owner.key").string(), "-o", "json"});
        return elsewhere(m4.signing(std::move(words)));
    };
    const CliRun done = sign({"key", "revoke", "--yes"});
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(keys_of(done.json()) == std::set<std::string>{"schema", "node", "owner", "height"});
    CHECK(done.json().at("schema") == "assay.key.revoke/v1");
    CHECK(done.json().at("height").is_number());
    CHECK(revoked());
    const CliRun again = sign({"key", "revoke", "--yes"});
    CHECK(again.code == 0);
    CHECK(again.json().at("height").is_null());

    const json shown = m4.must_ask({"stake", "show"});
    CHECK(shown.at("revoked") == true);
    CHECK(m4.refused({"stake", "add", "1"}) == "key_revoked");
    const auto balance = s.balance_of("m4");
    const CliRun out = sign({"stake", "withdraw", "all"});
    INFO(out.err);
    REQUIRE(out.code == 0);
    CHECK(out.json().at("amount") == shown.at("free"));
    CHECK(out.json().at("free") == "0");
    wait_for([&] { return s.balance_of("m4") == balance + units_in(shown.at("free")); });
}

}  // namespace assay::test
