// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/tables.hpp"

#include <algorithm>

#include "contracts/rules/store.hpp"

namespace assay::contracts {

namespace {

/// Builds a key: numbers big-endian, so that they sort as numbers.
class KeyBuilder {
public:
    explicit KeyBuilder(Table table) { bytes_.push_back(static_cast<std::uint8_t>(table)); }
    KeyBuilder& add(ByteView part) {
        bytes_.insert(bytes_.end(), part.begin(), part.end());
        return *this;
    }
    KeyBuilder& add_number(std::uint64_t value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            bytes_.push_back(static_cast<std::uint8_t>(value >> shift & 0xffU));
        }
        return *this;
    }
    [[nodiscard]] Bytes take() { return std::move(bytes_); }

private:
    Bytes bytes_;
};

template <class T>
T required(std::optional<T> found) {
    ASSAY_CHECK(found.has_value());
    return std::move(*found);
}

template <class T>
std::vector<T> list_values(const StateView& state, const Bytes& prefix) {
    std::vector<T> found;
    state.for_each(prefix, prefix, [&](ByteView, ByteView value) {
        found.push_back(stored<T>(value));
        return true;
    });
    return found;
}

template <class T>
std::vector<std::pair<PublicKey, T>> list_by_key(const StateView& state, Table table) {
    std::vector<std::pair<PublicKey, T>> found;
    const Bytes prefix = table_prefix(table);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == 33);
        PublicKey name;
        std::copy(key.begin() + 1, key.end(), name.bytes.begin());
        found.emplace_back(name, stored<T>(value));
        return true;
    });
    return found;
}

Bytes round_prefix(Table table, const Hash256& job, std::uint32_t round) {
    return KeyBuilder(table).add(job.view()).add_number(round, 4).take();
}

}  // namespace

Bytes table_prefix(Table table) { return KeyBuilder(table).take(); }

Bytes meta_key() { return table_prefix(Table::kMeta); }
Bytes params_key() { return table_prefix(Table::kParams); }
Bytes param_set_key(const Hash256& set) { return KeyBuilder(Table::kParamSet).add(set.view()).take(); }
Bytes supply_key() { return table_prefix(Table::kSupply); }
Bytes sequencer_key() { return table_prefix(Table::kSequencer); }
Bytes account_key(const PublicKey& owner) { return KeyBuilder(Table::kAccount).add(owner.view()).take(); }
Bytes node_key(const PublicKey& node) { return KeyBuilder(Table::kNodeKey).add(node.view()).take(); }
Bytes stake_key(const PublicKey& node) { return KeyBuilder(Table::kStake).add(node.view()).take(); }
Bytes unbonding_key(std::uint64_t release_height, std::uint64_t number) {
    return KeyBuilder(Table::kUnbonding).add_number(release_height, 8).add_number(number, 8).take();
}
Bytes miner_key(const PublicKey& node) { return KeyBuilder(Table::kMiner).add(node.view()).take(); }
Bytes verifier_key(const PublicKey& node) { return KeyBuilder(Table::kVerifier).add(node.view()).take(); }
Bytes standing_key(const PublicKey& node, const WorkClass& kind) {
    return KeyBuilder(Table::kStanding)
        .add(node.view())
        .add_number(static_cast<std::uint64_t>(kind.family), 1)
        .add_number(static_cast<std::uint64_t>(kind.profile), 1)
        .add_number(kind.scale, 1)
        .take();
}
Bytes job_key(const Hash256& job) { return KeyBuilder(Table::kJob).add(job.view()).take(); }
Bytes active_job_key(const Hash256& job) { return KeyBuilder(Table::kActiveJob).add(job.view()).take(); }
Bytes ask_key(const Hash256& job, const PublicKey& miner) {
    return KeyBuilder(Table::kAsk).add(job.view()).add(miner.view()).take();
}
Bytes round_key(const Hash256& job, std::uint32_t round) { return round_prefix(Table::kRound, job, round); }
Bytes slot_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kSlotRound).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes reveal_key(const Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return KeyBuilder(Table::kReveal).add(job.view()).add_number(round, 4).add_number(slot, 4).take();
}
Bytes audit_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier) {
    return KeyBuilder(Table::kAudit)
        .add(job.view())
        .add_number(round, 4)
        .add_number(static_cast<std::uint64_t>(stage), 1)
        .add(verifier.view())
        .take();
}
Bytes settlement_key(const Hash256& job, std::uint32_t round, std::uint32_t line) {
    return KeyBuilder(Table::kSettlement).add(job.view()).add_number(round, 4).add_number(line, 4).take();
}

Meta read_meta(const StateView& state) { return required(load<Meta>(state, meta_key())); }
Params read_current_params(const StateView& state) {
    return required(read_param_set(state, required(load<Hash256>(state, params_key()))));
}
Params params_of(const StateView& state, const Job& job) {
    return required(read_param_set(state, job.params));
}
std::optional<Params> read_param_set(const StateView& state, const Hash256& set) {
    return load<Params>(state, param_set_key(set));
}
Supply read_supply(const StateView& state) { return required(load<Supply>(state, supply_key())); }
Sequencer read_sequencer(const StateView& state) { return required(load<Sequencer>(state, sequencer_key())); }

Account read_account(const StateView& state, const PublicKey& owner) {
    return load<Account>(state, account_key(owner)).value_or(Account{});
}
std::optional<NodeKey> read_node_key(const StateView& state, const PublicKey& node) {
    return load<NodeKey>(state, node_key(node));
}
Stake read_stake(const StateView& state, const PublicKey& node) {
    return load<Stake>(state, stake_key(node)).value_or(Stake{});
}
std::optional<Miner> read_miner(const StateView& state, const PublicKey& node) {
    return load<Miner>(state, miner_key(node));
}
std::optional<Verifier> read_verifier(const StateView& state, const PublicKey& node) {
    return load<Verifier>(state, verifier_key(node));
}
std::optional<Standing> read_standing(const StateView& state, const PublicKey& node, const WorkClass& kind) {
    return load<Standing>(state, standing_key(node, kind));
}
std::optional<Job> read_job(const StateView& state, const Hash256& job) {
    return load<Job>(state, job_key(job));
}
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner) {
    return load<Ask>(state, ask_key(job, miner));
}
std::optional<Round> read_round(const StateView& state, const Hash256& job, std::uint32_t round) {
    return load<Round>(state, round_key(job, round));
}
std::optional<SlotRound> read_slot(const StateView& state, const Hash256& job, std::uint32_t round,
                                   std::uint32_t slot) {
    return load<SlotRound>(state, slot_key(job, round, slot));
}
std::optional<Reveal> read_reveal(const StateView& state, const Hash256& job, std::uint32_t round,
                                  std::uint32_t slot) {
    return load<Reveal>(state, reveal_key(job, round, slot));
}
std::optional<AuditPosting> read_audit(const StateView& state, const Hash256& job, std::uint32_t round,
                                       Stage stage, const PublicKey& verifier) {
    return load<AuditPosting>(state, audit_key(job, round, stage, verifier));
}

std::vector<std::pair<PublicKey, Account>> list_accounts(const StateView& state) {
    return list_by_key<Account>(state, Table::kAccount);
}
std::vector<std::pair<PublicKey, Miner>> list_miners(const StateView& state) {
    return list_by_key<Miner>(state, Table::kMiner);
}
std::vector<std::pair<PublicKey, Verifier>> list_verifiers(const StateView& state) {
    return list_by_key<Verifier>(state, Table::kVerifier);
}
std::vector<std::pair<PublicKey, Stake>> list_stakes(const StateView& state) {
    return list_by_key<Stake>(state, Table::kStake);
}
std::vector<std::pair<PublicKey, NodeKey>> list_node_keys(const StateView& state) {
    return list_by_key<NodeKey>(state, Table::kNodeKey);
}
std::vector<std::pair<WorkClass, std::uint64_t>> list_standing(const StateView& state,
                                                               const PublicKey& node) {
    std::vector<std::pair<WorkClass, std::uint64_t>> found;
    const auto miner = read_miner(state, node);
    if (!miner) return found;
    const Bytes prefix = KeyBuilder(Table::kStanding).add(node.view()).take();
    for (const auto& [key, value] : state.scan(prefix)) {
        ASSAY_CHECK(key.size() == prefix.size() + 3);
        const auto standing = stored<Standing>(value);
        if (standing.losses != miner->losses) continue;
        const auto last = key.end();
        found.emplace_back(WorkClass{static_cast<program::Family>(*(last - 3)),
                                     static_cast<program::Profile>(*(last - 2)), *(last - 1)},
                           standing.work);
    }
    return found;
}
std::vector<Job> list_jobs(const StateView& state) {
    return list_values<Job>(state, table_prefix(Table::kJob));
}
std::vector<Hash256> list_active_jobs(const StateView& state) {
    std::vector<Hash256> found;
    const Bytes prefix = table_prefix(Table::kActiveJob);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        ASSAY_CHECK(key.size() == 33);
        found.push_back(base::hash_from(key.subspan(1)));
        return true;
    });
    return found;
}
std::vector<Ask> list_asks(const StateView& state, const Hash256& job) {
    return list_values<Ask>(state, KeyBuilder(Table::kAsk).add(job.view()).take());
}
std::vector<SlotRound> list_slots(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<SlotRound>(state, round_prefix(Table::kSlotRound, job, round));
}
std::vector<AuditPosting> list_audits(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<AuditPosting>(state, round_prefix(Table::kAudit, job, round));
}
std::vector<SettlementLine> list_settlement(const StateView& state, const Hash256& job, std::uint32_t round) {
    return list_values<SettlementLine>(state, round_prefix(Table::kSettlement, job, round));
}

void set_current_params(State& state, const Params& params) {
    const Hash256 set = params_hash(params);
    store(state, param_set_key(set), params);
    store(state, params_key(), set);
}

std::uint64_t next_nonce(const StateView& state, const PublicKey& key) {
    if (const auto node = read_node_key(state, key)) return node->nonce;
    return read_account(state, key).nonce;
}

std::vector<AssignedUnit> assigned_units(const StateView& state, const Hash256& job, std::uint32_t round,
                                         Stage stage, const PublicKey& verifier) {
    std::vector<AssignedUnit> assigned;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (!slot.revealed) continue;
        // The first two are the pair; whoever follows is the third.
        for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
            if (slot.verifiers[i] != verifier || (i < 2) != (stage == Stage::kPair)) continue;
            for (const std::uint32_t unit : slot.drawn_units) assigned.push_back({slot.slot, unit});
        }
    }
    return assigned;
}

std::vector<std::uint32_t> merge_slots(const StateView& state, const Hash256& job, std::uint32_t round) {
    std::vector<std::uint32_t> merged;
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (slot.verdict == Reason::kPaid) merged.push_back(slot.slot);
    }
    return merged;
}

}  // namespace assay::contracts
