// SPDX-License-Identifier: Apache-2.0
// Six miners and three buyers with different caps on `assay devnet up`, all of it by commands: what lots cost
// by class and load, what a losing bidder is told and wins with, who is preempted, that nobody's bits change,
// and that a member of a team takes no more than its caps.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "tests/scenarios/devnet_process.hpp"
#include "tests/scenarios/small_text.hpp"

namespace assay::tests {

using nlohmann::json;

namespace {

constexpr const char* kFirstBuyer = "buyer";
constexpr const char* kSecondBuyer = "buyer-2";
constexpr const char* kMember = "buyer-3";  ///< of the first buyer's team
/// The one machine that the two rival jobs can pay: the others ask kDear once they are measured. Whatever
/// class its speed puts it into, both bid for it.
constexpr const char* kCheapMiner = "miner-3";
/// A class that sells all its lots raises its base price by an eighth an epoch: from one base unit to this in
/// 46 epochs, of which the story takes a dozen.
constexpr std::uint64_t kCheapAsk = 1'100;
constexpr std::uint64_t kDearestAsk = 1'250;  ///< of the six at the start
constexpr std::uint64_t kDear = 5'000;
constexpr std::uint64_t kTooDear = 9'000;
constexpr std::uint64_t kFirstCap = 2'500;
constexpr std::uint64_t kGammaBid = 1'700;
constexpr std::uint64_t kGammaCap = 6'000;
constexpr std::uint64_t kDeltaBid = 1'500;
constexpr std::uint64_t kDeltaCap = 4'000;
constexpr std::uint64_t kBudget = 60'000'000;
/// More than the rivals come to: what follows does not hang on how fast their machine is meanwhile.
constexpr std::uint32_t kManyRounds = 2'000;

std::string price_text(std::uint64_t units) { return std::to_string(units) + "u"; }
std::uint64_t units(const json& amount) { return std::stoull(amount.get<std::string>()); }

/// Bits of speed of a class: f32/SPEED/MEMORY/NETWORK.
int speed_in(const json& kind) {
    const std::string text = kind.get<std::string>();
    return std::stoi(text.substr(text.find('/') + 1));
}

struct Terms {
    std::string name;
    std::uint32_t machines = 1;  ///< and slots
    std::uint32_t rounds = 1;
    std::uint32_t inner_steps = 6;
    std::uint64_t cap = 0;     ///< base units
    std::uint64_t budget = 0;  ///< base units
};

std::string job_text(const Terms& terms) {
    const std::string machines = std::to_string(terms.machines);
    return "[job]\nname = \"" + terms.name + "\"\nslots = " + machines +
           "\nrounds = " + std::to_string(terms.rounds) +
           "\nseed = 7\n"
           "[model]\nlayers = 2\nwidth = 64\nheads = 2\ncontext = 64\nvocabulary = 400\n"
           "[data]\nmanifest = \"data/manifest.json\"\n"
           "[train]\ninner_steps = " +
           std::to_string(terms.inner_steps) +
           "\nbatch = 4\nwarmup_steps = 2\nlearning_rate = 0.003\n"
           "[market]\nmax_price = \"" +
           price_text(terms.cap) + "\"\nbudget = \"" + price_text(terms.budget) +
           "\"\ndeadline = 100000\nmachines_least = " + machines + "\n[security]\nsegment_steps = 2\n";
}

/// The market's story, played once; what the cases look at is as the commands said it.
struct MarketStory {
    json first;     ///< `job show` of the first buyer's job, once its round is done
    json measured;  ///< `market show` once all six machines are on offer in the classes that the round showed
    json lost;      ///< of `job why delta`: the newest clearing that delta lost to gamma's bid
    json history;   ///< `market history` with that clearing
    json won;       ///< of `job why delta`: the first that it won at the price that it was told
    std::uint64_t told = 0;                             ///< that price
    json waiting;                                       ///< gamma while delta has its machine
    json gamma, delta;                                  ///< at the end
    std::map<std::string, std::string> refusals;        ///< reason or kind of what the member tried
    std::uint64_t member_before = 0, member_after = 0;  ///< balance
    json grant, team, bill;
    std::map<std::string, std::string> trained;  ///< model root of as many rounds of a job, trained alone
    json ledger_audit, payout_audit;

    MarketStory() {
        pack_data();
        grant_membership();
        measure_machines();
        outbid();
        preempt();
        go_on_elsewhere();
        read_the_end();
    }

private:
    [[nodiscard]] std::string file(const Terms& terms) const {
        const auto path = network_.folder() / (terms.name + ".toml");
        std::ofstream(path) << job_text(terms);
        return path.string();
    }
    void submit(const std::string& who, const Terms& terms, const std::vector<std::string>& flags) {
        std::vector<std::string> words{"job", "submit", file(terms)};
        words.insert(words.end(), flags.begin(), flags.end());
        serving_[terms.name] = network_.start(who, words);
    }
    /// Fails at once where a process that serves a job has failed.
    void wait_for(const std::string& what, const std::function<bool()>& happened) const {
        network_.wait_for(what, [&] {
            for (const auto& [name, process] : serving_) {
                if (process->running()) continue;
                const test::ProgramRun ended = process->wait();
                INFO(name << ": " << ended.err);
                REQUIRE(ended.code == 0);
            }
            return happened();
        });
    }
    [[nodiscard]] json show(const std::string& job) const {
        return network_.ask(kFirstBuyer, {"job", "show", job});
    }
    /// In one line, which asks the node for little; null: nobody has bought it yet.
    [[nodiscard]] json line_of(const std::string& job) const {
        const json list = network_.ask(kFirstBuyer, {"job", "list"});
        for (const json& one : list.at("jobs"))
            if (one.at("name") == job) return one;
        return {};
    }
    void wait_for_round(const std::string& job, std::uint32_t rounds) const {
        wait_for("round " + std::to_string(rounds) + " of " + job, [&] {
            const json line = line_of(job);
            return !line.is_null() && line.at("rounds_done") >= rounds;
        });
    }
    void set_ask(const std::string& miner, std::uint64_t price) const {
        (void)network_.ask(miner, {"market", "ask", price_text(price)});
    }
    void set_bid(const std::string& who, const std::string& job, std::uint64_t price) const {
        (void)network_.ask(who, {"market", "bid", job, price_text(price)});
    }

    void pack_data() const {
        const auto text = network_.folder() / "text.txt";
        std::ofstream(text) << small_text(7);
        (void)network_.ask(kFirstBuyer, {"data", "pack", text.string(), "--out",
                                         (network_.folder() / "data").string(), "--vocabulary", "400"});
    }

    static Terms delta_terms() {
        return {.name = "delta", .rounds = kManyRounds, .cap = kDeltaCap, .budget = kBudget};
    }
    /// The member may take what its one job takes, and not a unit more.
    void grant_membership() {
        const json plan = network_.ask(kMember, {"plan", file(delta_terms())});
        const std::uint64_t most =
            units(plan.at("budget")) + units(plan.at("link_bond")) + units(plan.at("job_fee"));
        const json member = network_.ask(kMember, {"wallet", "show"});
        member_before = units(member.at("balance"));
        grant = network_.sign(
            kFirstBuyer, {"team", "grant", member.at("owner"), "--per-job", price_text(most), "--per-day",
                          price_text(3 * most), "--day", "1000", "--total", price_text(most)});
    }
    void refuse(const std::string& what, std::vector<std::string> words) {
        const json error = network_.refusal(kMember, std::move(words));
        refusals[what] = error.contains("reason") ? error.at("reason").at("name") : error.at("kind");
    }

    /// The first job needs all six machines for its one round, which is long enough for their speeds to show.
    /// Then all but one ask more than a rival bids.
    void measure_machines() {
        submit(kFirstBuyer,
               {.name = "first", .machines = 6, .inner_steps = 64, .cap = kFirstCap, .budget = kBudget}, {});
        Terms dear = delta_terms();
        dear.name = "costs";
        dear.budget += 1;
        refuse("a dearer job",
               network_.with_passphrase({"job", "submit", file(dear), "--sponsor", grant.at("sponsor")}));
        wait_for_round("first", 1);
        first = show("first");
        for (const std::string& miner : dear_miners()) set_ask(miner, kDear);
        wait_for("six measured machines on offer", [&] {
            measured = network_.ask(kFirstBuyer, {"market", "show"});
            std::uint64_t standing = 0;
            for (const json& kind : measured.at("classes"))
                if (speed_in(kind.at("class")) > 0) standing += kind.at("standing").get<std::uint64_t>();
            return standing == 6 && std::ranges::all_of(dear_miners(), [&](const std::string& miner) {
                       const json why = network_.ask(miner, {"miner", "why", "--no-clearings"});
                       return why.at("market").at("ask") == std::to_string(kDear);
                   });
        });
        for (const json& kind : measured.at("classes"))
            std::cout << kind.at("standing") << " stand in " << kind.at("class") << std::endl;
    }
    static std::vector<std::string> dear_miners() {
        return {"miner-1", "miner-2", "miner-4", "miner-5", "miner-6"};
    }

    /// Gamma has the machine; delta, which bid next to nothing before, bids less than gamma for it.
    void outbid() {
        const std::string sponsor = grant.at("sponsor");
        submit(kSecondBuyer,
               {.name = "gamma", .rounds = kManyRounds, .cap = kGammaCap, .budget = 2 * kBudget},
               {"--bid", price_text(kGammaBid)});
        submit(kMember, delta_terms(), {"--sponsor", sponsor, "--bid", "1u"});
        wait_for_round("gamma", 1);
        wait_for("delta to be bought", [&] { return !line_of("delta").is_null(); });
        set_bid(kMember, "delta", kDeltaBid);
        Terms second = delta_terms();
        second.name = "extra";
        refuse("a second job", network_.with_passphrase({"job", "buy", file(second), "--endpoint",
                                                         "127.0.0.1:9", "--sponsor", sponsor}));
        refuse("a top-up", network_.with_passphrase({"job", "topup", "delta", "1u"}));
        refuse("a bid above the job's cap", {"market", "bid", "delta", price_text(kDeltaCap + 1)});
        wait_for("a clearing that delta loses to gamma", [&] {
            lost = newest_bid([](const json& bid) {
                return bid.at("end") == "outbid" && units(bid.at("price")) == kDeltaBid &&
                       is_gammas(bid.at("least_winning_price"));
            });
            return !lost.is_null();
        });
        history = network_.ask(kFirstBuyer, {"market", "history"}).at("epochs");
    }
    /// Whether a price is what gamma's bid makes it: one unit more where gamma wins ties.
    static bool is_gammas(const json& price) {
        return !price.is_null() && units(price) >= kGammaBid && units(price) <= kGammaBid + 1;
    }
    /// Of the clearings that delta bid in; null: none.
    template <class Matches>
    [[nodiscard]] json newest_bid(Matches&& matches) const {
        json found;
        const json why = network_.ask(kMember, {"job", "why", "delta"});
        for (const json& bid : why.at("bids"))
            if (!bid.at("foreseen") && matches(bid)) found = bid;
        return found;
    }

    /// Delta goes on at the price that it was told. In the next clearing a tie may be broken otherwise: then
    /// it is told so, and bids that.
    void preempt() {
        serving_.at("delta")->signal(SIGINT);
        serving_.at("delta")->wait();
        told = units(lost.at("least_winning_price"));
        set_bid(kMember, "delta", told);
        serving_["delta"] = network_.start(kMember, {"job", "resume", "delta", "--bid", price_text(told)});
        json seen;
        wait_for("delta to win", [&] {
            const json epoch = network_.ask(kFirstBuyer, {"market", "history", "--epochs", "1"});
            if (std::exchange(seen, epoch) == epoch) return false;
            won = newest_bid([&](const json& bid) {
                return bid.at("end") == "won" && is_as_told(bid) && is_gammas(bid.at("pays"));
            });
            const auto lost_again = [&](const json& bid) {
                return bid.at("end") == "outbid" && is_as_told(bid);
            };
            if (won.is_null() && told == kGammaBid && !newest_bid(lost_again).is_null())
                set_bid(kMember, "delta", told = kGammaBid + 1);
            return !won.is_null();
        });
        wait_for("gamma to wait", [&] {
            waiting = line_of("gamma");
            return waiting.at("phase") == "waiting";
        });
        wait_for_round("delta", 1);
    }
    [[nodiscard]] bool is_as_told(const json& bid) const { return units(bid.at("price")) == told; }

    /// The machine becomes too dear for both, and gamma bids enough for the others.
    void go_on_elsewhere() {
        set_ask(kCheapMiner, kTooDear);
        set_bid(kSecondBuyer, "gamma", kGammaCap);
        set_bid(kMember, "delta", 1);
        wait_for("delta to be cancelled", [&] {
            // Not while a sealed bid of it holds a deposit.
            (void)network_.run(kMember, network_.with_passphrase({"job", "cancel", "delta"}));
            return is_over("delta");
        });
        wait_for("a round of gamma on another machine", [&] {
            gamma = show("gamma");
            return std::ranges::any_of(gamma.at("slot_rounds"), [&](const json& slot) {
                return units(slot.at("price")) == kDear && slot.at("round") < gamma.at("rounds_done");
            });
        });
    }
    [[nodiscard]] bool is_over(const std::string& job) const {
        const json phase = line_of(job).at("phase");
        return phase == "closing" || phase == "ended";
    }

    void read_the_end() {
        wait_for("the end of delta", [&] { return line_of("delta").at("phase") == "ended"; });
        delta = show("delta");
        gamma = show("gamma");
        team = network_.ask(kFirstBuyer, {"team", "list"});
        bill = network_.ask(kMember, {"wallet", "report", "--by", "job,team"});
        member_after = units(network_.ask(kMember, {"wallet", "show"}).at("balance"));
        for (auto& [name, process] : serving_) process->signal(SIGINT);
        for (auto& [name, process] : serving_) process->wait();
        network_.stop();
        for (const json* job : {&first, &gamma, &delta}) {
            const std::string name = job->at("name");
            const json model =
                network_.ask(kFirstBuyer, {"model", "train", (network_.folder() / (name + ".toml")).string(),
                                           "--rounds", std::to_string(job->at("rounds_done").get<int>()),
                                           "--out", (network_.folder() / ("model-" + name)).string()});
            trained[name] = model.at("model_root");
        }
        ledger_audit = network_.ask("", {"audit", "ledger"});
        payout_audit = network_.ask("", {"audit", "payouts"});
    }

    DevnetProcess network_{{"--miners", "6", "--verifiers", "2", "--buyers", "3", "--trade", "--duty",
                            "8,16,32", "--epoch", "100", "--block-interval-ms",
                            std::to_string(40 * kPatience)}};
    std::map<std::string, std::unique_ptr<test::BackgroundProgram>> serving_;  ///< by the job's name
};

/// Played at the first call. Where that broke off, every later one fails at once.
const MarketStory& market() {
    static std::unique_ptr<const MarketStory> story;
    static bool begun = false;
    if (!story) {
        INFO("the story broke off in an earlier case");
        REQUIRE_FALSE(std::exchange(begun, true));
        story = std::make_unique<const MarketStory>();
    }
    return *story;
}

/// Classes of measured speed in which lots stand.
std::size_t measured_classes(const json& market_shown) {
    const auto is_measured = [](const json& kind) {
        return speed_in(kind.at("class")) > 0 && kind.at("standing") != 0;
    };
    return static_cast<std::size_t>(std::ranges::count_if(market_shown.at("classes"), is_measured));
}

/// Prices that the job's slots were dealt at.
std::set<std::uint64_t> prices_of(const json& job) {
    std::set<std::uint64_t> prices;
    for (const json& slot : job.at("slot_rounds")) prices.insert(units(slot.at("price")));
    return prices;
}

/// The newest clearing of that epoch and class, as the history has it.
json cleared(const json& history, const json& epoch, const json& kind) {
    for (const json& row : history)
        if (row.at("epoch") == epoch && row.at("class") == kind) return row;
    FAIL("no clearing of " << kind << " in epoch " << epoch);
    return {};
}

}  // namespace

TEST_CASE(
    "market: six machines that nobody has measured are one class, and one price, and then are told apart") {
    const MarketStory& m = market();
    REQUIRE(m.first.at("slot_rounds").size() == 6);
    CHECK(prices_of(m.first) == std::set<std::uint64_t>{kDearestAsk});
    CHECK(speed_in(m.lost.at("class")) > 0);
    CHECK(measured_classes(m.measured) >= 2);  // a worker at 8 % is two bits slower than one at 32 %
}

TEST_CASE("market: what the machine costs moves with who wants it; others cost what they ask") {
    const MarketStory& m = market();
    CHECK(units(m.gamma.at("slot_rounds").at(0).at("price")) == kCheapAsk);  // alone
    const json row = cleared(m.history, m.lost.at("epoch"), m.lost.at("class"));
    CHECK(row.at("bids") == 2);
    CHECK(row.at("sold") == 1);
    CHECK(units(row.at("lowest")) >= kDeltaBid);  // one unit more where delta wins ties
    CHECK(units(row.at("highest")) <= kDeltaBid + 1);
    CHECK(prices_of(m.gamma).contains(kDear));
    CHECK(units(m.won.at("pays")) >= kGammaBid);
    CHECK(units(m.won.at("pays")) <= m.told);
}

TEST_CASE("market: who loses is told what would have won, and wins with it") {
    const MarketStory& m = market();
    CHECK(units(m.lost.at("price")) == kDeltaBid);
    CHECK(m.lost.at("least_refused") == "none");
    const std::uint64_t least = units(m.lost.at("least_winning_price"));
    CHECK(least >= kGammaBid);  // one unit more where gamma wins ties
    CHECK(least <= kGammaBid + 1);
    CHECK(m.won.at("price") == std::to_string(m.told));
    CHECK(m.delta.at("rounds_done") > 0);
}

TEST_CASE(
    "market: a job that loses its machine waits at a round's border and comes to the same bits on another") {
    const MarketStory& m = market();
    CHECK(m.waiting.at("rounds_done") > 0);
    CHECK(m.gamma.at("rounds_done") > m.waiting.at("rounds_done"));
    std::set<std::string> machines;
    for (const json& slot : m.gamma.at("slot_rounds")) machines.insert(slot.at("miner"));
    CHECK(machines.size() > 1);
    CHECK(m.trained.at("first") == m.first.at("base_root"));
    CHECK(m.trained.at("gamma") == m.gamma.at("base_root"));
    CHECK(m.trained.at("delta") == m.delta.at("base_root"));
}

TEST_CASE("market: a member of a team takes no more than its caps, whatever it tries") {
    const MarketStory& m = market();
    CHECK(m.refusals == std::map<std::string, std::string>{{"a dearer job", "cap_per_job"},
                                                           {"a second job", "cap_total"},
                                                           {"a top-up", "cap_per_job"},
                                                           {"a bid above the job's cap", "usage"}});
    CHECK(m.member_before == m.member_after);  // the sponsor pays
    const json& member = m.team.at("members").at(0);
    CHECK(m.delta.at("member") == member.at("member"));
    const json& totals = m.bill.at("totals");
    const std::uint64_t cost = units(totals.at("spent")) + units(totals.at("fees"));
    CHECK(units(member.at("taken")) == cost);
    CHECK(cost < units(m.grant.at("total")));
    CHECK(totals.at("spent") == m.delta.at("spent"));
    CHECK(totals.at("in_escrow") == "0");
    for (const json& line : m.bill.at("lines")) CHECK(line.at("member") == member.at("member"));
}

TEST_CASE("market: the books close") {
    const MarketStory& m = market();
    CHECK(m.ledger_audit.at("ok") == true);
    CHECK(m.payout_audit.at("ok") == true);
    CHECK(m.payout_audit.at("supply_delta") == 0);
    CHECK(m.payout_audit.at("jobs").size() == 3);
}

}  // namespace assay::tests
