// SPDX-License-Identifier: Apache-2.0
// In production only what a block changed is checked. That is enough if it finds whatever the walk over the
// whole state finds: here every record of a busy state is damaged in every way that a rule speaks of, alone
// and in pairs.
#include <functional>

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace assay::contracts::test {

namespace {

using Damage = std::function<void(State&)>;

template <class T, class Change>
Damage changing(const Bytes& key, const Bytes& value, Change change) {
    T record = stored<T>(value);
    change(record);
    return [key, record](State& state) { store(state, key, record); };
}

Amount one_more(Amount old) { return amount(old.units() + 1); }
PublicKey stranger() { return PublicKey{bytes_of("stranger").bytes}; }

void damage_party(std::vector<Damage>& all, Table table, const Bytes& key, const Bytes& value) {
    if (table == Table::kAccount) {
        all.push_back(changing<Account>(key, value, [](Account& a) { a.balance = one_more(a.balance); }));
        all.push_back(changing<Account>(key, value, [](Account& a) { ++a.nonce; }));
    }
    if (table == Table::kNodeKey) {
        all.push_back(changing<NodeKey>(key, value, [](NodeKey& n) { n.owner = stranger(); }));
        all.push_back(changing<NodeKey>(key, value, [](NodeKey& n) { n.revoked = !n.revoked; }));
        Bytes account = key;
        account.front() = static_cast<std::uint8_t>(Table::kAccount);
        all.emplace_back([account](State& state) { store(state, account, Account{}); });
    }
    if (table == Table::kStake) {
        all.push_back(changing<Stake>(key, value, [](Stake& s) { std::swap(s.free, s.bonded); }));
        all.push_back(changing<Stake>(key, value, [](Stake& s) { s.bonded = one_more(s.bonded); }));
        // Money that agrees with its total, and a bond that nothing locks.
        all.emplace_back([key](State& state) {
            const auto found = load<Stake>(state, key);
            if (!found || found->free.is_zero()) return;
            Stake stake = *found;
            Supply supply = read_supply(state);
            stake = {difference(stake.free, amount(1)), one_more(stake.bonded)};
            supply.stake = difference(supply.stake, amount(1));
            supply.bonds = one_more(supply.bonds);
            store(state, key, stake);
            store(state, supply_key(), supply);
        });
    }
    if (table == Table::kMiner) {
        all.push_back(changing<Miner>(key, value, [](Miner& m) { m.owner = stranger(); }));
        all.push_back(changing<Miner>(key, value, [](Miner& m) { m.prepaid = one_more(m.prepaid); }));
        all.push_back(changing<Miner>(key, value, [](Miner& m) { ++m.losses; }));
    }
    if (table == Table::kVerifier) {
        all.push_back(changing<Verifier>(key, value, [](Verifier& v) { v.owner = stranger(); }));
    }
}

void damage_job(std::vector<Damage>& all, Table table, const Bytes& key, const Bytes& value) {
    if (table == Table::kJobProgress) {
        const auto job = [&](auto change) { all.push_back(changing<JobProgress>(key, value, change)); };
        job([](JobProgress& j) { j.phase = JobPhase::kEnded; });
        job([](JobProgress& j) { j.phase = JobPhase::kAskReveal; });
        job([](JobProgress& j) { j.phase = JobPhase::kRounds; });
        job([](JobProgress& j) { j.end_reason = Reason::kJobComplete; });
        job([](JobProgress& j) { j.end_reason = Reason::kNone; });
        job([](JobProgress& j) {
            j.phase = JobPhase::kEnded;
            j.end_reason = Reason::kJobComplete;
        });
        job([](JobProgress& j) { j.escrow = one_more(j.escrow); });
        job([](JobProgress& j) { j.spent = {}; });
        job([](JobProgress& j) { j.refunded = {}; });
        job([](JobProgress& j) { ++j.round; });
        job([](JobProgress& j) { ++j.due; });
        job([](JobProgress& j) { ++j.phase_deadline; });
        Bytes listed = key;
        listed.front() = static_cast<std::uint8_t>(Table::kActiveJob);
        all.emplace_back([listed](State& state) { state.put(listed, {}); });
    }
    if (table == Table::kJobTerms) {
        all.push_back(
            changing<JobTerms>(key, value, [](JobTerms& j) { j.params = bytes_of("no such set"); }));
    }
    if (table == Table::kBidding) {
        all.push_back(changing<Bidding>(key, value, [](Bidding& b) { ++b.verifiers; }));
        all.push_back(changing<Bidding>(key, value, [](Bidding& b) { ++b.auction.winners; }));
    }
    if (table == Table::kPanel) {
        const auto panel = [&](auto change) {
            all.push_back(changing<EnlistedVerifier>(key, value, change));
        };
        panel([](EnlistedVerifier& v) { v.bond = one_more(v.bond); });
        panel([](EnlistedVerifier& v) { ++v.place; });
        panel([](EnlistedVerifier& v) { ++v.missed; });
    }
    if (table == Table::kAsk) {
        all.push_back(changing<Ask>(key, value, [](Ask& a) { a.deposit = one_more(a.deposit); }));
    }
}

void damage_round(std::vector<Damage>& all, Table table, const Bytes& key, const Bytes& value) {
    if (table == Table::kRound) {
        all.push_back(changing<RoundProgress>(key, value, [](RoundProgress& r) { ++r.phase_deadline; }));
    }
    if (table == Table::kDeadline) {
        Deadline later_one = deadline_of(key).value();
        ++later_one.height;
        all.emplace_back([later_one](State& state) { state.put(deadline_key(later_one), {}); });
        all.emplace_back([later_one, key](State& state) {
            state.erase(key);
            state.put(deadline_key(later_one), {});
        });
    }
    if (table == Table::kSlotRound) {
        const auto slot = [&](auto change) { all.push_back(changing<SlotRound>(key, value, change)); };
        slot([](SlotRound& s) { s.bond = {}; });
        slot([](SlotRound& s) { s.assigned = !s.assigned; });
        slot([](SlotRound& s) { s.miner = stranger(); });
        slot([](SlotRound& s) { s.verdict = Reason::kPaidAccused; });
    }
    if (table == Table::kClaim) {
        const auto claim = [&](auto change) { all.push_back(changing<Claim>(key, value, change)); };
        claim([](Claim& c) { c.bond = one_more(c.bond); });
        claim([](Claim& c) { c.held = {}; });
        claim([](Claim& c) { c.node = stranger(); });
        claim([](Claim& c) { ++c.window; });
        Bytes other = key;
        other.back() = 9;
        all.emplace_back([other, value](State& state) { state.put(other, value); });
        all.emplace_back([key, other, value](State& state) {
            state.erase(key);
            state.put(other, value);
        });
    }
}

void damage_terms(std::vector<Damage>& all, Table table, const Bytes& key, const Bytes& value) {
    if (table == Table::kMeta) {
        all.push_back(changing<Meta>(key, value, [](Meta& m) { ++m.schema; }));
        all.push_back(changing<Meta>(key, value, [](Meta& m) { ++m.active_jobs; }));
    }
    if (table == Table::kParams)
        all.push_back(changing<Hash256>(key, value, [](Hash256& set) { set = bytes_of("no such set"); }));
    if (table == Table::kParamSet)
        all.push_back(changing<Params>(key, value, [](Params& p) { p.commit_window = 0; }));
    if (table == Table::kSupply) {
        all.push_back(changing<Supply>(key, value, [](Supply& s) { s.balances = one_more(s.balances); }));
        all.push_back(changing<Supply>(key, value, [](Supply& s) { s.burned = one_more(s.burned); }));
    }
    // Without these four there is no state to speak of.
    if (table != Table::kMeta && table != Table::kParams && table != Table::kSupply &&
        table != Table::kValidators) {
        all.emplace_back([key](State& state) { state.erase(key); });
    }
}

/// A record of every table whose records leave with a job, under the name of a job that left and of one that
/// never was.
void damage_owners(std::vector<Damage>& all, const StateView& state) {
    for (const Table table : tables_of_job()) {
        const auto records = state.scan(table_prefix(table));
        for (const Hash256& name : {list_ended_jobs(state).front().first, bytes_of("no such job")}) {
            // Of a table that is empty here any bytes do: nobody reads a record that has no job.
            auto [key, value] = records.empty() ? std::pair{Bytes(41), Bytes{1}} : records.front();
            key.front() = static_cast<std::uint8_t>(table);
            std::copy(name.bytes.begin(), name.bytes.end(), key.begin() + 1);
            all.emplace_back([key, value](State& changed) { changed.put(key, value); });
        }
    }
}

std::vector<Damage> damages_of(const StateView& state) {
    std::vector<Damage> all;
    damage_owners(all, state);
    for (const auto& [key, value] : state.scan({})) {
        const auto table = static_cast<Table>(key.front());
        damage_party(all, table, key, value);
        damage_job(all, table, key, value);
        damage_round(all, table, key, value);
        damage_terms(all, table, key, value);
    }
    all.emplace_back([](State& changed) { changed.put(active_job_key(bytes_of("no such job")), {}); });
    all.emplace_back([](State& changed) {
        store(changed, claim_key({bytes_of("no such job"), 0, ClaimKind::kSlot, 0}), Claim{});
    });
    all.emplace_back([](State& changed) { store(changed, miner_key(stranger()), Miner{}); });
    all.emplace_back([](State& changed) { store(changed, verifier_key(stranger()), Verifier{}); });
    all.emplace_back([](State& changed) { store(changed, node_key(stranger()), NodeKey{}); });
    all.emplace_back([](State& changed) { store(changed, account_key(stranger()), Account{}); });
    all.emplace_back([](State& changed) { store(changed, stake_key(stranger()), Stake{{}, amount(1)}); });
    return all;
}

/// One job that has left, one that ended, one in its rounds with slots dealt, one that takes asks.
void fill(Env& env) {
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    JobSpec spec = small_job();
    spec.rounds = 1;
    const Hash256 left = env.post(spec);
    env.hold_auction(left, {{"m1", 1}, {"m2", 1}}, {"v1", "v2", "v3"});
    play_job(env, left);
    env.next_block();
    const Hash256 ended = env.post(spec);
    env.hold_auction(ended, {{"m1", 1}, {"m2", 1}}, {"v1", "v2", "v3"});
    play_job(env, ended);
    spec.rounds = 2;
    const Hash256 running = env.post(spec);
    env.hold_auction(running, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    play_commits(env, running, {});
    env.post(spec);
    env.send(env.person("m1"), StakeWithdraw{env.person("m1").node_key(), amount(5)});
}

/// Ways to damage a claim that leave every sum of money and stake as it was.
std::vector<std::pair<const char*, Damage>> claim_damages(const Env& env, const Hash256& job,
                                                          const ClaimId& id) {
    const Claim claim = *read_claim(env.state(), id);
    const auto put = [id](State& state, const Claim& now) { store(state, claim_key(id), now); };
    const Amount bond_less = difference(claim.bond, amount(1));
    return {
        {"its pay is in the job, or the job's in it",
         [=](State& state) {
             JobProgress progress = *read_job_progress(state, job);
             Claim now = claim;
             // A merge's claim holds none: the job's is in it.
             const bool none = claim.held.is_zero();
             progress.escrow = none ? difference(progress.escrow, amount(1)) : one_more(progress.escrow);
             now.held = none ? amount(1) : difference(now.held, amount(1));
             store(state, job_progress_key(job), progress);
             put(state, now);
         }},
        {"its bond is free stake",
         [=](State& state) {
             Stake stake = read_stake(state, claim.node);
             Supply supply = read_supply(state);
             stake = {one_more(stake.free), difference(stake.bonded, amount(1))};
             supply.stake = one_more(supply.stake);
             supply.bonds = difference(supply.bonds, amount(1));
             store(state, stake_key(claim.node), stake);
             store(state, supply_key(), supply);
             Claim now = claim;
             now.bond = bond_less;
             put(state, now);
         }},
        {"its bond is in the enlistment",
         [=](State& state) {
             const Bytes key = panel_key(job, claim.node);
             auto enlisted = load<EnlistedVerifier>(state, key);
             Claim now = claim;
             now.bond = bond_less;
             put(state, now);
             if (!enlisted) return;
             enlisted->bond = one_more(enlisted->bond);
             store(state, key, *enlisted);
         }},
        {"somebody else is paid",
         [=](State& state) {
             Claim now = claim;
             now.owner = stranger();
             put(state, now);
         }},
    };
}

}  // namespace

TEST_CASE("a claim has the owner, the bond and the pay that the rules give its slot or its merge") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 1000}, {"m2", 1000}}, {"v1", "v2"});
    play_commits(env, job, {});
    play_links(env, job, {});
    play_verdicts(env, job, {});
    REQUIRE(check_invariants(env.state()).ok());
    const auto claims = list_claims(env.state(), job);
    REQUIRE(claims.size() == 4);
    for (const auto& [id, claim] : claims) {
        for (const auto& [name, damage] : claim_damages(env, job, id)) {
            CAPTURE(id.kind, id.number, name);
            Overlay overlay(env.state());
            damage(overlay);
            CHECK_FALSE(check_invariants(overlay).ok());
            CHECK_FALSE(check_invariants(env.state(), overlay).ok());
        }
    }
}

TEST_CASE("the check of what changed finds all that the walk over the whole state finds") {
    Env env;
    fill(env);
    const std::vector<Damage> damages = damages_of(env.state());
    int found = 0;
    int harmless = 0;
    /// Whether both checks say the same of the state with these damages.
    const auto agree = [&](const std::vector<std::size_t>& chosen) {
        Overlay overlay(env.state());
        for (const std::size_t i : chosen) damages[i](overlay);
        const auto whole = check_invariants(overlay);
        const auto changed = check_invariants(env.state(), overlay);
        // Only who knew of it can tell that what is left of a job is gone.
        for (const auto& [key, value] : overlay.changes()) {
            if (value || key.front() != static_cast<std::uint8_t>(Table::kEndedJob)) continue;
            return !changed.ok();
        }
        ++(whole.ok() ? harmless : found);
        return whole.ok() == changed.ok();
    };
    for (std::size_t i = 0; i < damages.size(); ++i) {
        CAPTURE(i);
        REQUIRE(agree({i}));
    }
    CHECK(found > 100);
    CHECK(harmless > 20);
    const auto one = tests::between<std::size_t>(0, damages.size() - 1);
    tests::check_property(3000, [&] { RC_ASSERT(agree({*one, *one})); });
}

}  // namespace assay::contracts::test
