// SPDX-License-Identifier: Apache-2.0
// A verifier seals the slots that it could compute. Each one that it leaves out costs what silence costs.
#include <algorithm>
#include <set>
#include <utility>

#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "tests/contracts/rules/counted_state.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const Hash256 kOwnSalt = bytes_of("salt");

/// Four slots of one miner, every unit drawn, three verifiers; `lead` has at least two of the slots.
struct ManySlots {
    Env env;
    Hash256 job;
    std::string lead;

    ManySlots() : env(short_windows()) {
        env.miner("m1", 50 * kPlenty);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.slots = 4;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}}, {"v1", "v2", "v3"});
        play_commits(env, job, {});
        play_links(env, job, {});
        play_serves(env, job, {});
        for (const char* name : {"v1", "v2", "v3"})
            if (slots_of(name).size() >= 2) lead = name;
        REQUIRE_FALSE(lead.empty());
    }
    Person& who() { return env.person(lead); }
    std::vector<AssignedSlot> slots_of(const std::string& name) {
        return assigned_slots(env.state(), job, 0, Stage::kPanel, env.person(name).node_key());
    }
    /// A word about each of its slots, whatever it is worth.
    std::vector<SlotClaim> words() {
        std::vector<SlotClaim> claims;
        for (const AssignedSlot& slot : slots_of(lead))
            claims.push_back({slot.slot, false, std::vector<Hash256>(slot.units.size(), bytes_of("root"))});
        return claims;
    }
    /// After the seal, and everybody else's seals.
    void seal(const std::vector<SlotClaim>& claims) {
        env.send(who(), audit_seal_of(env, env.job(job), who(), Stage::kPanel, claims, kOwnSalt));
        play_seals(env, job, {.verifiers = {{lead, VerifierManner::kAbsent}}}, Stage::kPanel);
        REQUIRE(env.round(job).phase == RoundPhase::kAuditOpen);
    }
    AuditOpen opening(const std::vector<SlotClaim>& claims) {
        return {job, 0, Stage::kPanel, claims, kOwnSalt};
    }
    void finish(const Play& play) {
        play_verdicts(env, job, play);
        play_merges(env, job, play);
        REQUIRE(read_round(env.whole(), job, 0)->phase == RoundPhase::kSettled);
    }
    std::vector<SettlementLine> audits_by(const std::string& name) {
        auto lines = list_settlement(env.whole(), job, 0);
        std::erase_if(lines, [&](const SettlementLine& line) {
            return line.kind != LineKind::kAudit || line.node != env.person(name).node_key();
        });
        return lines;
    }
    Amount stake_of_accusation() {
        const Job record = env.job(job);
        return accusation_stake(env.params(), record.auction.clearing_price, record.slot_work).value();
    }
};

}  // namespace

TEST_CASE("a slot that is left out costs what silence costs, and the others of the seal are paid") {
    ManySlots w;
    const std::uint32_t left = w.slots_of(w.lead).front().slot;
    const Play play = {.verifiers = {{w.lead, VerifierManner::kLeavesOut}}};
    w.finish(play);
    const auto lines = w.audits_by(w.lead);
    REQUIRE(lines.size() >= 2);
    for (const SettlementLine& line : lines) {
        CAPTURE(line.slot);
        if (line.slot == left) {
            CHECK(line.reason == Reason::kAuditSilent);
            CHECK(line.lost == w.stake_of_accusation());
            CHECK(line.lost_burned == line.lost);
            CHECK(line.paid.is_zero());
        } else {
            CHECK(line.reason == Reason::kPaidAudit);
            CHECK(line.lost.is_zero());
        }
    }
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) CHECK(slot.verdict == Reason::kPaid);
}

TEST_CASE("a slot that everybody left out is drawn again") {
    ManySlots w;
    Play play;
    for (const char* name : {"v1", "v2", "v3"}) play.verifiers[name] = VerifierManner::kLeavesOut;
    std::size_t unheard = 0;
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) {
        const bool left = std::all_of(slot.verifiers.begin(), slot.verifiers.end(), [&](const auto& node) {
            const auto own = w.slots_of(w.env.by_node(node).name);
            return own.size() > 1 && own.front().slot == slot.slot;
        });
        unheard += left ? 1U : 0U;
    }
    play_panel(w.env, w.job, play);
    std::size_t again = 0;
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0))
        for (std::size_t i = 0; i < slot.verifiers.size(); ++i)
            again += stage_of(i, slot) == Stage::kRedraw ? 1U : 0U;
    CHECK(again == unheard);
}

TEST_CASE("nobody sees before the opening what a seal leaves out") {
    ManySlots w;
    const auto all = w.words();
    const auto some = std::vector<SlotClaim>(all.begin() + 1, all.end());
    const auto sealing = [&](const std::vector<SlotClaim>& claims) {
        return audit_seal_of(w.env, w.env.job(w.job), w.who(), Stage::kPanel, claims, kOwnSalt);
    };
    CHECK(sealing(all).replayed == sealing(some).replayed);
    CHECK(sealing(all).seal != sealing(some).seal);
    CHECK(base::encode(sealing(all)).size() == base::encode(sealing(some)).size());
}

TEST_CASE("what is left out is fixed by the seal, and an opening names some of its slots, once, in order") {
    ManySlots w;
    const auto all = w.words();
    const auto some = std::vector<SlotClaim>(all.begin() + 1, all.end());
    w.seal(some);
    w.env.refuse(Reason::kSealMismatch, w.who(), w.opening(all));
    w.env.refuse(Reason::kWrongClaims, w.who(), w.opening({}));
    w.env.refuse(Reason::kWrongClaims, w.who(), w.opening({all[1], all[0]}));
    w.env.refuse(Reason::kWrongClaims, w.who(), w.opening({all[1], all[1]}));
    SlotClaim other = all[1];
    other.slot = 99;
    w.env.refuse(Reason::kWrongClaims, w.who(), w.opening({other}));
    SlotClaim longer = all[1];
    longer.roots.push_back(bytes_of("root"));
    w.env.refuse(Reason::kWrongClaims, w.who(), w.opening({longer}));
    w.env.send(w.who(), w.opening(some));
}

TEST_CASE("a pass over the slots of a round reads what each verifier posted once, and finds the same") {
    ManySlots w;
    w.seal(w.words());
    w.env.send(w.who(), w.opening(w.words()));
    const CountedState counted(w.env.state());
    RoundPostings postings(counted, w.job, 0);
    std::set<std::pair<Stage, PublicKey>> posted;
    std::size_t asked = 0;
    for (const SlotRound& slot : list_slots(w.env.state(), w.job, 0)) {
        const auto audits = audits_of(postings, slot);
        const auto alone = audits_of(w.env.state(), w.job, 0, slot);
        REQUIRE(audits.size() == alone.size());
        for (std::size_t i = 0; i < audits.size(); ++i) {
            posted.insert({stage_of(i, slot), audits[i].verifier});
            ++asked;
            CHECK(audits[i].sealed == alone[i].sealed);
            CHECK(audits[i].opened == alone[i].opened);
            CHECK(audits[i].roots == alone[i].roots);
        }
    }
    REQUIRE(asked > posted.size());
    CHECK(counted.reads == posted.size());
}

}  // namespace assay::contracts::test
