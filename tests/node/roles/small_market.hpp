// SPDX-License-Identifier: Apache-2.0
// A whole market in one thread: real roles, real rules, real blob stores, and the worker's own functions in
// place of its process. What a party's worker answers and what it serves can be falsified by the test.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "contracts/program/initial.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/engine/chain.hpp"
#include "node/blob/fetch.hpp"
#include "node/roles/buyer.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/verifier.hpp"
#include "tests/node/executed_once.hpp"
#include "tests/node/roles/market_options.hpp"
#include "tests/node/roles/market_party.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/slot_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node::test_market {

namespace frames = worker;

class Market {
public:
    explicit Market(MarketOptions options = {}) : options_(std::move(options)), genesis_(make_genesis()) {
        assay::test::execute_once();
        REQUIRE(ledger::write_genesis(disk_, ledger::Layout("home").genesis, genesis_).ok());
        chain_ = ledger::Chain::open(disk_, provider_, ledger::rules_machine(), "home").value();
        state_.emplace(chain_->state(),
                       [this](base::ByteView key) { return chain_->application().history(key).value(); });
        job_ = tests::tiny_job();
        job_.spec.rounds = options_.rounds;
        job_.spec.seed += options_.luck;
        job_.spec.strategy = options_.strategy;
        if (options_.width > 0) job_.spec.model.width = options_.width;
        job_.spec.inner_state = options_.inner_state;
        if (options_.max_update_norm) job_.spec.train.max_update_norm = *options_.max_update_norm;
        job_.spec.market = {base::units(1'000), base::Amount::of(50 * base::kUnitsPerToken).value(), 100'000};
        if (options_.budget) job_.spec.market.budget = *options_.budget;
        job_.spec.security.gain_bound = base::units(10'000);
        if (!options_.draw_everything) {
            job_.spec.security.audit_threshold = UINT64_MAX >> 4;
            job_.spec.security.gain_bound = {};
        }
        if (!options_.draw_finalise) job_.spec.security.finalise_threshold = UINT64_MAX >> 4;
        job_.spec.market.terms = options_.terms;
        job_.spec.initial_root = initial_root_of(job_.spec);
        job_.spec.data.tokenizer = base::blob_id(base::as_bytes("tokenizer"));
        job_.spec.data.manifest = base::blob_id(base::as_bytes("manifest"));
        for (const std::string& name : everybody()) add(name);
    }

    /// Everyone starts: a role of each kind with its usual options.
    void start() {
        for (const std::string& name : options_.miners) register_party(name, WorkRole::kMiner);
        for (const std::string& name : options_.verifiers) register_party(name, WorkRole::kVerifier);
        for (const std::string& name : options_.buyers) register_party(name, WorkRole::kBuyer);
        for (const std::string& name : options_.miners) {
            party(name).worker.devnet = options_.drills.contains(name);
            party(name).role = std::make_unique<MinerRole>(party(name).parts, options_.of_miner(name));
        }
        for (const std::string& name : options_.verifiers) {
            party(name).role = std::make_unique<VerifierRole>(party(name).parts, options_of_verifier(name));
        }
        for (const std::string& name : options_.buyers) {
            for (const Bytes& content : {job_.file, base::to_bytes(base::as_bytes("tokenizer")),
                                         base::to_bytes(base::as_bytes("manifest"))}) {
                REQUIRE(party(name).store->put(content).ok());
            }
        }
        for (auto& [name, one] : parties_)
            if (one->role) start_role(*one);
        for (const std::string& name : options_.buyers)
            if (!options_.late.contains(name)) buy(name);
    }
    /// The buyer posts its job and starts.
    void buy(const std::string& name) {
        Party& buyer = party(name);
        sign(buyer.owner, submission(spec_of(name), buyer.node, buyer.parts.endpoint));
        make_block();
        settle();
        start_buyer(name);
    }
    void start_buyer(const std::string& name = "bea") {
        Party& buyer = party(name);
        const auto bought = bought_job(state(), buyer.node.public_key(), spec_of(name));
        buyer.parts.start_height = height();
        buyer.role =
            std::make_unique<BuyerRole>(buyer.parts, BuyerOptions{.job = bought.value(),
                                                                  .challenge = options_.challenge_of(name),
                                                                  .bid = options_.bid_of(name)});
        start_role(buyer);
        settle();
    }

    /// What the miner is told at its next start.
    void set_ask(const std::string& name, std::uint64_t price) { options_.asks[name] = price; }
    void set_trade(const std::string& name, const LotTerms& terms) { options_.limits[name].trade = terms; }

    /// The verifier's process ends, and another one starts with what it left on disk.
    void restart_verifier(const std::string& name) {
        Party& verifier = party(name);
        verifier.parts.start_height = height();
        verifier.worker.restart();
        verifier.role = std::make_unique<VerifierRole>(verifier.parts, options_of_verifier(name));
        start_role(verifier);
        settle();
    }
    /// The miner's process ends, and another one starts with what it left on disk.
    void restart_miner(const std::string& name) {
        Party& miner = party(name);
        miner.parts.start_height = height();
        miner.worker.restart();
        miner.role = std::make_unique<MinerRole>(miner.parts, options_.of_miner(name));
        start_role(miner);
        settle();
    }

    [[nodiscard]] Party& party(const std::string& name) { return *parties_.at(name); }
    [[nodiscard]] const std::map<std::string, std::unique_ptr<Party>>& parties() const { return parties_; }
    /// With the records of ended jobs, as the ledger's index has them.
    [[nodiscard]] const contracts::StateView& state() const { return *state_; }
    [[nodiscard]] const program::JobSpec& spec() const { return job_.spec; }
    /// What the buyer's job asks for.
    [[nodiscard]] program::JobSpec spec_of(const std::string& name) const {
        program::JobSpec spec = job_.spec;
        while (options_.buyers[spec.seed - job_.spec.seed] != name) ++spec.seed;
        if (options_.widths.contains(name)) spec.model.width = options_.widths.at(name);
        spec.initial_root = initial_root_of(spec);
        if (options_.caps.contains(name))
            spec.market.max_price = base::Amount::of(options_.caps.at(name)).value();
        return spec;
    }
    /// The job of the buyer.
    [[nodiscard]] std::optional<contracts::Job> job_of(const std::string& buyer) const {
        for (contracts::Job& one : contracts::list_jobs(state()))
            if (one.spec.seed == spec_of(buyer).seed) return std::move(one);
        return std::nullopt;
    }
    [[nodiscard]] HandClock& clock() { return clock_; }
    [[nodiscard]] std::uint64_t height() const { return chain_->height(); }

    /// The state with what its settled rounds left to the blocks, as an auditor has it.
    [[nodiscard]] contracts::MemoryState with_evidence() const {
        contracts::MemoryState whole;
        for (const auto& [key, value] : state().scan({})) whole.put(key, value);
        REQUIRE(ledger::recover_records(whole, [&](base::ByteView key) {
                    return chain_->application().history(key).value();
                }).ok());
        const auto recovered =
            ledger::recover_evidence(whole, [&](std::uint64_t height) { return chain_->block(height); });
        REQUIRE(recovered.ok());
        return whole;
    }
    [[nodiscard]] std::optional<contracts::Job> job() const {
        const auto jobs = contracts::list_jobs(state());
        return jobs.empty() ? std::nullopt : std::optional(jobs.front());
    }
    [[nodiscard]] contracts::Round round(std::uint32_t number) const {
        return *contracts::read_round(state(), job()->id, number);
    }
    [[nodiscard]] contracts::SlotRound slot(std::uint32_t number, std::uint32_t place) const {
        return *contracts::read_slot(state(), job()->id, number, place);
    }
    /// What the verifier opened for this round, in every stage; nothing when it was silent.
    [[nodiscard]] std::vector<contracts::SlotClaim> claims(const std::string& name, std::uint32_t number) {
        std::vector<contracts::SlotClaim> all;
        const contracts::MemoryState whole = with_evidence();
        for (const auto stage : contracts::kStages) {
            const auto posting =
                contracts::read_audit(whole, job()->id, number, stage, party(name).node.public_key());
            if (posting && posting->opened)
                all.insert(all.end(), posting->claims.begin(), posting->claims.end());
        }
        return all;
    }
    /// How many verifiers replayed the slot, and how many computed it from what was served.
    struct Audited {
        int replayed = 0;
        int served = 0;
    };
    [[nodiscard]] Audited audited(std::uint32_t number, std::uint32_t place) {
        Audited count;
        for (const std::string& name : options_.verifiers) {
            for (const contracts::SlotClaim& claim : claims(name, number)) {
                if (claim.slot == place) ++(claim.replayed ? count.replayed : count.served);
            }
        }
        return count;
    }
    /// The settlement line of a slot.
    [[nodiscard]] contracts::SettlementLine line_of(std::uint32_t number, std::uint32_t place) const {
        for (const auto& line : contracts::list_settlement(state(), job()->id, number)) {
            if (line.kind == contracts::LineKind::kSlot && line.slot == place) return line;
        }
        return {};
    }
    [[nodiscard]] bool at_phase(std::uint32_t number, contracts::RoundPhase phase) const {
        const auto now = job();
        return now && now->phase == contracts::JobPhase::kRounds && now->round == number &&
               round(number).phase == phase;
    }
    [[nodiscard]] bool ended() const { return job() && job()->phase == contracts::JobPhase::kEnded; }
    [[nodiscard]] bool settled(std::uint32_t number) const {
        return job() && (job()->round > number || job()->phase == contracts::JobPhase::kEnded);
    }

    /// Two seconds and a block go by, and everything that anybody asked for is answered.
    void turn() {
        clock_.now += 2'000'000'000;
        for (auto& [name, one] : parties_)
            if (one->role && !one->ended) one->role->step(TimerFired{});
        settle();
        make_block();
        settle();
    }
    /// The next block begins with this message of the party's node, beside what its role sends.
    void have_sign(const std::string& name, contracts::Payload payload) {
        sign(party(name).node, std::move(payload));
    }
    /// False when it does not come to that.
    bool turn_until(const std::function<bool()>& done, int most = 400) {
        for (int i = 0; i < most && !done(); ++i) turn();
        return done();
    }

private:
    void sign(const base::SecretKey& owner, contracts::Payload payload) {
        owners_.push_back(assay::test::signed_by(owner, contracts::next_nonce(state(), owner.public_key()),
                                                 std::move(payload)));
    }
    void register_party(const std::string& name, WorkRole role) {
        const Party& one = party(name);
        const OnboardingWants wants{
            .role = role,
            .owner = one.owner.public_key(),
            .node = one.node.public_key(),
            .node_proof = contracts::prove_node_key(one.node, one.owner.public_key(), assay::test::kChainId),
            .endpoint = one.parts.endpoint,
            .stake = stake_of(name, role)};
        const auto offer = [&](const auto&, contracts::Payload payload) {
            sign(one.owner, std::move(payload));
        };
        while (!onboard(state(), wants, offer) || !owners_.empty()) make_block();
    }
    [[nodiscard]] base::Amount stake_of(const std::string& name, WorkRole role) const {
        if (role == WorkRole::kBuyer && options_.challenge_of(name) == 0) return {};
        const base::Amount plenty = assay::test::tokens(200);
        return role == WorkRole::kMiner ? options_.miner_stake.value_or(plenty) : plenty;
    }
    void start_role(Party& one) {
        one.role->step(Started{});
        for (std::uint64_t at = 1; at <= chain_->height(); ++at) {
            one.role->step(BlockSeen{at, base::encode(chain_->block(at).value())});
        }
    }
    [[nodiscard]] VerifierOptions options_of_verifier(const std::string& name) const {
        VerifierOptions options;
        options.challenge = options_.challenge_of(name);
        if (options_.conducts.contains(name)) options.conducts.add(options_.conducts.at(name));
        if (!options_.colluding.contains(name)) return options;
        options.conducts.add(Misconduct::kColludingPanel);
        options.accomplice_note = [this](const std::string& note) {
            return parties_.at(options_.miners.front())->notes.read(note).value();
        };
        return options;
    }
    [[nodiscard]] std::vector<std::string> everybody() const {
        std::vector<std::string> names = options_.miners;
        names.insert(names.end(), options_.verifiers.begin(), options_.verifiers.end());
        names.insert(names.end(), options_.buyers.begin(), options_.buyers.end());
        return names;
    }
    static base::Hash256 initial_root_of(const program::JobSpec& spec) {
        const auto start = program::initial_parameters(spec.model, spec.seed);
        return program::base_state_root(program::parameter_tensors(spec.model), start,
                                        std::vector<float>(start.size(), 0.0F), 0);
    }
    ledger::Genesis make_genesis() {
        contracts::GenesisConfig config;
        config.chain_id = assay::test::kChainId;
        for (const std::string& name : everybody()) {
            config.balances.emplace_back(key_of(name).public_key(), assay::test::tokens(1000));
        }
        std::sort(config.balances.begin(), config.balances.end());
        config.validators = {{key_of("sequencer-owner").public_key(), key_of("sequencer").public_key()}};
        config.params.ask_commit_window = config.params.ask_reveal_window = 4;
        config.params.commit_window = options_.commit_window;
        config.params.merge_seal_window = 16;
        config.params.audit_seal_window = options_.audit_window;
        config.params.beacon_window = config.params.serve_window = config.params.reveal_window = 8;
        config.params.storage_window = 16;
        config.params.audit_open_window = config.params.merge_open_window = 8;
        config.params.claim_window = options_.claim_window.value_or(3 * options_.audit_window);
        config.params.panel_owners_least = 2;
        config.market = options_.epochs;
        if (options_.move_window) config.params.dispute_move_window = *options_.move_window;
        if (!options_.draw_everything) config.params.probation_rounds = 0;
        return {.chain_id = config.chain_id,
                .validators = contracts::validators_of(config),
                .rules = base::encode(config),
                .block_interval_ms = options_.block_interval_ms};
    }
    void add(const std::string& name) {
        parties_[name] = std::make_unique<Party>(
            name, genesis_, clock_, folder_.path(),
            options_.quotas.contains(name) ? options_.quotas.at(name) : options_.quota);
        if (options_.outward.contains(name))
            parties_[name]->parts.endpoint = outward_endpoint(parties_[name]->node.public_key());
    }
    std::uint64_t next_time() {
        time_ += std::max<std::uint64_t>(1, options_.block_interval_ms);
        return time_;
    }
    void make_block() {
        std::vector<Bytes> transactions = std::exchange(owners_, {});
        const std::size_t of_owners = transactions.size();
        std::vector<std::pair<Party*, std::vector<std::pair<RequestId, Bytes>>>> sent;
        for (auto& [name, one] : parties_) {
            sent.emplace_back(one.get(), std::exchange(one->mempool.sent, {}));
            for (const auto& [request, bytes] : sent.back().second) transactions.push_back(bytes);
        }
        const auto made =
            chain_->append(transactions, ledger::EmptyBlock::kMake, next_time(), key_of("sequencer"));
        REQUIRE(made.ok());
        const std::uint64_t height = chain_->height();
        std::map<base::Hash256, std::uint16_t> refused;
        for (const auto& one : made->refused) refused[one.id] = one.code;
        for (std::size_t i = 0; i < of_owners; ++i) {
            REQUIRE_FALSE(
                refused.contains(contracts::check_static(assay::test::kChainId, transactions[i]).value().id));
        }
        for (auto& [one, requests] : sent) {
            for (const auto& [request, bytes] : requests) {
                const auto decoded = contracts::check_static(assay::test::kChainId, bytes);
                const bool taken = decoded.ok() && !refused.contains(decoded->id);
                SubmitReply reply;
                reply.accepted = taken;
                if (!taken && decoded.ok()) reply.reason = refused.at(decoded->id);
                reply.reason_text = taken ? "" : "refused";
                reply.height = taken ? height : 0;
                if (taken) reply.receipt = receipt_for(*made->block, decoded->id);
                if (!one->ended) one->role->step(SubmitDone{request, reply});
            }
        }
        const Bytes block = base::encode(chain_->block(height).value());
        for (auto& [name, one] : parties_)
            if (one->role && !one->ended) one->role->step(BlockSeen{height, block});
    }
    static Bytes receipt_for(const ledger::Committed& block, const base::Hash256& id) {
        ledger::Receipt receipt{id, block.header.height, 0, 0, block.hash, {}};
        while (block.results.transactions.at(receipt.index).id != id) ++receipt.index;
        ledger::sign_receipt(receipt, assay::test::kChainId, key_of("sequencer"));
        return base::encode(receipt);
    }
    void settle() {
        int rounds = 0;
        for (bool busy = true; busy;) {
            busy = false;
            if (++rounds > 5'000) FAIL("somebody asks for the same again and again, without a pause");
            for (auto& [name, one] : parties_) {
                if (!one->role || one->ended) continue;
                if (!one->blobs.asked.empty()) {
                    const auto asked = one->blobs.asked.front();
                    one->blobs.asked.pop_front();
                    one->asked_for.insert(asked.id);
                    // Of a share the owner is asked first, and others that are slow are left.
                    const bool share = asked.terms.share.has_value();
                    const Party* const first = party_at(share ? asked.holders.back() : asked.holders.front());
                    if (first != nullptr && first->trickles) {
                        if (share || asked.holders.size() == 1) one->role->step(BlobAsked{asked.request});
                        continue;
                    }
                    in_parts_ = share;
                    asker_ = one.get();
                    const auto fetched =
                        fetch_blob(*one->store, asked.id, asked.holders, connect_, {}, nullptr, asked.terms);
                    if (fetched.ok())
                        one->received[asked.terms.traffic] += one->store->describe(asked.id)->size;
                    one->role->step(BlobFetched{asked.request, asked.id, fetched});
                    busy = true;
                }
                if (one->ended) continue;
                if (auto answer = one->worker.take()) {
                    one->role->step(*answer);
                    busy = true;
                }
            }
        }
    }

    [[nodiscard]] Party* party_at(const Endpoint& at) {
        const auto found = parties_.find(at.substr(0, at.find(':')));
        return found == parties_.end() ? nullptr : found->second.get();
    }

    /// Of a party that accepts no connection: those alone have its blobs to whom it opened a call, and who
    /// take it.
    Outcome<std::unique_ptr<BlobService>> over_its_own_call(const base::PublicKey& node) {
        for (auto& [name, one] : parties_) {
            if (one->node.public_key() != node) continue;
            const OutwardPeer peer{asker_->node.public_key(), asker_->parts.endpoint};
            const auto& lent = one->blobs.lent;
            if (std::find(lent.begin(), lent.end(), peer) == lent.end()) break;
            if (!asker_->blobs.admitted.contains(node) || !one->serves) break;
            return std::unique_ptr<BlobService>(std::make_unique<PartyBlobs>(*one));
        }
        return base::fail(base::ErrorKind::kUnreachable, "it accepts no connection");
    }

    MarketOptions options_;
    Party* asker_ = nullptr;  ///< of the fetch under way
    bool in_parts_ = false;   ///< it is
    assay::test::TemporaryFolder folder_;
    HandClock clock_;
    const ledger::Genesis genesis_;
    ledger::testing::Faults faults_;
    ledger::testing::FaultyDisk disk_{faults_};
    ledger::testing::MemoryProvider provider_{faults_};
    std::unique_ptr<ledger::Chain> chain_;
    std::optional<contracts::WithHistory> state_;  ///< of the chain
    std::uint64_t time_ = 0;
    std::vector<Bytes> owners_;
    tests::TinyJob job_;
    std::map<std::string, std::unique_ptr<Party>> parties_;
    const ConnectHolder connect_ = [this](const Endpoint& at) -> Outcome<std::unique_ptr<BlobService>> {
        if (const auto node = outward_node(at)) return over_its_own_call(*node);
        const auto found = parties_.find(at.substr(0, at.find(':')));
        if (found == parties_.end() || !found->second->serves) {
            return base::fail(base::ErrorKind::kUnreachable, "nobody is at " + at);
        }
        if (in_parts_ && found->second->trickles)
            return base::fail(base::ErrorKind::kUnreachable, "it gives slowly");
        return std::unique_ptr<BlobService>(std::make_unique<PartyBlobs>(*found->second));
    };
};

/// The slots of this round that the miner holds.
inline std::vector<contracts::SlotRound> slots_of(Market& market, const std::string& miner,
                                                  std::uint32_t round) {
    std::vector<contracts::SlotRound> held;
    for (std::uint32_t i = 0; i < market.spec().slots; ++i) {
        const auto slot = market.slot(round, i);
        if (slot.miner == market.party(miner).node.public_key()) held.push_back(slot);
    }
    return held;
}

inline void check_nobody_ended(const Market& market) {
    for (const auto& [name, party] : market.parties()) {
        INFO(name << ": " << (party->error ? party->error->what : std::string("done")));
        CHECK((!party->ended || (name == "bea" && !party->error)));
    }
}

/// The job runs to its end, and every slot of every round is paid.
inline void check_all_paid(Market& market) {
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    check_nobody_ended(market);
    CHECK(market.job()->end_reason == contracts::Reason::kJobComplete);
    for (std::uint32_t round = 0; round < market.spec().rounds; ++round) {
        CHECK(market.round(round).merged);
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            INFO("round " << round << ", slot " << slot);
            CHECK(market.slot(round, slot).verdict == contracts::Reason::kPaid);
        }
    }
}

}  // namespace assay::node::test_market
