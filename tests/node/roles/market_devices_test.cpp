// SPDX-License-Identifier: Apache-2.0
// A miner whose worker has several devices: slots side by side, devices that are put out of use, and slots
// that cannot be done in time any more.
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;

constexpr std::uint64_t kOneSlotHeights = 6;

MarketOptions one_miner(std::uint64_t block_interval_ms = 0) {
    MarketOptions options;
    options.miners = {"mia"};
    options.rounds = 1;
    options.block_interval_ms = block_interval_ms;
    return options;
}

constexpr const char* kTrainedAgain =
    "is trained again from its start: a device that trained it computes other bits";

bool logged(const Party& party, const std::string& words) { return party.log.lines_with(words) > 0; }

const frames::Train* train_of(const frames::Message& message) { return std::get_if<frames::Train>(&message); }

}  // namespace

TEST_CASE("a miner has as many slots at work at a time as its worker has devices") {
    for (const std::size_t devices : {1U, 2U}) {
        INFO(devices << " devices");
        Market market(one_miner());
        market.start();
        market.party("mia").worker.devices = devices;
        REQUIRE(market.turn_until([&] { return market.ended(); }));
        check_all_paid(market);
        CHECK(market.party("mia").worker.most_at_a_time == devices);
        CHECK(market.party("mia").worker.asked.at(frames::FrameKind::kTrain) == 2);
    }
}

TEST_CASE("a slot whose device fails is trained again from its last boundary, and its round is paid") {
    Market market(one_miner());
    market.start();
    LocalWorker& worker = market.party("mia").worker;
    worker.devices = 2;
    std::vector<std::size_t> from;  // boundaries that each request for slot 0 goes on from
    bool failed = false;
    worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr || train->slot != 0 || !answer.last) return;
        from.push_back(train->resume ? train->resume->boundaries.size() - 1 : 0);
        if (std::exchange(failed, true)) return;
        worker.devices = 1;
        answer.bulk.clear();
        answer.message = frames::Refusal{frames::RefusalReason::kInternal, "device cuda:1 fails: lost", {}};
    };
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_all_paid(market);
    CHECK(from == std::vector<std::size_t>{0, 3});
    CHECK(logged(market.party("mia"), "device cuda:1 fails: lost; it is tried again"));
}

TEST_CASE("of a slot that a device with other bits trained nothing is kept") {
    Market market(one_miner());
    market.start();
    LocalWorker& worker = market.party("mia").worker;
    worker.devices = 2;
    std::vector<bool> resumed;
    bool spoiled = false;
    worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr || train->slot != 0) return;
        answer.device = spoiled ? "cuda:0" : "cuda:1";
        if (!answer.last) return;
        resumed.push_back(train->resume.has_value());
        if (std::exchange(spoiled, true)) return;
        worker.devices = 1;
        answer.bulk.clear();
        answer.message = frames::Refusal{frames::RefusalReason::kInternal, "it computes other bits", {}};
        answer.spoiled = true;
    };
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_all_paid(market);
    CHECK(resumed == std::vector{false, false});
    CHECK(logged(market.party("mia"), kTrainedAgain));
}

TEST_CASE(
    "a device that is found to have other bits loses what it trained before, and no other device does") {
    Market market(one_miner());
    market.start();
    Party& mia = market.party("mia");
    mia.worker.devices = 2;
    std::map<std::uint32_t, std::vector<bool>> resumed;  // by slot
    bool failed = false, found = false;
    mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr) return;
        // Slot 0 begins on cuda:0, which is lost at its end; slot 1 is trained by cuda:1 meanwhile.
        answer.device = train->slot == 0 && !failed ? "cuda:0" : "cuda:1";
        const bool boundary = std::holds_alternative<frames::Boundary>(answer.message);
        if (train->slot == 1 && boundary && !std::exchange(found, true))
            mia.role->step(DeviceUnsound{"cuda:0"});
        if (!answer.last) return;
        resumed[train->slot].push_back(train->resume.has_value());
        if (train->slot != 0 || std::exchange(failed, true)) return;
        answer.bulk.clear();
        answer.message = frames::Refusal{frames::RefusalReason::kInternal, "device cuda:0 is lost", {}};
    };
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_all_paid(market);
    CHECK(resumed[0] == std::vector{false, false});
    CHECK(resumed[1] == std::vector{false});
    CHECK(mia.log.lines_with(kTrainedAgain) == 1);
}

TEST_CASE(
    "a slot that goes on from the boundaries of a device with other bits is stopped, and begins again") {
    Market market(one_miner());
    market.start();
    Party& mia = market.party("mia");
    std::vector<bool> resumed;
    bool failed = false, found = false;
    mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr || train->slot != 0) return;
        answer.device = failed ? "cuda:1" : "cuda:0";
        if (train->resume && !std::exchange(found, true)) mia.role->step(DeviceUnsound{"cuda:0"});
        if (!answer.last) return;
        resumed.push_back(train->resume.has_value());
        if (std::exchange(failed, true)) return;
        answer.bulk.clear();
        answer.message = frames::Refusal{frames::RefusalReason::kInternal, "device cuda:0 is lost", {}};
    };
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_all_paid(market);
    CHECK(resumed == std::vector{false, true, false});
}

TEST_CASE("a process whose only device has other bits leaves nothing of it for the next one to go on from") {
    for (const bool unsound : {false, true}) {
        INFO(unsound);
        Market market(one_miner());
        market.start();
        Party& mia = market.party("mia");
        std::vector<bool> resumed;
        bool failed = false;
        mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
            const auto* train = train_of(request);
            if (train == nullptr || train->slot != 0) return;
            answer.device = failed ? "cpu" : "cuda:0";
            if (!answer.last) return;
            resumed.push_back(train->resume.has_value());
            if (std::exchange(failed, true)) return;
            answer.bulk.clear();
            answer.message = frames::Refusal{frames::RefusalReason::kInternal, "device cuda:0 is lost", {}};
        };
        REQUIRE(market.turn_until([&] { return failed; }));
        if (unsound) mia.role->step(DeviceUnsound{"cuda:0"});
        market.restart_miner("mia");
        REQUIRE(market.turn_until([&] { return market.ended(); }));
        check_all_paid(market);
        CHECK(resumed == std::vector{false, !unsound});
    }
}

TEST_CASE(
    "at the pace at which blocks really come both slots are done, though the ledger allows a quicker one") {
    Market market(one_miner(20));  // 16 heights are 320 ms by the ledger, and half a minute here
    market.start();
    market.party("mia").worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
        if (std::holds_alternative<frames::Boundary>(answer.message))
            market.party("mia").clock.now += 200'000'000;
    };
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    CHECK(market.slot(0, 0).verdict == Reason::kPaid);
    CHECK(market.slot(0, 1).verdict == Reason::kPaid);
}

TEST_CASE("a slot that cannot be done before the commits end is not begun, and the log says why") {
    // A block takes 2 s here, a hundred times of what the ledger allows, and three segments more than is
    // left.
    MarketOptions options = one_miner(20);
    options.commit_window = kOneSlotHeights;
    Market market(options);
    market.start();
    LocalWorker& worker = market.party("mia").worker;
    std::set<std::uint32_t> trained;
    worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr) return;
        trained.insert(train->slot);
        if (std::holds_alternative<frames::Boundary>(answer.message))
            market.party("mia").clock.now += 3'000'000'000;
    };
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    CHECK(trained == std::set<std::uint32_t>{0});
    CHECK(market.slot(0, 0).verdict == Reason::kPaid);
    CHECK(market.slot(0, 1).verdict != Reason::kPaid);
    CHECK(logged(market.party("mia"), "slot 1 is not trained any more: 3 segments of at least "));
}

TEST_CASE("a slot that would be late moves once to a quicker device that is free") {
    Market market(one_miner(20));
    market.start();
    LocalWorker& worker = market.party("mia").worker;
    worker.devices = 2;
    int requests = 0;
    worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = train_of(request);
        if (train == nullptr || train->slot != 1) return;
        const bool boundary = std::holds_alternative<frames::Boundary>(answer.message);
        if (boundary && !train->resume) market.party("mia").clock.now += 200'000'000;
        if (answer.last) ++requests;
    };
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_all_paid(market);
    CHECK(requests == 2);
    CHECK(logged(market.party("mia"), "slot 1 moves to a faster device, which is free"));
}

}  // namespace assay::node
