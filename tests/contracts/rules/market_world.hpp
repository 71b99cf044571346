// SPDX-License-Identifier: Apache-2.0
// A market between jobs with a few miners and two buyers, for tests that say what an epoch comes to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contracts/rules/market/seals.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

inline constexpr LotClass kFast{program::Profile::kF32, 10, 5, 8};
inline constexpr LotClass kSlow{program::Profile::kF32, 6, 5, 8};

/// A job waits for asks of its own while the market's epochs go by.
inline Params patient_windows() {
    Params params = short_windows();
    params.ask_commit_window = 10'000;
    return params;
}

inline JobSpec market_job(std::uint32_t slots = 4) {
    JobSpec spec = small_job();
    spec.slots = slots;
    spec.market.budget = amount(100'000'000);
    spec.market.deadline_blocks = 100'000;
    spec.market.terms = {.gang = 1, .most = slots};
    return spec;
}

/// m1 to m4 are miners; "buyer" and "other" have a job each, of four slots, at 1,000 base units at most,
/// which v1 and v2 judge.
struct MarketWorld {
    Env env;
    Hash256 first;   // of "buyer"
    Hash256 second;  // of "other"

    explicit MarketWorld(Params params = patient_windows()) : env(params) {
        for (const char* name : {"m1", "m2", "m3", "m4"}) env.miner(name);
        for (const char* name : {"v1", "v2"}) env.verifier(name);
        first = post(market_job());
        second = post(market_job(), "other");
    }
    /// A job for which v1 and v2 are enlisted.
    Hash256 post(const JobSpec& spec, const std::string& buyer = "buyer") {
        const Hash256 job = env.post(spec, buyer);
        for (const char* name : {"v1", "v2"}) env.enlist(name, job);
        return job;
    }

    struct Offer {
        std::uint64_t price = 0;
        LotClass kind = kFast;
        std::uint32_t epochs = 1;
    };
    struct Wish {
        std::uint32_t lots = 1;
        std::uint64_t price = 0;
        LotClass kind = kFast;
    };
    std::map<std::string, Offer> offers;
    std::map<std::string, Wish> wishes;  // by buyer

    [[nodiscard]] Hash256 job_of(const std::string& buyer) const { return buyer == "buyer" ? first : second; }
    [[nodiscard]] MarketClock clock() const { return read_market_clock(env.state()); }
    [[nodiscard]] MarketParams params() const { return read_market_params(env.state()); }
    Hash256 salt(const std::string& who) { return bytes_of("salt " + who); }

    void seal_lot(const std::string& miner, Offer offer) {
        offers[miner] = offer;
        Person& who = env.person(miner);
        env.send(who, LotSeal{lot_seal(env.chain(), who.node_key(), offer.kind, amount(offer.price),
                                       offer.epochs, salt(miner))});
    }
    LotOpen lot_opening(const std::string& miner) {
        const Offer& offer = offers.at(miner);
        return {offer.kind, amount(offer.price), offer.epochs, salt(miner)};
    }
    void seal_bid(const std::string& buyer, Wish wish) {
        wishes[buyer] = wish;
        const Hash256 job = job_of(buyer);
        env.send(env.person(buyer), BidSeal{job, bid_seal(env.chain(), job, wish.kind, wish.lots,
                                                          amount(wish.price), salt(buyer))});
    }
    BidOpen bid_opening(const std::string& buyer) {
        const Wish& wish = wishes.at(buyer);
        return {job_of(buyer), wish.kind, wish.lots, amount(wish.price), salt(buyer)};
    }

    void to_opening() { env.advance_to(clock().open_at); }
    void to_clearing() { env.advance_to(clock().clear_at); }
    void to_next_epoch() { env.advance_to(clock().end); }
    /// Opens all that was sealed, and clears.
    void open_and_clear() {
        to_opening();
        for (const auto& [miner, offer] : offers) env.send(env.person(miner), lot_opening(miner));
        for (const auto& [buyer, wish] : wishes) env.send(env.person(buyer), bid_opening(buyer));
        offers.clear();
        wishes.clear();
        to_clearing();
    }

    [[nodiscard]] std::vector<Lease> leases(const std::string& buyer) const {
        return list_leases(env.state(), job_of(buyer));
    }
    /// Events of a kind, about a job or a node or both.
    [[nodiscard]] std::vector<Event> told(EventKind kind) const {
        std::vector<Event> found;
        for (const Event& event : env.events())
            if (event.kind == kind) found.push_back(event);
        return found;
    }
    [[nodiscard]] Amount free_stake(const std::string& miner) {
        return read_stake(env.state(), env.person(miner).node_key()).free;
    }
    [[nodiscard]] Amount escrow(const std::string& buyer) const { return env.job(job_of(buyer)).escrow; }
    [[nodiscard]] Amount burned() const { return read_supply(env.state()).burned; }
    [[nodiscard]] bool leases_node(const std::string& buyer, const std::string& miner) {
        for (const Lease& lease : leases(buyer))
            if (lease.node == env.person(miner).node_key()) return true;
        return false;
    }
};

}  // namespace assay::contracts::test
