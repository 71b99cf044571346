// SPDX-License-Identifier: Apache-2.0
// Markets in which a miner names false files for a slot's state, and what bytes an audit of one moves.
#include "contracts/program/round_plan.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {

using namespace test_market;
using contracts::Reason;

namespace {

/// A false head for the last boundary's state, with files of the cheat's own beside it.
struct FalseHead {
    const char* name;
    std::function<void(Market&, program::StateHead&, std::vector<Bytes>& files)> change;
    Reason verdict;
};

/// Of a head that lists the arrays of a slot's state: parameters, first and second moment.
std::vector<FalseHead> false_heads() {
    return {
        {"an array of another length",
         [](Market&, program::StateHead& head, std::vector<Bytes>& files) {
             files[1].resize(files[1].size() - 4);
             head.parts[0].blob = base::blob_id(files[1]);
         },
         Reason::kUnavailable},
        {"another root",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].root = head.parts[1].root;
         },
         Reason::kUnavailable},
        {"another root of an array that nobody reads",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[2].root = head.parts[1].root;
         },
         Reason::kUnavailable},
        {"one file for two arrays",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].blob = head.parts[1].blob;
         },
         Reason::kUnavailable},
        {"data in an array's place",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].blob = market.spec().data.train;
         },
         Reason::kUnavailable},
        {"an array is missing",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) { head.parts.pop_back(); },
         Reason::kUnavailable},
        {"an array too many",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts.push_back({program::StateArray::kResidual, {}, head.parts[0].blob});
         },
         Reason::kUnavailable},
        {"an age in a job that carries nothing",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) { head.age = 5; }, Reason::kUnavailable},
        {"a parameter is not a number",
         [](Market&, program::StateHead& head, std::vector<Bytes>& files) {
             files[1][2] = 0xc0;
             files[1][3] = 0x7f;
             head.parts[0].blob = base::blob_id(files[1]);
         },
         Reason::kUnavailable},
        {"the parameters are withheld",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             market.party("mia").withheld.insert(head.parts[0].blob);
         },
         Reason::kUnavailable},
        {"the moments are withheld",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             market.party("mia").withheld.insert({head.parts[1].blob, head.parts[2].blob});
         },
         Reason::kPaid},
    };
}

MarketOptions finalise_alone(program::InnerState inner_state = program::InnerState::kReset) {
    MarketOptions options;
    options.draw_everything = false;
    options.rounds = 1;
    options.inner_state = inner_state;
    return options;
}

}  // namespace

TEST_CASE(
    "an array that a false head does not give to its auditors was not served: unpaid, and nothing else") {
    for (const FalseHead& one : false_heads()) {
        INFO(one.name);
        Market market(finalise_alone());
        market.start();
        market.party("mia").worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
            const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
            if (boundary == nullptr || boundary->index != program::RoundPlan(market.spec()).last_boundary()) {
                return;
            }
            std::vector<Bytes> files = contents_of(answer.bulk);
            auto head = program::decode_state_head(files[0]).value();
            one.change(market, head, files);
            files[0] = program::encode_state_head(head);
            answer.bulk = files_of(files);
        };
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        const auto held = slots_of(market, "mia", 0);
        REQUIRE_FALSE(held.empty());
        for (const auto& slot : held) {
            REQUIRE(slot.drawn_units == std::vector<std::uint32_t>{3});
            CHECK(slot.verdict == one.verdict);
        }
        for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
        CHECK(market.round(0).merged);
    }
}

TEST_CASE("a miner whose worker names an array that it does not give commits nothing, and rests in between") {
    Market market(finalise_alone());
    market.start();
    Party& mia = market.party("mia");
    mia.worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
        if (!std::holds_alternative<frames::Boundary>(answer.message)) return;
        auto head = program::decode_state_head(bytes_of_file(answer.bulk[0])).value();
        head.parts[1].blob = base::hash("test", base::as_bytes("nobody's file"));
        answer.bulk[0] = file_of(program::encode_state_head(head));
    };
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    check_nobody_ended(market);
    for (const auto& slot : slots_of(market, "mia", 0)) CHECK(slot.verdict == Reason::kNoCommit);
    for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
    CHECK(mia.worker.asked[frames::FrameKind::kTrain] > 0);
    CHECK(mia.worker.asked[frames::FrameKind::kTrain] < 12);
}

TEST_CASE("an audit of finalise moves a head and parameters, and moments only where they are handed on") {
    using enum program::InnerState;
    for (const auto inner_state : {kReset, kCarried}) {
        Market market(finalise_alone(inner_state));
        market.start();
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        const program::FileSizes sizes = program::file_sizes(market.spec());
        const std::uint64_t each = sizes.slot_head + (inner_state == kCarried ? 3 : 1) * sizes.array;
        int audits = 0;
        for (const std::string name : {"vera", "viki", "vito"}) {
            INFO(name);
            Party& party = market.party(name);
            std::uint64_t drawn = 0;
            for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
                const auto slot = market.slot(0, i);
                CHECK(slot.verdict == Reason::kPaid);
                // Segment 0 starts from nothing that anybody serves.
                const std::set units(slot.drawn_units.begin(), slot.drawn_units.end());
                REQUIRE((units == std::set<std::uint32_t>{3} || units == std::set<std::uint32_t>{0, 3}));
                drawn +=
                    std::set(slot.verifiers.begin(), slot.verifiers.end()).count(party.node.public_key());
            }
            CHECK(party.received[Traffic::kAudit] == drawn * each);
            audits += static_cast<int>(drawn);
        }
        CHECK(audits == 4);  // two slots, two verifiers each
    }
}

}  // namespace assay::node
