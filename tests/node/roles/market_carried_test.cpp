// SPDX-License-Identifier: Apache-2.0
// Markets with the strategies beside the standard one: slots whose moments outlive a round and move with the
// slot to another miner, withheld or not, and updates in FP16.
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::CarriedIn;
using contracts::Reason;

MarketOptions carrying(std::uint32_t rounds) {
    MarketOptions options;
    options.miners = {"mia", "moe", "max"};
    options.rounds = rounds;
    options.inner_state = program::InnerState::kCarried;
    return options;
}

CarriedIn carried_at(const Market& market, std::uint32_t round, std::uint32_t slot) {
    return contracts::carried_in(market.state(), market.job()->id, round, slot);
}

std::optional<contracts::Reveal> reveal_of(const Market& market, const contracts::StateView& state,
                                           std::uint32_t round, std::uint32_t slot) {
    return contracts::read_reveal(state, market.job()->id, round, slot);
}

/// Who keeps the states at the ends of slots to itself.
enum class Keepers : std::uint8_t { kMiners, kEverybody };

/// From the moment on when a slot's last state is known (kEverybody) or stored (kMiners), nobody of `keepers`
/// serves it.
void withhold_ends(Market& market, Keepers keepers) {
    const auto job = market.job();
    if (!job || job->phase != contracts::JobPhase::kRounds) return;
    const bool stored = market.round(job->round).phase > contracts::RoundPhase::kStore;
    if (keepers == Keepers::kMiners && !stored) return;
    for (const auto& slot : contracts::list_slots(market.state(), job->id, job->round)) {
        const auto reveal = reveal_of(market, market.state(), job->round, slot.slot);
        if (!reveal) continue;
        for (const auto& [name, party] : market.parties()) {
            const bool miner = party->node.public_key() == slot.miner;
            if (miner || keepers == Keepers::kEverybody)
                market.party(name).withheld.insert(reveal->carried_blob);
        }
    }
}

bool merges(const contracts::Round& round, const Party& party) {
    return std::any_of(round.merges.begin(), round.merges.end(),
                       [&](const auto& posting) { return posting.verifier == party.node.public_key(); });
}

}  // namespace

TEST_CASE("slots go on with their moments at whichever miner they are dealt to") {
    MarketOptions options = carrying(8);  // enough for slots to change hands
    options.strategy = program::Strategy::kDilocoHalf;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    CHECK(market.job()->end_reason == Reason::kJobComplete);
    const auto state = market.with_evidence();
    int moved = 0;
    for (std::uint32_t round = 0; round < 8; ++round) {
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            INFO("round " << round << ", slot " << slot);
            REQUIRE(market.slot(round, slot).verdict == Reason::kPaid);
            const auto reveal = reveal_of(market, state, round, slot);
            const base::Hash256 before =
                round == 0 ? base::Hash256() : reveal_of(market, state, round - 1, slot)->trace.carried->out;
            CHECK(reveal->trace.carried->in == before);
            if (round > 0 && market.slot(round, slot).miner != market.slot(round - 1, slot).miner) ++moved;
        }
    }
    CHECK(moved > 0);
    for (const auto& [name, party] : market.parties()) {
        INFO(name);
        CHECK((!party->ended || (name == "bea" && !party->error)));
    }
}

TEST_CASE("an update of a market in FP16 is a file of two bytes a parameter") {
    MarketOptions options;
    options.strategy = program::Strategy::kDilocoHalf;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    const auto state = market.with_evidence();
    const std::uint64_t count = program::parameter_count(market.spec().model);
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        REQUIRE(market.slot(0, slot).verdict == Reason::kPaid);
        const BlobId update = reveal_of(market, state, 0, slot)->update_blob;
        std::size_t held = 0;
        for (const auto& [name, party] : market.parties()) {
            if (!party->store->has(update)) continue;
            ++held;
            CHECK(party->store->describe(update).value().size == 8 + 2 * count);
        }
        CHECK(held > 0);
    }
    CHECK(market.round(0).merged);
}

namespace {

/// Whether the miner of the slot had one in the round before, and how many updates of that round are others'.
struct BeforeSlot {
    const Party* miner = nullptr;
    bool trained = false;
    std::uint32_t missing = 0;
};
BeforeSlot before_slot(const Market& market, std::uint32_t round, std::uint32_t slot) {
    BeforeSlot before;
    for (const auto& [name, party] : market.parties()) {
        if (party->node.public_key() == market.slot(round, slot).miner) before.miner = party.get();
    }
    REQUIRE(before.miner != nullptr);
    for (std::uint32_t other = 0; other < market.spec().slots; ++other) {
        const bool own = market.slot(round - 1, other).miner == before.miner->node.public_key();
        before.trained = before.trained || own;
        if (!own) ++before.missing;
    }
    return before;
}

MarketOptions three_miners(program::Strategy strategy) {
    MarketOptions options;
    options.miners = {"mia", "moe", "max"};
    options.rounds = 3;
    options.strategy = strategy;
    return options;
}

}  // namespace

TEST_CASE("whoever trained in a round makes the next base state of its updates; only others fetch it") {
    for (const auto strategy : {program::Strategy::kDiloco, program::Strategy::kDilocoHalf}) {
        Market market(three_miners(strategy));
        market.start();
        REQUIRE(market.turn_until([&] { return market.ended(); }));
        CHECK(market.job()->end_reason == Reason::kJobComplete);
        int made = 0;
        for (std::uint32_t round = 1; round < 3; ++round) {
            for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
                const BeforeSlot before = before_slot(market, round, slot);
                if (!before.trained) continue;  // it may not have the state before
                INFO("round " << round << ", slot " << slot << ", " << before.missing << " updates missing");
                CHECK_FALSE(before.miner->asked_for.contains(market.round(round).base_blob));
                CHECK(before.miner->log.lines_with("is made here, of its updates") > 0);
                made += before.missing > 0 ? 1 : 0;
            }
        }
        CHECK(made > 0);
        for (const std::string name : {"mia", "moe", "max"}) {
            for (const auto& [file, bytes] : market.party(name).notes.files) {
                INFO(file);
                CHECK_FALSE(file.starts_with("updates-"));
            }
        }
    }
}

TEST_CASE(
    "what a miner's process notes about a round is removed when the round is over, by whichever comes") {
    Market market(three_miners(program::Strategy::kDiloco));
    market.start();
    std::map<std::string, Bytes>& notes = market.party("mia").notes.files;
    const auto left = [&](const std::string& kind) {
        return std::count_if(notes.begin(), notes.end(),
                             [&](const auto& note) { return note.first.starts_with(kind); });
    };
    REQUIRE(market.turn_until([&] { return market.at_phase(1, contracts::RoundPhase::kStore); }));
    REQUIRE(left("updates-") == 2);
    const std::string of_ended = std::string(64, 'e');
    const std::vector<std::string> strangers = {"updates-" + of_ended + "-0", "slot-" + of_ended + "-0-1",
                                                "updates-" + market.job()->id.hex()};
    for (const std::string& name : strangers) notes[name] = {1, 2, 3};
    notes["receipt-1"] = {4};
    market.restart_miner("mia");
    for (const std::string& name : strangers) CHECK_FALSE(notes.contains(name));
    CHECK(left("updates-") == 2);  // of the running round, and of the one before
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    for (int i = 0; i < 3; ++i) market.turn();
    CHECK(left("updates-") == 0);
    CHECK(left("slot-") == 0);
    CHECK(notes.contains("receipt-1"));
}

TEST_CASE("a miner that nobody serves a merged update fetches the base state after all") {
    Market market(three_miners(program::Strategy::kDiloco));
    market.start();
    std::map<std::uint32_t, std::set<BlobId>> updates;
    REQUIRE(market.turn_until([&] {
        const auto job = market.job();
        if (!job || job->phase != contracts::JobPhase::kRounds) return market.ended();
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            const auto reveal = reveal_of(market, market.state(), job->round, slot);
            if (reveal) updates[job->round].insert(reveal->update_blob);
            // Once they are merged, nobody serves them.
            if (!market.at_phase(job->round, contracts::RoundPhase::kMergeOpen)) continue;
            for (const auto& [name, party] : market.parties())
                if (reveal) party->withheld.insert(reveal->update_blob);
        }
        return market.ended();
    }));
    CHECK(market.job()->end_reason == Reason::kJobComplete);
    int fetched = 0;
    for (std::uint32_t round = 1; round < 3; ++round) {
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            REQUIRE(market.slot(round, slot).verdict == Reason::kPaid);
            const BeforeSlot before = before_slot(market, round, slot);
            if (before.missing == 0) continue;
            CHECK(before.miner->asked_for.contains(market.round(round).base_blob));
            ++fetched;
        }
    }
    CHECK(fetched > 0);
}

TEST_CASE("moments that nobody serves cost a slot one round, and the next begins with nothing") {
    Market market(carrying(6));
    market.start();
    // Everybody keeps what slots hand on to itself, the verifiers who recomputed it too.
    REQUIRE(market.turn_until([&] { return withhold_ends(market, Keepers::kEverybody), market.ended(); }));
    CHECK(market.job()->end_reason == Reason::kJobComplete);
    int moved = 0;
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            INFO("round " << round << ", slot " << slot);
            const CarriedIn carried = carried_at(market, round, slot);
            const contracts::SlotRound record = market.slot(round, slot);
            if (carried.nothing()) {
                CHECK(record.verdict == Reason::kPaid);
                continue;
            }
            // Another miner cannot go on; the same one can, and shows nobody else from what.
            const bool other = carried.holder != record.miner;
            if (other) CHECK(record.verdict == Reason::kNoCommit);
            if (other) CHECK(carried_at(market, round + 1, slot).nothing());
            if (other) ++moved;
        }
    }
    CHECK(moved > 0);
}

TEST_CASE("moments that the last holder keeps to itself are had from the verifiers who hold them") {
    for (const bool draw_everything : {true, false}) {
        INFO("every segment is drawn: " << draw_everything);
        MarketOptions options = carrying(4);
        options.draw_everything = draw_everything;
        Market market(options);
        market.start();
        // It serves them while they are stored, where somebody must fetch them, and nobody afterwards.
        REQUIRE(market.turn_until([&] { return withhold_ends(market, Keepers::kMiners), market.ended(); }));
        CHECK(market.job()->end_reason == Reason::kJobComplete);
        int moved = 0;
        for (std::uint32_t round = 0; round < 4; ++round) {
            for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
                INFO("round " << round << ", slot " << slot);
                CHECK(market.slot(round, slot).verdict == Reason::kPaid);
                if (round == 0) continue;
                const CarriedIn carried = carried_at(market, round, slot);
                CHECK_FALSE(carried.nothing());
                if (carried.holder != market.slot(round, slot).miner) ++moved;
            }
        }
        CHECK(moved > 0);
    }
}

TEST_CASE("what a miner names as its last boundary and is another file is stored by nobody") {
    MarketOptions options = carrying(2);
    options.miners = {"mia", "moe"};
    Market market(options);
    const std::uint32_t last = program::RoundPlan(market.spec()).last_boundary();
    // What mia stores and names for the boundary is another file than its worker's.
    market.party("mia").worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
        const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
        if (boundary != nullptr && boundary->index == last) answer.bulk = {file_of(base::Bytes(100, 7))};
    };
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    int caught = 0;
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        const contracts::SlotRound record = market.slot(0, slot);
        const bool mias = record.miner == market.party("mia").node.public_key();
        CHECK(record.verdict == (mias ? Reason::kNotStored : Reason::kPaid));
        if (mias) CHECK(carried_at(market, 1, slot).nothing());
        if (mias) ++caught;
    }
    CHECK(caught > 0);
}

TEST_CASE("in jobs that carry, a last boundary whose head names another file of moments is not stored") {
    for (const bool draw_everything : {true, false}) {
        INFO("every segment is drawn: " << draw_everything);
        MarketOptions options = carrying(1);
        options.miners = {"mia", "moe"};
        options.draw_everything = draw_everything;
        Market market(options);
        const std::uint32_t last = program::RoundPlan(market.spec()).last_boundary();
        market.party("mia").worker.falsify = [&](const frames::Message&, WorkerAnswered& answer) {
            const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
            if (boundary == nullptr || boundary->index != last) return;
            auto head = program::decode_state_head(bytes_of_file(answer.bulk[0])).value();
            Bytes moment = bytes_of_file(answer.bulk[3]);
            moment[1] ^= 1;
            head.parts[2].blob = base::blob_id(moment);
            answer.bulk[0] = file_of(program::encode_state_head(head));
            answer.bulk[3] = file_of(moment);
        };
        market.start();
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        int caught = 0;
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            const contracts::SlotRound record = market.slot(0, slot);
            const bool mias = record.miner == market.party("mia").node.public_key();
            CHECK(record.verdict == (mias ? Reason::kNotStored : Reason::kPaid));
            caught += mias ? 1 : 0;
        }
        CHECK(caught > 0);
    }
}

TEST_CASE("whoever goes on with a slot fetches its moments, and no parameters of its last state") {
    Market market(carrying(6));
    market.start();
    std::map<BlobId, program::StateHead> ends;
    REQUIRE(market.turn_until([&] {
        const auto job = market.job();
        if (!job || job->phase != contracts::JobPhase::kRounds) return market.ended();
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            const CarriedIn carried = carried_at(market, job->round, slot);
            for (const auto& [name, party] : market.parties()) {
                if (carried.nothing() || !party->store->has(carried.blob)) continue;
                const auto bytes = party->files->read(carried.blob, program::kMaxHeadBytes);
                ends[carried.blob] = program::decode_state_head(bytes.value()).value();
            }
        }
        return market.ended();
    }));
    int moments = 0;
    for (const auto& [blob, head] : ends) {
        for (const std::string name : {"mia", "moe", "max"}) {
            const Party& party = market.party(name);
            if (!party.asked_for.contains(blob)) continue;
            CHECK_FALSE(party.asked_for.contains(head.part(program::StateArray::kParameters)->blob));
            CHECK(party.asked_for.contains(head.part(program::StateArray::kFirstMoment)->blob));
            CHECK(party.asked_for.contains(head.part(program::StateArray::kSecondMoment)->blob));
            ++moments;
        }
    }
    CHECK(moments > 0);
    for (const std::string name : {"mia", "moe", "max"}) {
        auto& received = market.party(name).received;
        const program::FileSizes sizes = program::file_sizes(market.spec());
        CHECK(received[Traffic::kCarried] % (sizes.slot_head + 2 * sizes.array) == 0);
        CHECK(received[Traffic::kAudit] == 0);
    }
}

TEST_CASE("judges that serve an update slowly keep no merge from ending: the update is trained again") {
    using contracts::RoundPhase;
    bool starved = false;
    for (std::uint64_t luck = 0; luck < 20 && !starved; ++luck) {
        MarketOptions options;
        options.luck = luck;
        Market market(options);
        market.start();
        REQUIRE(market.turn_until([&] {
            if (market.settled(0) || !market.job() || market.job()->phase != contracts::JobPhase::kRounds) {
                return market.settled(0);
            }
            const contracts::Round round = market.round(0);
            if (round.phase < RoundPhase::kAuditOpen) return false;
            for (const std::string& name : options.verifiers) {
                Party& judge = market.party(name);
                judge.trickles = true;
                for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
                    const auto reveal = reveal_of(market, market.state(), 0, slot);
                    const bool lacks = reveal && !judge.store->has(reveal->update_blob);
                    if (lacks && round.phase == RoundPhase::kMergeSeal && merges(round, judge))
                        starved = true;
                }
            }
            return false;
        }));
        CHECK(market.round(0).merged);
        std::size_t stored = 0;
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot)
            stored += market.slot(0, slot).stored ? 1U : 0U;
        CHECK(market.round(0).merged_slots.size() == stored);
    }
    CHECK(starved);
}

}  // namespace assay::node
