// SPDX-License-Identifier: Apache-2.0
// A job that leases its machines, and a market in which every lot is to be had at any price.
#pragma once

#include <string>

#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/round/leased.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/lots.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

/// Of two slots, for two machines and no fewer.
inline JobSpec leased_job() {
    JobSpec spec = small_job();
    spec.market.terms = {.gang = 2, .most = 2};
    return spec;
}

struct LeasedWorld {
    Env env;
    Hash256 job;

    explicit LeasedWorld(const JobSpec& spec = leased_job(), Params params = short_windows()) : env(params) {
        for (const char* name : {"m1", "m2", "m3", "m4"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
    }
    [[nodiscard]] Job record() const { return env.job(job); }
    void enlist() {
        for (const char* name : {"v1", "v2", "v3"}) env.enlist(name, job);
    }
    /// A lot of the miner's from this height on.
    void lease(const std::string& name, std::uint64_t price, std::uint64_t heights) {
        Person& who = env.person(name);
        Lease lot;
        lot.node = who.node_key();
        lot.owner = who.owner_key();
        lot.job = job;
        lot.price = amount(price);
        lot.from = env.height();
        lot.until = env.height() + heights;
        env.step([&](Work& work) { grant_lease(work.state, lot); });
    }
    /// As the market's clock does at the beginning of an epoch.
    void begin() {
        env.step([&](Work& work) { begin_if_leased(work, job); });
    }
    void pass_enlistment() { env.advance_to(last_of_enlistment(env.params(), record()) + 1); }
    /// Enlisted, with m1 at 300 and m2 at 500 for so many heights, in its first round.
    void start(std::uint64_t heights = 500) {
        enlist();
        pass_enlistment();
        lease("m1", 300, heights);
        lease("m2", 500, heights);
        begin();
        REQUIRE(record().phase == JobPhase::kRounds);
    }
    [[nodiscard]] RosterEntry entry(const std::string& name) {
        for (const RosterEntry& one : record().roster)
            if (one.node == env.person(name).node_key()) return one;
        FAIL(name << " is not in the roster");
        return {};
    }
    [[nodiscard]] bool holds_slot(std::uint32_t round, const std::string& name) {
        for (const SlotRound& slot : list_slots(env.whole(), job, round))
            if (slot.miner == env.person(name).node_key()) return true;
        return false;
    }
    SettlementLine line(std::uint32_t round, const std::string& name) {
        return line_of(env, job, round, LineKind::kSlot, name);
    }
};

}  // namespace assay::contracts::test
