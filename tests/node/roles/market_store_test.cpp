// SPDX-License-Identifier: Apache-2.0
// A market in which updates are withheld, and one in which stores are full. What a party cannot get or keep
// itself it is silent about: it accuses nobody, commits nothing that it could not serve, and goes on.
#include "contracts/arithmetic/update.hpp"
#include "contracts/base/blob_id.hpp"
#include "contracts/program/kept_bytes.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;
using contracts::RoundPhase;

/// A cheat in the last segment, which is not drawn: the update follows from the false end, and so `finalise`
/// is right. The miner serves its states and keeps the update back.
void cheat_undrawn_and_withhold(Market& market, const std::string& miner) {
    const auto& spec = market.spec();
    const std::uint64_t count = program::parameter_count(spec.model);
    const auto tensors = program::parameter_tensors(spec.model);
    auto end = std::make_shared<trainer::SlotState>();
    auto root = std::make_shared<base::Hash256>();
    Party& party = market.party(miner);
    party.worker.falsify = [=, &party](const frames::Message& request, WorkerAnswered& answer) {
        if (!std::holds_alternative<frames::Train>(request)) return;
        if (auto* boundary = std::get_if<frames::Boundary>(&answer.message);
            boundary != nullptr && boundary->index == program::RoundPlan(spec).segments()) {
            *end = tests::state_of_files(spec, contents_of(answer.bulk));
            end->parameters[7] += 0.125F;
            *root = program::slot_state_root(tensors, end->parameters, end->first_moment, end->second_moment,
                                             end->step, end->cursor);
            boundary->so_far.boundaries.back() = *root;
            answer.bulk = files_of(tests::files_of_state(spec, *end));
        }
        if (auto* trained = std::get_if<frames::Trained>(&answer.message)) {
            trainer::Update update;
            update.values.resize(count);
            const auto base = program::initial_parameters(spec.model, spec.seed);
            REQUIRE(
                arithmetic::update_finalise(spec.train.sum_exponent, base, end->parameters, update.values));
            trained->trace.boundaries.back() = *root;
            trained->trace.update = program::update_root(tensors, update.values);
            const Bytes file = trainer::encode_update(update, spec);
            party.withheld.insert(base::blob_id(file));
            answer.bulk = {file_of(file)};
        }
    };
}

std::string name_of(const Market& market, const base::PublicKey& node) {
    for (const auto& [name, party] : market.parties()) {
        if (party->node.public_key() == node) return name;
    }
    return {};
}

BlobDescription description_of(const Bytes& content) {
    BlobDescription description{content.size(), {}};
    for (std::size_t at = 0; at < content.size(); at += kChunkBytes) {
        const std::size_t length = std::min<std::size_t>(kChunkBytes, content.size() - at);
        description.leaves.push_back(base::blob_chunk_hash(ByteView(content).subspan(at, length)));
    }
    return description;
}

/// Leaves this many bytes of the party's quota; the filler is given back.
BlobId fill(Party& party, std::uint64_t quota, std::uint64_t left) {
    Bytes filler(quota - left - party.store->bytes_used(), std::uint8_t{7});
    filler[0] = static_cast<std::uint8_t>(party.name[1]);
    return party.store->put(filler).value();
}

MarketOptions undrawn() {
    MarketOptions options;
    options.verifiers = {"vera", "viki", "vito", "vlad", "vroni"};
    options.draw_everything = false;
    options.rounds = 1;
    return options;
}

}  // namespace

TEST_CASE("an update that its miner withholds is had from the verifiers who recomputed it") {
    int others = 0;  // who merged and did not recompute it: they had to ask for the update
    for (std::uint64_t luck = 0; luck < 20 && others == 0; ++luck) {
        MarketOptions options = undrawn();
        options.luck = luck;
        Market market(options);
        market.start();
        cheat_undrawn_and_withhold(market, "mia");
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        std::set<base::PublicKey> drawn;
        bool seen = false;  // somebody looked where it cheated
        for (const auto& slot : slots_of(market, "mia", 0)) {
            seen = seen || slot.verdict != Reason::kPaid;
            drawn.insert(slot.verifiers.begin(), slot.verifiers.end());
        }
        if (seen) continue;
        for (const auto& posting : market.round(0).merges) {
            others += drawn.contains(posting.verifier) ? 0 : 1;
            CHECK(posting.opened);
        }
        CHECK(market.round(0).merged);
        CHECK(market.round(0).merged_slots.size() == 2);
        for (const auto& [name, party] : market.parties()) {
            INFO(name << ": " << (party->error ? party->error->what : ""));
            CHECK((name == "bea" || !party->ended));
        }
    }
    REQUIRE(others > 0);
}

TEST_CASE("an update that less than half of the stake holds is unpaid and not merged, and nothing is lost") {
    Market market(undrawn());
    market.start();
    cheat_undrawn_and_withhold(market, "mia");
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kServe); }));
    std::set<std::string> drawn;
    for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
        const auto slot = market.slot(0, i);
        if (slot.miner != market.party("mia").node.public_key()) continue;
        for (const auto& node : slot.verifiers) drawn.insert(name_of(market, node));
    }
    // Those who recomputed it, two of five, keep it to themselves as well.
    for (const std::string& name : drawn) market.party(name).serves = false;
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
        const auto slot = market.slot(0, i);
        const bool mias = slot.miner == market.party("mia").node.public_key();
        CHECK(slot.verdict == (mias ? Reason::kNotStored : Reason::kPaid));
        CHECK(slot.stored == !mias);
        CHECK(market.line_of(0, i).lost.is_zero());
        if (mias) CHECK(market.line_of(0, i).paid.is_zero());
    }
    CHECK(market.round(0).merged);
    CHECK(market.round(0).merged_slots.size() == 1);
    check_nobody_ended(market);
}

TEST_CASE("nobody learns what a verifier found before every seal is in") {
    Market market(undrawn());
    market.start();
    cheat_undrawn_and_withhold(market, "mia");
    while (!market.at_phase(0, RoundPhase::kReveal)) {
        market.turn();
        if (!market.at_phase(0, RoundPhase::kAuditSeal) && !market.at_phase(0, RoundPhase::kAuditOpen))
            continue;
        for (const BlobId& update : market.party("mia").withheld) {
            for (const char* name : {"vera", "viki", "vito", "vlad", "vroni"}) {
                CHECK_FALSE(market.party(name).store->has(update));
            }
        }
    }
}

TEST_CASE("a verifier whose store is full says of nobody that it was not served, and says why in its log") {
    MarketOptions options;
    options.quota = 12 << 20;
    options.rounds = 1;
    options.draw_everything = false;  // what is drawn starts from what the miner serves
    options.audit_window = 800;       // after three tries and 300 heights a slot is replayed
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kServe); }));
    // Room for the round's base and a little: the audits begin, and no start of a segment fits.
    const std::uint64_t base = trainer::base_state_bytes(program::parameter_count(market.spec().model));
    (void)fill(market.party("vera"), options.quota, base + 4096);
    REQUIRE(market.turn_until([&] { return market.settled(0); }, 4000));
    const auto& log = market.party("vera").log;
    INFO(log.text());
    for (const auto& claim : market.claims("vera", 0)) CHECK_FALSE(claim.replayed);
    CHECK_FALSE(market.party("vera").ended);
    for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
        CHECK(market.slot(0, i).verdict == Reason::kPaid);
    }
    CHECK(log.lines_with("the blob store is 99 % full") == 1);
}

TEST_CASE("a miner whose store takes no more states does not commit, and commits once there is room") {
    MarketOptions options;
    options.rounds = 1;
    const tests::TinyJob tiny = tests::tiny_job();
    const std::uint64_t count = program::parameter_count(tiny.spec.model);
    // Beside a download of four chunks: the data, the round's base and one state of a slot.
    options.quotas["mia"] = 4 * kChunkBytes + tiny.file.size() + trainer::base_state_bytes(count) +
                            program::file_sizes(tiny.spec).slot_state + 100;
    Market market(options);
    Party& mia = market.party("mia");
    REQUIRE(mia.store->put(tiny.file).ok());
    market.start();
    // It asked while there was room.
    REQUIRE(market.turn_until(
        [&] { return market.job() && market.job()->phase == contracts::JobPhase::kAskReveal; }));
    const Bytes other(4 * kChunkBytes, std::uint8_t{9});
    auto filler = mia.store->begin(base::blob_id(other), description_of(other)).value();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kCommit); }));
    REQUIRE(takes_part(*market.job(), mia.node.public_key()));
    const auto committed = [&] {
        int count_of = 0;
        for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
            const auto slot = market.slot(0, i);
            count_of += slot.committed && slot.miner == mia.node.public_key() ? 1 : 0;
        }
        return count_of;
    };
    for (int i = 0; i < 6; ++i) {
        market.turn();
        CHECK(committed() == 0);
    }
    CHECK_FALSE(mia.ended);
    CHECK(mia.worker.asked[frames::FrameKind::kTrain] <= 3);  // it rests in between
    filler.reset();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
        CHECK(market.slot(0, i).verdict == Reason::kPaid);
    }
}

TEST_CASE(
    "a verifier that cannot store the merged state claims none, and a buyer without room waits for it") {
    MarketOptions options;
    options.quota = 12 << 20;
    options.rounds = 1;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kAuditOpen); }));
    const auto first = market.party("vera").store->bytes_used();
    CHECK(first > 0);
    (void)fill(market.party("vera"), options.quota, 4096);
    const BlobId filler = fill(market.party("bea"), options.quota, 4096);
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (int i = 0; i < 5; ++i) market.turn();
    CHECK_FALSE(market.party("vera").ended);
    CHECK_FALSE(market.party("bea").ended);
    CHECK(market.round(0).merged);
    for (const auto& posting : market.round(0).merges) {
        if (posting.verifier == market.party("vera").node.public_key()) CHECK_FALSE(posting.sealed);
    }
    REQUIRE(market.party("bea").store->remove(filler).ok());
    REQUIRE(market.turn_until([&] { return market.party("bea").ended; }));  // behind the windows
    CHECK_FALSE(market.party("bea").error.has_value());
}

TEST_CASE("what rounds with closed windows and ended jobs no longer need gives its room back") {
    MarketOptions options;
    options.rounds = 12;
    options.claim_window = 48;
    options.quota = 12 << 20;
    Market market(options);
    market.start();
    const std::uint64_t count = program::parameter_count(market.spec().model);
    std::map<std::string, std::uint64_t> most;
    std::map<std::string, std::vector<std::uint64_t>> before_dealing;  // pinned when a round begins
    std::uint32_t rounds = 0;
    REQUIRE(market.turn_until(
        [&] {
            for (const auto& [name, party] : market.parties()) {
                most[name] = std::max(most[name], party->store->bytes_pinned());
            }
            const bool deals = market.job() && market.job()->phase == contracts::JobPhase::kRounds;
            if (deals && market.job()->round > rounds) {
                rounds = market.job()->round;
                for (const auto& [name, party] : market.parties()) {
                    before_dealing[name].push_back(party->store->bytes_pinned());
                }
            }
            return market.ended();
        },
        800));
    for (int i = 0; i < 3; ++i) market.turn();
    const program::KeptBytes kept = program::most_kept(market.spec(), *options.claim_window);
    int serving = 0;
    for (const auto& [name, party] : market.parties()) {
        INFO(name << " pinned " << most[name] << " at most, " << party->store->bytes_pinned()
                  << " at the end");
        CHECK(most[name] > trainer::base_state_bytes(count));
        // Nobody has to keep more than it was told when it came.
        CHECK(most[name] <= (name == "bea" ? kept.buyer : name.front() == 'v' ? kept.verifier : kept.miner));
        const std::vector<std::uint64_t>& pinned = before_dealing[name];
        REQUIRE(pinned.size() == options.rounds - 1);
        // While the first windows are open, rounds pile up; those whose windows are closed do not.
        CHECK(pinned[2] > pinned[0]);
        CHECK(pinned.back() <= pinned[pinned.size() / 2] + program::file_sizes(market.spec()).update);
        serving += party->store->has(market.job()->base_blob) ? 1 : 0;
        if (name == "bea") {
            CHECK(party->store->bytes_pinned() < trainer::base_state_bytes(count) + 1024);
            CHECK_FALSE(party->store->is_evictable(market.job()->base_blob));
        } else {
            CHECK(party->store->bytes_pinned() == 0);
            CHECK(party->store->put(Bytes(options.quota)).ok());
        }
    }
    CHECK(serving >= 2);  // beside the buyer, those who merged: until the room was needed
}

namespace {

/// What a peer that knows a blob's id is told of it.
bool is_given(Party& party, const BlobId& blob) { return party.store->describe(blob).ok(); }

/// The miner's own notes of its slots in round 0.
std::vector<SlotWork> works_of(Market& market, const std::string& name) {
    std::vector<SlotWork> works;
    for (const auto& [file, bytes] : market.party(name).notes.files) {
        if (!file.starts_with("slot-")) continue;
        auto work = base::decode<SlotWork>(bytes);
        if (work.ok() && work->round == 0 && work->complete) works.push_back(*std::move(work));
    }
    return works;
}

}  // namespace

TEST_CASE(
    "before the last seal a miner gives peers the opened starts, and no other state or update of the slot") {
    MarketOptions options;
    options.draw_everything = false;
    options.rounds = 1;
    Market market(options);
    market.start();
    Party& mia = market.party("mia");
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kBeacon); }));
    const std::vector<SlotWork> works = works_of(market, "mia");
    REQUIRE_FALSE(works.empty());
    for (const SlotWork& work : works) {
        for (const BlobId& blob : work.boundary_blobs) CHECK_FALSE(is_given(mia, blob));
        CHECK_FALSE(is_given(mia, work.update_blob));
    }
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kAuditSeal); }));
    // A new process keeps to it.
    market.restart_miner("mia");
    for (const SlotWork& work : works) {
        std::set<BlobId> opened;
        const auto serve = contracts::read_serve(market.state(), market.job()->id, 0, work.slot);
        REQUIRE(serve);
        for (const contracts::RunStart& start : serve->starts) opened.insert(start.blob);
        REQUIRE_FALSE(opened.empty());  // `finalise` is drawn
        for (const BlobId& blob : work.boundary_blobs) CHECK(is_given(mia, blob) == opened.contains(blob));
        // Of the last state `finalise` reads the parameters.
        const auto head = program::decode_state_head(
                              mia.files->read(work.boundary_blobs.back(), program::kMaxHeadBytes).value())
                              .value();
        CHECK(is_given(mia, head.part(program::StateArray::kParameters)->blob));
        CHECK_FALSE(is_given(mia, head.part(program::StateArray::kFirstMoment)->blob));
        CHECK_FALSE(is_given(mia, work.update_blob));
    }
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kStore); }));
    for (const SlotWork& work : works) CHECK(is_given(mia, work.update_blob));
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (const auto& slot : slots_of(market, "mia", 0)) CHECK(slot.verdict == Reason::kPaid);
}

TEST_CASE("a miner and a verifier that start again in any phase lose nothing") {
    using enum RoundPhase;
    for (const RoundPhase phase :
         {kCommit, kBeacon, kServe, kAuditSeal, kAuditOpen, kReveal, kStore, kMergeSeal, kMergeOpen}) {
        INFO("phase " << contracts::to_text(phase));
        MarketOptions options;
        options.inner_state = program::InnerState::kCarried;
        options.draw_everything = false;
        options.rounds = 1;
        Market market(options);
        market.start();
        REQUIRE(market.turn_until([&] { return market.at_phase(0, phase); }));
        market.restart_miner("mia");
        for (const char* name : {"vera", "viki", "vito"}) market.restart_verifier(name);
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        check_nobody_ended(market);
        CHECK(market.round(0).merged_slots.size() == 2);
        for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
            CHECK(market.slot(0, i).verdict == Reason::kPaid);
            CHECK(market.audited(0, i).served == static_cast<int>(market.slot(0, i).verifiers.size()));
        }
    }
}

}  // namespace assay::node
