// SPDX-License-Identifier: Apache-2.0
// What a home forgets of a device that turns out to compute other bits: in the process that finds it, or in
// the next one where that ended before it could.
#include "node/roles/unsound_notes.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;
using contracts::RoundPhase;

constexpr const char* kCard = "cuda:0";
constexpr const char* kLostToCard =
    "is trained again from its start: a device that trained it computes other bits";

/// How the next process of a miner comes to know.
enum class Known : std::uint8_t {
    kNot,
    kNoted,        ///< nothing could be begun on the device
    kBeforeAPlan,  ///< a process was told before it had followed the ledger, and ended
};

MarketOptions one_round(std::vector<std::string> miners) {
    MarketOptions options;
    options.miners = std::move(miners);
    options.rounds = 1;
    return options;
}

void make_known(Market& market, Party& party, Known known) {
    if (known == Known::kBeforeAPlan) {
        party.parts.start_height = market.height();
        party.role = std::make_unique<MinerRole>(party.parts, MinerOptions{});
        party.role->step(Started{});
        party.role->step(DeviceUnsound{kCard});
    } else if (known != Known::kNot) {
        REQUIRE(note_unsound(party.notes, kCard).ok());
    }
}

/// A market at the audits of whose one round the worker of `vera` gives false roots until `found`. It is
/// drawn for one slot, and another verifier for more: when vera's words are on disk, that one still computes.
struct FalseAudits {
    std::unique_ptr<Market> market;
    bool found = false;
    std::function<void()> on_note;  ///< called once, behind the note and before a block has its seal

    explicit FalseAudits(bool falsifies) {
        MarketOptions options = one_round({"mia", "moe"});
        for (options.luck = 0; market == nullptr; ++options.luck) {
            REQUIRE(options.luck < 30);
            auto one = std::make_unique<Market>(options);
            one->start();
            REQUIRE(one->turn_until([&] { return one->at_phase(0, RoundPhase::kServe); }));
            if (drawn(*one, "vera") == 1 && std::max(drawn(*one, "viki"), drawn(*one, "vito")) > 1)
                market = std::move(one);
        }
        vera().worker.falsify = [this, falsifies](const frames::Message&, WorkerAnswered& answer) {
            answer.device = kCard;
            auto* const replayed = std::get_if<frames::Replayed>(&answer.message);
            if (falsifies && replayed != nullptr && !found)
                replayed->parts.unit_root = base::hash("test", replayed->parts.unit_root.view());
        };
        for (const char* other : {"viki", "vito"}) {
            market->party(other).worker.falsify = [this](const frames::Message&, WorkerAnswered&) {
                if (on_note && has_words()) std::exchange(on_note, nullptr)();
            };
        }
    }
    [[nodiscard]] Party& vera() const { return market->party("vera"); }
    [[nodiscard]] bool has_words() const {
        const auto note = vera().notes.files.lower_bound("audit-");
        return note != vera().notes.files.end() && note->first.starts_with("audit-");
    }
    static std::size_t drawn(const Market& market, const std::string& name) {
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
            const auto& who = market.slot(0, i).verifiers;
            count += std::count(who.begin(), who.end(), market.parties().at(name)->node.public_key()) > 0;
        }
        return count;
    }
    /// Every slot is paid, and of the audits every one.
    void check_paid() {
        check_all_paid(*market);
        for (const auto& line : contracts::list_settlement(market->state(), market->job()->id, 0))
            if (line.kind == contracts::LineKind::kAudit) CHECK(line.reason == Reason::kPaidAudit);
    }
};

}  // namespace

TEST_CASE("what a device with other bits trained for processes before this one is forgotten, and no more") {
    for (const Known known : {Known::kNot, Known::kNoted, Known::kBeforeAPlan}) {
        CAPTURE(static_cast<int>(known));
        Market market(one_round({"mia"}));
        market.start();
        Party& mia = market.party("mia");
        std::vector<bool> resumed;
        bool failed = false;
        mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
            const auto* train = std::get_if<frames::Train>(&request);
            if (train == nullptr) return;
            answer.device = kCard;  // of the next process too: it was mended
            if (train->slot != 0 || !answer.last) return;
            resumed.push_back(train->resume.has_value());
            if (std::exchange(failed, true)) return;
            answer.bulk.clear();
            answer.message = frames::Refusal{frames::RefusalReason::kInternal, "not today", {}};
        };
        REQUIRE(market.turn_until([&] { return failed; }));
        make_known(market, mia, known);
        market.restart_miner("mia");
        check_all_paid(market);
        CHECK(resumed == std::vector{false, known == Known::kNot});
        CHECK((mia.log.lines_with(kLostToCard) > 0) == (known != Known::kNot));
        CHECK(noted_unsound(mia.notes)->empty());
    }
}

TEST_CASE("what is committed already is opened, though the device that trained it has other bits") {
    Market market(one_round({"mia"}));
    market.start();
    Party& mia = market.party("mia");
    mia.worker.falsify = [](const frames::Message&, WorkerAnswered& answer) { answer.device = kCard; };
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kBeacon); }));
    make_known(market, mia, Known::kNoted);
    market.restart_miner("mia");
    check_all_paid(market);
    CHECK(mia.log.lines_with(kLostToCard) == 0);
    CHECK(mia.worker.asked.at(frames::FrameKind::kTrain) == 2);
}

TEST_CASE("a commit that is on its way when its device is found out is opened as it was sealed") {
    for (const bool restarts : {false, true}) {
        CAPTURE(restarts);
        Market market(one_round({"mia"}));
        market.start();
        Party& mia = market.party("mia");
        bool found = false;
        mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
            const auto* train = std::get_if<frames::Train>(&request);
            if (train == nullptr || found) return;
            answer.device = kCard;
            if (mia.mempool.sent.empty()) return;
            // Of the slot that was trained first: the other one is at work.
            found = true;
            mia.role->step(DeviceUnsound{kCard});
        };
        REQUIRE(market.turn_until([&] { return found; }));
        if (restarts) market.restart_miner("mia");
        check_all_paid(market);
        CHECK(mia.log.lines_with("it is opened as it was sealed") == 1);
        for (int i = 0; i < 3; ++i) market.turn();
        for (const auto& [name, bytes] : mia.notes.files) CHECK_FALSE(name.starts_with("doubted-"));
    }
}

TEST_CASE("a verifier computes again what a device with other bits gave it in the middle of an audit") {
    FalseAudits world(true);
    world.vera().worker.falsify = [&, give = world.vera().worker.falsify](const frames::Message& request,
                                                                          WorkerAnswered& answer) {
        give(request, answer);
        const auto* replay = std::get_if<frames::Replay>(&request);
        if (replay == nullptr || replay->unit == 0 || std::exchange(world.found, true)) return;
        world.vera().role->step(DeviceUnsound{kCard});
    };
    world.check_paid();
    CHECK(world.found);
}

TEST_CASE("a verifier computes again what a device with other bits said, where it is not sealed") {
    for (const bool itself : {false, true}) {
        CAPTURE(itself);
        FalseAudits world(true);
        world.on_note = [&] {
            world.vera().mempool.sent.clear();  // its seal comes into no block
            world.found = true;
            if (itself) world.vera().role->step(DeviceUnsound{kCard});
        };
        REQUIRE(world.market->turn_until([&] { return world.found; }));
        if (!itself) REQUIRE(note_unsound(world.vera().notes, kCard).ok());
        world.market->restart_verifier("vera");
        world.check_paid();
    }
}

TEST_CASE("a seal that is on its way when its device is found out is opened as it was sealed") {
    FalseAudits world(false);
    bool sent = false;
    world.on_note = [&] {
        sent = !world.vera().mempool.sent.empty();
        world.vera().role->step(DeviceUnsound{kCard});
    };
    world.check_paid();
    CHECK(sent);
    CHECK(world.vera().log.lines_with("are not sealed yet, and are computed again") == 1);
}

TEST_CASE("a verifier merges again what a device with other bits merged, where it is not sealed") {
    Market market(one_round({"mia", "moe"}));
    market.start();
    Party& vera = market.party("vera");
    int merged = 0;
    vera.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        answer.device = kCard;
        auto* const state = std::get_if<frames::BaseStateFrame>(&answer.message);
        if (state != nullptr && std::holds_alternative<frames::Merge>(request) && merged++ == 0)
            state->root = base::hash("test", state->root.view());
        // Its own worker has evaluated the false one: the claim is made next.
        if (std::holds_alternative<frames::Evaluate>(request) && merged == 1)
            vera.role->step(DeviceUnsound{kCard});
    };
    check_all_paid(market);
    CHECK(merged == 2);
    for (const auto& line : contracts::list_settlement(market.state(), market.job()->id, 0))
        if (line.kind == contracts::LineKind::kMerge)
            CHECK((line.reason == Reason::kPaidMerge || line.reason == Reason::kMergeAttested));
}

}  // namespace assay::node
