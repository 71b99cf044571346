// SPDX-License-Identifier: Apache-2.0
// Every stored layout: one prefix byte per table, then the key, big-endian where order matters. Values are
// the canonical encodings of the named records. Readers return nothing when there is no such record; bytes
// that do not decode are damage to the ledger's own store and end the process (ASSAY_CHECK).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/job_records.hpp"
#include "contracts/rules/params.hpp"
#include "contracts/rules/records.hpp"
#include "contracts/rules/round_records.hpp"
#include "contracts/rules/state.hpp"

namespace assay::contracts {

/// Grows with every change of a layout below or of a record; migration.hpp brings older states here.
inline constexpr std::uint32_t kSchemaVersion = 2;

/// First byte of a key.
enum class Table : std::uint8_t {
    kMeta = 0x01,        // -> Meta
    kParams = 0x02,      // -> Hash256: the current set of parameters
    kSupply = 0x03,      // -> Supply
    kSequencer = 0x04,   // -> Sequencer
    kParamSet = 0x05,    // hash of the set -> Params: every set that was ever current
    kAccount = 0x10,     // owner key -> Account
    kNodeKey = 0x11,     // node key -> NodeKey
    kStake = 0x12,       // node key -> Stake
    kUnbonding = 0x13,   // release height, sequence number -> Unbonding
    kMiner = 0x14,       // node key -> Miner
    kVerifier = 0x15,    // node key -> Verifier
    kStanding = 0x16,    // node key, family, profile, scale -> Standing
    kJob = 0x20,         // job -> Job
    kActiveJob = 0x21,   // job -> empty: jobs not ended
    kAsk = 0x22,         // job, miner -> Ask
    kRound = 0x30,       // job, round -> Round
    kSlotRound = 0x31,   // job, round, slot -> SlotRound
    kReveal = 0x32,      // job, round, slot -> Reveal
    kAudit = 0x33,       // job, round, stage, verifier -> AuditPosting
    kSettlement = 0x34,  // job, round, line number -> SettlementLine
};

/// The schema stands first in every version, so that a program can tell a state that is not its own.
struct Meta {
    std::uint32_t schema = kSchemaVersion;
    std::string chain_id;
    std::uint64_t unbondings = 0;  ///< sequence number of the next withdrawal
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.schema, self.chain_id, self.unbondings);
    }
};

Bytes meta_key();
Bytes params_key();
Bytes param_set_key(const Hash256& set);
Bytes supply_key();
Bytes sequencer_key();
Bytes account_key(const PublicKey& owner);
Bytes node_key(const PublicKey& node);
Bytes stake_key(const PublicKey& node);
Bytes unbonding_key(std::uint64_t release_height, std::uint64_t number);
Bytes miner_key(const PublicKey& node);
Bytes verifier_key(const PublicKey& node);
Bytes standing_key(const PublicKey& node, const WorkClass& kind);
Bytes job_key(const Hash256& job);
Bytes active_job_key(const Hash256& job);
Bytes ask_key(const Hash256& job, const PublicKey& miner);
Bytes round_key(const Hash256& job, std::uint32_t round);
Bytes slot_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes reveal_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes audit_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier);
Bytes settlement_key(const Hash256& job, std::uint32_t round, std::uint32_t line);

// Reading. The first four exist in every state made by genesis().
Meta read_meta(const StateView& state);
/// Parameters of what belongs to no job (registration, unbonding), and of a job being submitted.
Params read_current_params(const StateView& state);
/// The parameters of one job: those it was submitted under, whatever is current by now. Everything that a
/// rule, an audit or a role decides about a job reads these.
Params params_of(const StateView& state, const Job& job);
std::optional<Params> read_param_set(const StateView& state, const Hash256& set);
Supply read_supply(const StateView& state);
Sequencer read_sequencer(const StateView& state);
/// An account that was never touched is an empty one.
Account read_account(const StateView& state, const PublicKey& owner);
std::optional<NodeKey> read_node_key(const StateView& state, const PublicKey& node);
/// No record: nothing staked.
Stake read_stake(const StateView& state, const PublicKey& node);
std::optional<Miner> read_miner(const StateView& state, const PublicKey& node);
std::optional<Verifier> read_verifier(const StateView& state, const PublicKey& node);
std::optional<Standing> read_standing(const StateView& state, const PublicKey& node, const WorkClass& kind);
std::optional<Job> read_job(const StateView& state, const Hash256& job);
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner);
std::optional<Round> read_round(const StateView& state, const Hash256& job, std::uint32_t round);
std::optional<SlotRound> read_slot(const StateView& state, const Hash256& job, std::uint32_t round,
                                   std::uint32_t slot);
std::optional<Reveal> read_reveal(const StateView& state, const Hash256& job, std::uint32_t round,
                                  std::uint32_t slot);
std::optional<AuditPosting> read_audit(const StateView& state, const Hash256& job, std::uint32_t round,
                                       Stage stage, const PublicKey& verifier);

// Listing, ascending by key.
std::vector<std::pair<PublicKey, Account>> list_accounts(const StateView& state);
std::vector<std::pair<PublicKey, Miner>> list_miners(const StateView& state);
std::vector<std::pair<PublicKey, Verifier>> list_verifiers(const StateView& state);
/// Every class in which the miner earned something that still counts, with the work.
std::vector<std::pair<WorkClass, std::uint64_t>> list_standing(const StateView& state, const PublicKey& node);
std::vector<Job> list_jobs(const StateView& state);
std::vector<Hash256> list_active_jobs(const StateView& state);
std::vector<Ask> list_asks(const StateView& state, const Hash256& job);
std::vector<SlotRound> list_slots(const StateView& state, const Hash256& job, std::uint32_t round);
std::vector<AuditPosting> list_audits(const StateView& state, const Hash256& job, std::uint32_t round);
std::vector<SettlementLine> list_settlement(const StateView& state, const Hash256& job, std::uint32_t round);

/// The nonce that the next transaction of `key`, an owner or a node key, must carry.
std::uint64_t next_nonce(const StateView& state, const PublicKey& key);

/// What `verifier` must recompute in `stage` of the round, in the order its claims must have: slots
/// ascending, units ascending. Only revealed slots. Empty: not drawn. In stage kThird the same units as the
/// pair had, of the slots it was drawn for.
struct AssignedUnit {
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
};
std::vector<AssignedUnit> assigned_units(const StateView& state, const Hash256& job, std::uint32_t round,
                                         Stage stage, const PublicKey& verifier);

/// The slots whose updates the merge of this round sums, weight 1 each, ascending: found right and not
/// diverged. Final once the round is past its audit phases.
std::vector<std::uint32_t> merge_slots(const StateView& state, const Hash256& job, std::uint32_t round);

}  // namespace assay::contracts
