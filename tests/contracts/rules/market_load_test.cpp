// SPDX-License-Identifier: Apache-2.0
// An epoch of some hundred lots and bids, whose asks stand for two, until the clock stands still again. What
// one costs is measured by `assay bench market`.
#include "contracts/rules/conservation.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::contracts::test {

namespace {

struct Load {
    std::size_t lots = 300;
    std::size_t bids = 60;
    std::size_t classes = 3;
};

/// A state with so many miners and jobs, which came about by records instead of by their transactions.
class Crowd {
public:
    explicit Crowd(const Load& load) : load_(load) {
        Env env(patient_windows());
        const Hash256 job = env.post(market_job());
        const Job sample = env.job(job);
        for (const auto& [key, value] : env.state().scan({})) state_.put(key, value);
        block_ = env.block();
        Supply supply = read_supply(state_);
        for (std::size_t i = 0; i < load.lots; ++i) {
            miners_.push_back(key_of("miner", i).public_key());
            const PublicKey node = miners_.back();
            store(state_, node_key(node), NodeKey{owner_of(i), 0, false});
            store(state_, miner_key(node), Miner{.owner = owner_of(i), .endpoint = "h:1"});
            store(state_, stake_key(node), Stake{amount(1'000'000), {}});
            supply.stake = *supply.stake.plus(amount(1'000'000));
            supply.minted = *supply.minted.plus(amount(1'000'000));
        }
        for (std::size_t i = 0; i < load.bids; ++i) {
            const PublicKey node = key_of("buyer", i).public_key();
            store(state_, node_key(node), NodeKey{owner_of(i), 0, false});
            jobs_.push_back(bytes_of("job " + std::to_string(i)));
            add_job(sample, jobs_.back(), node, owner_of(i));
            supply.escrow = *supply.escrow.plus(sample.escrow);
            supply.minted = *supply.minted.plus(sample.escrow);
        }
        store(state_, supply_key(), supply);
        REQUIRE(check_supply(state_).ok());
    }

    void send(const base::SecretKey& key, const Payload& payload) {
        const std::uint64_t nonce = next_nonce(state_, key.public_key());
        const Bytes bytes =
            sign_transaction({key.public_key(), nonce, UINT64_MAX, payload}, key, block_.chain_id);
        const auto outcome = apply_transaction(state_, block_, bytes);
        if (!outcome.applied) FAIL(to_text(outcome.reason));
    }
    void seal() {
        for (std::size_t i = 0; i < load_.lots; ++i)
            send(key_of("miner", i),
                 LotSeal{lot_seal(block_.chain_id, miners_[i], class_of(i), ask(i), 2, bytes_of("salt"))});
        for (std::size_t i = 0; i < load_.bids; ++i)
            send(key_of("buyer", i), BidSeal{jobs_[i], bid_seal(block_.chain_id, jobs_[i], class_of(i),
                                                                lots(i), bid(i), bytes_of("salt"))});
    }
    void open() {
        for (std::size_t i = 0; i < load_.lots; ++i)
            send(key_of("miner", i), LotOpen{class_of(i), ask(i), 2, bytes_of("salt")});
        for (std::size_t i = 0; i < load_.bids; ++i)
            send(key_of("buyer", i), BidOpen{jobs_[i], class_of(i), lots(i), bid(i), bytes_of("salt")});
    }
    /// To the height whose beginning ends the running part of the epoch.
    Events end_part() {
        block_.height = read_market_clock(state_).due();
        return begin_block(state_, block_);
    }
    [[nodiscard]] const MemoryState& state() const { return state_; }

private:
    static base::SecretKey key_of(const std::string& word, std::size_t i) {
        return base::SecretKey::from_seed(bytes_of(word + std::to_string(i)).view());
    }
    static PublicKey owner_of(std::size_t i) { return {bytes_of("owner " + std::to_string(i % 997)).bytes}; }
    [[nodiscard]] LotClass class_of(std::size_t i) const {
        LotClass kind = kFast;
        kind.network = static_cast<std::uint8_t>(i % load_.classes % 20);
        kind.memory = static_cast<std::uint8_t>(i % load_.classes / 20);
        return kind;
    }
    static Amount ask(std::size_t i) { return amount(10 + i * 7919 % 500); }
    static Amount bid(std::size_t i) { return amount(100 + i * 104'729 % 900); }
    static std::uint32_t lots(std::size_t i) { return 1 + static_cast<std::uint32_t>(i % 4); }

    void add_job(const Job& sample, const Hash256& id, const PublicKey& node, const PublicKey& owner) {
        JobTerms terms = sample;
        terms.buyer = owner;
        terms.buyer_node = node;
        store(state_, job_terms_key(id), terms);
        store(state_, job_progress_key(id), static_cast<const JobProgress&>(sample));
        store(state_, bidding_key(id), Bidding{});
        for (std::uint32_t i = 0; i < 2; ++i) {  // who could judge it
            EnlistedVerifier judge;
            judge.node = miners_.at(i);
            judge.owner = owner_of(i);
            judge.place = i;
            store(state_, panel_key(id, judge.node), judge);
        }
        store(state_, buyer_endpoint_key(id), std::string("h:1"));
        state_.put(active_job_key(id), {});
        state_.put(deadline_key({sample.due, DueKind::kJob, id}), {});
    }

    Load load_;
    MemoryState state_;
    BlockContext block_;
    std::vector<PublicKey> miners_;  // secret keys are made anew: each takes a locked page
    std::vector<Hash256> jobs_;
};

}  // namespace

TEST_CASE("market: an epoch of many lots and bids goes through the rules") {
    const Load load;
    Crowd crowd(load);
    crowd.seal();
    crowd.end_part();
    crowd.open();
    const Events events = crowd.end_part();
    std::size_t leased = 0;
    for (const Event& event : events) leased += event.kind == EventKind::kLeased ? 1U : 0U;
    CHECK(leased > load.bids / 2);
    crowd.end_part();
    CHECK(read_market_clock(crowd.state()).epoch == 2);
    CHECK(read_market_clock(crowd.state()).lots == load.lots);
    CHECK(check_supply(crowd.state()).ok());
    crowd.end_part();  // to the openings
    crowd.end_part();  // a clearing without bids
    crowd.end_part();  // the leases end
    CHECK(read_market_clock(crowd.state()).phase == MarketPhase::kStopped);
    CHECK(crowd.state().scan(table_prefix(Table::kLease)).empty());
}

}  // namespace assay::contracts::test
