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
    bool replayed;  ///< by those who are drawn, as if nothing was served
};

/// Of a head that lists the arrays of a slot's state: parameters, first and second moment.
std::vector<FalseHead> false_heads() {
    return {
        {"an array of another length",
         [](Market&, program::StateHead& head, std::vector<Bytes>& files) {
             files[1].resize(files[1].size() - 4);
             head.parts[0].blob = base::blob_id(files[1]);
         },
         true},
        {"another root",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].root = head.parts[1].root;
         },
         true},
        {"another root of an array that nobody reads",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[2].root = head.parts[1].root;
         },
         true},
        {"one file for two arrays",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].blob = head.parts[1].blob;
         },
         true},
        {"data in an array's place",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             head.parts[0].blob = market.spec().data.train;
         },
         true},
        {"an array is missing",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) { head.parts.pop_back(); }, true},
        {"an array too many",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) {
             head.parts.push_back({program::StateArray::kResidual, {}, head.parts[0].blob});
         },
         true},
        {"an age in a job that carries nothing",
         [](Market&, program::StateHead& head, std::vector<Bytes>&) { head.age = 5; }, true},
        {"a parameter is not a number",
         [](Market&, program::StateHead& head, std::vector<Bytes>& files) {
             files[1][2] = 0xc0;
             files[1][3] = 0x7f;
             head.parts[0].blob = base::blob_id(files[1]);
         },
         true},
        {"the parameters are withheld",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             market.party("mia").withheld.insert(head.parts[0].blob);
         },
         true},
        {"the moments are withheld",
         [](Market& market, program::StateHead& head, std::vector<Bytes>&) {
             market.party("mia").withheld.insert({head.parts[1].blob, head.parts[2].blob});
         },
         false},
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
    "an array that a false head does not give to its auditors was not served: the slot is replayed and "
    "paid") {
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
            CHECK(slot.verdict == Reason::kPaid);
            // The starts are open, so that one more says whether they are served, if there is one.
            const auto drawn = static_cast<int>(slot.verifiers.size());
            CHECK(drawn ==
                  (one.replayed ? static_cast<int>(std::min<std::size_t>(slot.panel + 1, 3)) : drawn));
            CHECK(market.audited(0, slot.slot).replayed == (one.replayed ? drawn : 0));
            CHECK(market.line_of(0, slot.slot).replays.is_zero() == !one.replayed);
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
        std::size_t audits = 0;
        std::size_t places = 0;
        for (std::uint64_t luck = 0; luck < 20 && audits == 0; ++luck) {
            MarketOptions options = finalise_alone(inner_state);
            options.luck = luck;
            Market market(options);
            market.start();
            REQUIRE(market.turn_until([&] { return market.settled(0); }));
            // Segment 0 starts from nothing that anybody serves.
            bool others_drawn = false;
            for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
                CHECK(market.slot(0, i).verdict == Reason::kPaid);
                for (const std::uint32_t unit : market.slot(0, i).drawn_units)
                    others_drawn = others_drawn || (unit != 0 && unit != 3);
            }
            if (others_drawn) continue;
            for (std::uint32_t i = 0; i < market.spec().slots; ++i)
                places += market.slot(0, i).verifiers.size();
            const program::FileSizes sizes = program::file_sizes(market.spec());
            const std::uint64_t each = sizes.slot_head + (inner_state == kCarried ? 3 : 1) * sizes.array;
            for (const std::string name : {"vera", "viki", "vito"}) {
                INFO(name);
                Party& party = market.party(name);
                std::uint64_t drawn = 0;
                for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
                    const auto slot = market.slot(0, i);
                    drawn +=
                        std::set(slot.verifiers.begin(), slot.verifiers.end()).count(party.node.public_key());
                }
                CHECK(party.received[Traffic::kAudit] == drawn * each);
                audits += drawn;
            }
        }
        CHECK(audits > 0);
        CHECK(audits == places);
    }
}

}  // namespace assay::node
