// SPDX-License-Identifier: Apache-2.0
// A whole market, in which somebody sends what nobody honest would, keeps back what it owes, or has no room
// left. Everybody else goes on, and nobody honest is accused.
#include <bit>

#include "contracts/program/round_plan.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;
using contracts::RoundPhase;

/// The miner's trace in a round, as it will be committed, and the files that it will serve.
struct Forgery {
    std::uint32_t boundary;
    std::function<void(trainer::SlotState&)> change;
};

/// Lets a miner commit another state at one boundary: root and bytes agree, the place does not.
void forge_boundary(Market& market, const std::string& miner, const Forgery& forgery) {
    const auto& spec = market.spec();
    const auto tensors = program::parameter_tensors(spec.model);
    auto root = std::make_shared<base::Hash256>();
    market.party(miner).worker.falsify = [=, &spec](const frames::Message& request, WorkerAnswered& answer) {
        if (!std::holds_alternative<frames::Train>(request)) return;
        if (auto* boundary = std::get_if<frames::Boundary>(&answer.message)) {
            if (boundary->index == forgery.boundary) {
                auto state = tests::state_of_files(spec, contents_of(answer.bulk));
                forgery.change(state);
                *root = program::slot_state_root(tensors, state.parameters, state.first_moment,
                                                 state.second_moment, state.step, state.cursor);
                answer.bulk = files_of(tests::files_of_state(spec, state));
            }
            if (boundary->index >= forgery.boundary) boundary->so_far.boundaries[forgery.boundary] = *root;
        }
        if (auto* trained = std::get_if<frames::Trained>(&answer.message)) {
            trained->trace.boundaries[forgery.boundary] = *root;
        }
    };
}

}  // namespace

TEST_CASE("an honest market trains, merges and pays, and everybody is there at its end") {
    Market market;
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_nobody_ended(market);
    CHECK(market.job()->end_reason == Reason::kJobComplete);
    for (std::uint32_t round = 0; round < 2; ++round) {
        CHECK(market.round(round).merged);
        for (std::uint32_t slot = 0; slot < 2; ++slot)
            CHECK(market.slot(round, slot).verdict == Reason::kPaid);
    }
    // What they kept for their seals goes with the rounds.
    market.turn();
    for (const std::string name : {"vera", "viki", "vito"}) {
        INFO(name);
        for (const char* kind : {"audit-", "merge-"})
            CHECK(market.party(name).notes.names(kind).value().empty());
    }
}

TEST_CASE("a state with the claimed root and the wrong step or cursor is found; no verifier ends") {
    struct Case {
        const char* name;
        std::uint32_t boundary;
        std::function<void(trainer::SlotState&)> change;
    };
    const std::vector<Case> cases = {
        {"cursor, inside", 1, [](auto& state) { state.cursor += 1; }},
        {"step, inside", 2, [](auto& state) { state.step -= 1; }},
        {"step, before finalise", 3, [](auto& state) { state.step += 1; }},
        {"cursor, before finalise", 3, [](auto& state) { state.cursor = 0; }},
        {"not a number, inside", 1,
         [](auto& state) { state.first_moment[0] = std::bit_cast<float>(0x7fc00000U); }},
    };
    for (const Case& one : cases) {
        INFO(one.name);
        Market market;
        market.start();
        forge_boundary(market, "mia", {one.boundary, one.change});
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        const auto forged = slots_of(market, "mia", 0);
        REQUIRE_FALSE(forged.empty());
        for (const auto& slot : forged) {
            CHECK(slot.verdict == Reason::kPaidAccused);
            CHECK_FALSE(slot.fault_found.is_zero());
            // The unit that ends in the false state is the first that is wrong.
            CHECK(slot.fault_unit == one.boundary - 1);
        }
        for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
        CHECK(market.round(0).merged);
    }
}

TEST_CASE("where only the unit after it is drawn, a state out of its place has a root of its own") {
    int alone = 0;
    for (std::uint64_t luck = 0; luck < 20 && alone == 0; ++luck) {
        MarketOptions options;
        options.draw_everything = false;
        options.luck = luck;
        Market market(options);
        market.start();
        forge_boundary(market, "mia", {3, [](auto& state) { state.cursor += 7; }});
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        for (const auto& slot : slots_of(market, "mia", 0)) {
            CHECK(slot.verdict == Reason::kPaidAccused);
            if (slot.drawn_units != std::vector<std::uint32_t>{3}) continue;
            ++alone;
            CHECK(slot.fault_unit == 3);
            CHECK(slot.verifiers.size() == slot.panel);  // nobody else was needed
        }
    }
    CHECK(alone > 0);
}

TEST_CASE("a miner that trickles what it serves pays for the replay of its slot, and its cheat is found") {
    for (const bool cheats : {false, true}) {
        INFO((cheats ? "a cheat" : "honest work"));
        MarketOptions options;
        options.draw_everything = cheats;  // `finalise` alone starts from what the miner serves
        Market market(options);
        market.start();
        market.party("mia").trickles = true;
        if (cheats) forge_boundary(market, "mia", {1, [](auto& state) { state.parameters[5] += 1.0F; }});
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        for (const auto& slot : slots_of(market, "mia", 0)) {
            CHECK(slot.fault_found.is_zero() == !cheats);
            if (cheats) continue;
            CHECK(slot.verdict == Reason::kPaid);
            CHECK(market.audited(0, slot.slot).replayed == static_cast<int>(slot.verifiers.size()));
            CHECK(market.audited(0, slot.slot).served == 0);
            CHECK_FALSE(market.line_of(0, slot.slot).replays.is_zero());
        }
        const auto others = slots_of(market, "moe", 0);
        REQUIRE_FALSE(others.empty());
        for (const auto& slot : others) CHECK(slot.verdict == Reason::kPaid);
    }
}

namespace {

/// The first market of these options in which zoe holds slot 0 and moe slot 1 of round 0; zoe names moe's
/// last boundary blob as her own.
std::unique_ptr<Market> with_borrowed_blob() {
    for (std::uint64_t luck = 0; luck < 20; ++luck) {
        MarketOptions options;
        options.miners = {"moe", "zoe"};  // in the order in which they work
        options.verifiers = {"vera", "viki"};
        options.draw_everything = false;  // `finalise` alone starts from what the miner serves
        options.luck = luck;
        auto market = std::make_unique<Market>(options);
        const std::uint32_t last = program::RoundPlan(market->spec()).last_boundary();
        auto moes = std::make_shared<std::vector<SharedDescriptor>>();
        const auto of_last = [last](const WorkerAnswered& answer) {
            const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
            return boundary != nullptr && boundary->index == last;
        };
        market->party("moe").worker.falsify = [=](const frames::Message&, WorkerAnswered& answer) {
            if (of_last(answer)) *moes = answer.bulk;
        };
        market->party("zoe").worker.falsify = [=](const frames::Message&, WorkerAnswered& answer) {
            if (of_last(answer) && !moes->empty()) answer.bulk = *moes;
        };
        market->start();
        REQUIRE(market->turn_until([&] { return market->at_phase(0, RoundPhase::kCommit); }));
        if (market->slot(0, 0).miner == market->party("zoe").node.public_key() &&
            market->slot(0, 1).miner == market->party("moe").node.public_key()) {
            return market;
        }
    }
    return nullptr;
}

}  // namespace

TEST_CASE("a miner that names another's blob as its own has its slot replayed, and nobody else's is") {
    const auto market = with_borrowed_blob();
    REQUIRE(market);
    // Nobody serves in its name; the other miner serves what it owes.
    market->party("zoe").serves = false;
    std::set<BlobId> named;
    REQUIRE(market->turn_until([&] {
        for (std::uint32_t slot = 0; !market->settled(0) && slot < 2; ++slot) {
            const auto serve = contracts::read_serve(market->state(), market->job()->id, 0, slot);
            if (serve && !serve->starts.empty()) named.insert(serve->starts.back().blob);
        }
        return market->settled(0);
    }));
    REQUIRE(named.size() == 1);
    check_nobody_ended(*market);
    for (const std::uint32_t slot : {0U, 1U}) CHECK(market->slot(0, slot).verdict == Reason::kPaid);
    CHECK(market->audited(0, 0).replayed == static_cast<int>(market->slot(0, 0).verifiers.size()));
    CHECK(market->audited(0, 1).served == static_cast<int>(market->slot(0, 1).verifiers.size()));
}

TEST_CASE(
    "a miner that has no room for a while is waited for, and of one that never has the slot is replayed") {
    for (const bool for_ever : {false, true}) {
        INFO("for ever: " << for_ever);
        MarketOptions options;
        options.draw_everything = false;
        options.audit_window = 800;  // after three tries and 200 heights a slot is replayed
        Market market(options);
        market.start();
        REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kServe); }));
        market.party("mia").busy = true;
        REQUIRE(market.turn_until(
            [&] {
                if (!for_ever && market.at_phase(0, RoundPhase::kAuditSeal)) {
                    market.party("mia").busy = market.round(0).phase_deadline > market.height() + 640;
                }
                return market.settled(0);
            },
            1'000));
        check_nobody_ended(market);
        for (const auto& slot : slots_of(market, "mia", 0)) {
            CHECK(slot.verdict == Reason::kPaid);
            const auto drawn = static_cast<int>(slot.verifiers.size());
            CHECK(market.audited(0, slot.slot).replayed == (for_ever ? drawn : 0));
        }
        for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
    }
}

TEST_CASE("what a verifier enlisted with stays from its enlistment on") {
    Market market;
    market.start();
    const auto enlisted = [&](const std::string& name) {
        const auto job = market.job();
        return job && std::any_of(job->verifiers.begin(), job->verifiers.end(), [&](const auto& entry) {
                   return entry.node == market.party(name).node.public_key();
               });
    };
    REQUIRE(market.turn_until([&] { return enlisted("vera"); }));
    market.turn();
    REQUIRE(market.job()->phase != contracts::JobPhase::kRounds);
    for (const BlobId& blob : {market.spec().data.train, market.spec().data.held_out}) {
        REQUIRE(market.party("vera").store->has(blob));
        CHECK_FALSE(market.party("vera").store->is_evictable(blob));
    }
}

TEST_CASE("blobs that are no states or updates are bytes that nobody holds: unpaid, and everybody lives on") {
    struct Case {
        const char* name;
        std::function<Bytes(const Bytes&)> change;
    };
    const std::vector<Case> cases = {
        {"truncated",
         [](Bytes bytes) {
             bytes.resize(bytes.size() / 2);
             return bytes;
         }},
        {"trailing bytes",
         [](Bytes bytes) {
             bytes.resize(bytes.size() + 8);
             return bytes;
         }},
        {"no bytes", [](const Bytes&) { return Bytes{1}; }},
        {"another magic",
         [](Bytes bytes) {
             bytes[0] ^= 0x20;
             return bytes;
         }},
        {"another version",
         [](Bytes bytes) {
             bytes[7] = '2';
             return bytes;
         }},
        {"other parameters",
         [](Bytes bytes) {
             bytes.resize(bytes.size() - 12);
             return bytes;
         }},
        {"noise",
         [](Bytes bytes) {
             for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
             return bytes;
         }},
        {"another state",
         [](Bytes bytes) {
             bytes[16] ^= 1;
             return bytes;
         }},
        {"a step, and an update, beyond all",
         [](Bytes bytes) {
             bytes[15] = 0x7f;
             bytes[14] = 0xc0;
             return bytes;
         }},
    };
    for (const Case& one : cases) {
        INFO(one.name);
        MarketOptions options;
        options.rounds = 1;
        Market market(options);
        market.start();
        market.party("mia").worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
            if (!std::holds_alternative<frames::Train>(request) || answer.bulk.empty()) return;
            answer.bulk.front() = file_of(one.change(bytes_of_file(answer.bulk.front())));
        };
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        for (const auto& slot : slots_of(market, "mia", 0)) {
            CHECK(slot.verdict == Reason::kNotStored);
        }
        for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
    }
}

TEST_CASE(
    "an update that nobody recomputed must be held by most, and be the claimed one; then it is merged") {
    struct Case {
        const char* name;
        std::function<void(Market&, Party&)> does;
        Reason verdict;
    };
    const auto in_trained = [](Party& party, std::function<void(frames::Trained&, WorkerAnswered&)> change) {
        party.worker.falsify = [change](const frames::Message& request, WorkerAnswered& answer) {
            auto* trained = std::get_if<frames::Trained>(&answer.message);
            if (std::holds_alternative<frames::Train>(request) && trained != nullptr)
                change(*trained, answer);
        };
    };
    const std::vector<Case> cases = {
        {"honest", [](Market&, Party&) {}, Reason::kPaid},
        {"withheld", [](Market&, Party& mia) { mia.serves = false; }, Reason::kNotStored},
        {"another update's file",
         [&](Market& market, Party& mia) {
             in_trained(mia, [&](frames::Trained&, WorkerAnswered& answer) {
                 const std::uint64_t count = program::parameter_count(market.spec().model);
                 auto update =
                     trainer::decode_update(bytes_of_file(answer.bulk[0]), count, market.spec()).value();
                 update.values[3] += 1;
                 answer.bulk[0] = file_of(trainer::encode_update(update, market.spec()));
             });
         },
         Reason::kNotStored},
        {"no update's file",
         [&](Market&, Party& mia) {
             in_trained(mia, [](frames::Trained&, WorkerAnswered& answer) {
                 answer.bulk[0] = file_of(Bytes(bytes_of_file(answer.bulk[0]).size(), std::uint8_t{1}));
             });
         },
         Reason::kNotStored},
    };
    for (const Case& one : cases) {
        INFO(one.name);
        MarketOptions options;
        options.draw_everything = false;
        options.draw_finalise = false;
        options.rounds = 1;
        Market market(options);
        market.start();
        one.does(market, market.party("mia"));
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        const auto held = slots_of(market, "mia", 0);
        REQUIRE_FALSE(held.empty());
        for (const auto& slot : held) {
            REQUIRE(slot.drawn_units.empty());
            CHECK(slot.verdict == one.verdict);
            CHECK(market.line_of(0, slot.slot).lost.is_zero());
        }
        for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
        CHECK(market.round(0).merged);
        for (const auto& [name, party] : market.parties())
            CHECK(party->worker.asked[frames::FrameKind::kReplay] == 0);
    }
}

TEST_CASE("an update that is named as another file is stored by nobody, though it is right") {
    MarketOptions options;
    options.draw_everything = false;
    options.rounds = 1;
    Market market(options);
    market.start();
    market.party("mia").worker.falsify = [](const frames::Message& request, WorkerAnswered& answer) {
        // The trace is true; the miner stores, and will name, other bytes as its update.
        if (!std::holds_alternative<frames::Train>(request)) return;
        if (std::holds_alternative<frames::Trained>(answer.message)) {
            Bytes other = bytes_of_file(answer.bulk.front());
            other.back() ^= 1;
            answer.bulk = {file_of(other)};
        }
    };
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    check_nobody_ended(market);
    for (const auto& slot : slots_of(market, "mia", 0)) CHECK(slot.verdict == Reason::kNotStored);
}

namespace {
std::vector<frames::RefusalReason> every_reason() {
    std::vector<frames::RefusalReason> all;
    for (int number = 0; number < 256; ++number) {
        const auto reason = static_cast<frames::RefusalReason>(number);
        if (frames::to_text(reason) != "unknown reason") all.push_back(reason);
    }
    return all;
}

/// Refusals that say that this machine's own bits count for nothing, or that it has lost its device. Nothing
/// else ends a role.
bool is_own_failure(frames::FrameKind asked, frames::RefusalReason reason) {
    using enum frames::FrameKind;
    // What is asked before a slot is worked gives no bits that anybody would take.
    const bool computes =
        asked == kTrain || asked == kReplay || asked == kMerge || asked == kEvaluate || asked == kRoot;
    const std::string_view said = frames::to_text(reason);
    return computes && (said == "this machine is not sound" || said == "the device is lost");
}
}  // namespace

TEST_CASE(
    "whatever its worker refuses, a miner and a verifier live on, unless their machine is not sound or "
    "lost") {
    using enum frames::FrameKind;
    const auto reasons = every_reason();
    REQUIRE(reasons.size() == 12);
    for (const auto asked : {kOpenJob, kInitial, kTrain, kReplay, kMerge, kEvaluate, kRoot}) {
        for (const auto reason : reasons) {
            INFO("request " << static_cast<int>(asked) << " is refused: " << frames::to_text(reason));
            MarketOptions options;
            options.rounds = 1;
            Market market(options);
            market.start();
            std::set<std::string> refused;
            for (const std::string who : {"mia", "vera"}) {
                market.party(who).worker.instead =
                    [&, who](const frames::Message& message) -> std::optional<frames::Message> {
                    if (frames::kind_of(message) != asked) return std::nullopt;
                    refused.insert(who);
                    return frames::Refusal{reason, "said the worker", {}};
                };
            }
            market.turn_until([&] { return market.ended(); }, 120);
            if (asked == kTrain) CHECK(refused.contains("mia"));
            if (asked == kReplay) CHECK(refused.contains("vera"));
            for (const auto& [name, party] : market.parties()) {
                INFO(name << ": " << (party->error ? party->error->what : ""));
                if (name == "bea")
                    CHECK_FALSE(party->error);
                else
                    CHECK(party->ended == (refused.contains(name) && is_own_failure(asked, reason)));
            }
            // Silence is the most that a refusal brings: no slot is replayed for it.
            if (!market.job()) continue;
            for (const auto& claim : market.claims("vera", 0)) CHECK_FALSE(claim.replayed);
        }
    }
}

TEST_CASE("a wrong frame in answer to any request ends nobody") {
    using enum frames::FrameKind;
    for (const std::string who : {"mia", "vera"}) {
        for (const auto asked : {kOpenJob, kInitial, kTrain, kReplay, kMerge, kEvaluate}) {
            INFO(who << ", request " << static_cast<int>(asked));
            MarketOptions options;
            options.rounds = 1;
            Market market(options);
            market.start();
            market.party(who).worker.instead =
                [&](const frames::Message& message) -> std::optional<frames::Message> {
                if (frames::kind_of(message) != asked) return std::nullopt;
                return frames::Rooted{};
            };
            market.turn_until([&] { return market.ended(); }, 120);
            CHECK_FALSE(market.party(who).ended);
        }
    }
}

TEST_CASE("a role whose own notes cannot be written ends: it could not open what it seals") {
    Market market;
    market.start();
    market.party("vera").notes.refuses = true;
    market.turn_until([&] { return market.party("vera").ended; }, 120);
    REQUIRE(market.party("vera").ended);
    CHECK(market.party("vera").error->what.find("notes") != std::string::npos);
}

}  // namespace assay::node
