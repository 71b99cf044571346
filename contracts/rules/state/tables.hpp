// SPDX-License-Identifier: Apache-2.0
// The tables of the state, for the subjects of the rules: one prefix byte for each, the schema's number, and
// the records that belong to no subject. A key is the byte, then numbers, big-endian if their order matters;
// a value is the canonical encoding of the named record. The keys and readers of a subject are in its
// tables.hpp; contracts/rules/tables.hpp includes them all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contracts/base/hash.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/supply.hpp"
#include "contracts/rules/state/validators.hpp"

namespace assay::contracts {

using base::Hash256;

/// Grows with every change of a layout or of a record; migration.hpp migrates older states to it.
inline constexpr std::uint32_t kSchemaVersion = 14;

/// First byte of a key.
enum class Table : std::uint8_t {
    kMeta = 0x01,           // -> Meta
    kParams = 0x02,         // -> Hash256: the current set of parameters
    kSupply = 0x03,         // -> Supply
    kValidators = 0x04,     // -> ValidatorSet
    kParamSet = 0x05,       // hash of the set -> Params: every set that was ever current
    kDeadline = 0x06,       // height, kind, subject -> empty: what begin_block must look at, and when
    kAccount = 0x10,        // owner key -> Account
    kNodeKey = 0x11,        // node key -> NodeKey
    kStake = 0x12,          // node key -> Stake
    kUnbonding = 0x13,      // release height, sequence number -> Unbonding
    kMiner = 0x14,          // node key -> Miner
    kVerifier = 0x15,       // node key -> Verifier
    kStanding = 0x16,       // node key, family, profile, scale -> Standing
    kTeamMember = 0x17,     // sponsor's and member's owner keys -> TeamMember
    kJobTerms = 0x20,       // job -> JobTerms
    kActiveJob = 0x21,      // job -> empty: jobs not ended
    kAsk = 0x22,            // job, miner -> Ask
    kJobProgress = 0x23,    // job -> JobProgress
    kBidding = 0x24,        // job -> Bidding
    kBuyerEndpoint = 0x25,  // job -> text
    kRoster = 0x26,         // job, miner -> RosterEntry
    kPanel = 0x27,          // job, verifier -> EnlistedVerifier
    kBeaconMember = 0x28,   // job, node key -> BeaconMember
    kEndedJob = 0x29,       // job -> EndedJob: what is left of a job whose records have left
    kJobAdditions = 0x2a,   // job -> JobAdditions, once there is one
    kRound = 0x30,          // job, round -> RoundProgress
    kSlotRound = 0x31,      // job, round, slot -> SlotRound
    kReveal = 0x32,         // job, round, slot -> Reveal
    kAudit = 0x33,          // job, round, stage, verifier -> AuditPosting
    kSettlement = 0x34,     // job, round, line number -> SettlementLine
    kJudges = 0x35,         // job, round -> list of Judge
    kBeaconLink = 0x36,     // job, round, node key -> BeaconLink
    kMergePosting = 0x37,   // job, round, verifier -> MergePosting
    kRevealPlace = 0x38,    // job, round, slot -> LogPlace
    kAuditPlace = 0x39,     // job, round, stage, verifier -> LogPlace
    kHandedOn = 0x3a,       // job, round, slot -> CarriedIn, in jobs that carry
    kServe = 0x3b,          // job, round, slot -> Serve, until the round is archived
    kStorage = 0x3c,        // job, round, verifier -> StoragePosting
    kMergePlace = 0x3d,     // job, round, verifier -> LogPlace, of a merge with clips
    kShownAge = 0x3e,       // job, round, slot -> u64, beside a Reveal that shows what its slot carries
    kClaim = 0x40,          // job, round, kind, number -> Claim, while it is open
    kGame = 0x41,           // job, number -> Game
    kGamePieces = 0x42,     // job, number -> GamePieces, while the game is open
    kPlayedGames = 0x43,    // claimant's node key -> list of PlayedGame, while there is one
    kDueInGames = 0x44,     // job, height, what, its name -> empty: which games, and whose accusers, are due
    kClaimOf = 0x45,        // job, node, kind, round, number -> empty: an open claim of the node
    kWindowEnd = 0x46,      // job, height, round, kind, number -> empty: an open claim whose window ends then
    kGameAbout = 0x47,      // job, round, kind, number, game -> empty: a game about an open claim
    kQueuedGame = 0x48,     // claimant, challenger's owner, height, job, number -> empty: it waits
    kQueueHead = 0x49,      // claimant, height, job, number -> the owner whose first one waits there
    kHistory = 0x50,        // job, table, row -> HistoryRow: of the history, and never of the state
    kMarketClock = 0x60,    // -> MarketClock
    kMarketParams = 0x61,   // -> MarketParams
    kLotAsk = 0x62,         // node key -> LotAsk
    kLotBid = 0x63,         // job -> LotBid
    kLease = 0x64,          // job, node key, epoch -> Lease
    kLot = 0x65,            // epoch, node key -> Lot: leased, or left for instant leases
    kLotLeft = 0x66,        // epoch, class, price, node key -> empty: a lot that is left
    kClassBook = 0x67,      // class -> ClassBook
    kClassEpoch = 0x68,     // class, epoch -> ClassEpoch
    kTenant = 0x69,         // owner key, class -> TenantCount
    kMachine = 0x6a,        // node key, profile -> MachineSpeed
    kLotWait = 0x6b,        // job -> LotWait
    kSealCost = 0x6c,       // job -> Amount: of its escrow, held by a sealed bid or burned with one
    kRoundPrices = 0x70,    // job, round -> RoundPrices, in jobs that lease
    kDroppedAt = 0x71,      // job, miner -> height, in jobs that lease
};

/// Whether each record of the table belongs to one job, whose id follows the table's byte in the key, and
/// leaves the state with the job. The switch names every table, so that adding a table forces the decision.
constexpr bool leaves_with_job(Table table) {
    switch (table) {
        case Table::kJobTerms:
        case Table::kAsk:
        case Table::kJobProgress:
        case Table::kBidding:
        case Table::kBuyerEndpoint:
        case Table::kRoster:
        case Table::kPanel:
        case Table::kBeaconMember:
        case Table::kJobAdditions:
        case Table::kRound:
        case Table::kSlotRound:
        case Table::kReveal:
        case Table::kAudit:
        case Table::kSettlement:
        case Table::kJudges:
        case Table::kBeaconLink:
        case Table::kMergePosting:
        case Table::kRevealPlace:
        case Table::kAuditPlace:
        case Table::kHandedOn:
        case Table::kShownAge:
        case Table::kServe:
        case Table::kStorage:
        case Table::kMergePlace:
        case Table::kGame:
        case Table::kGamePieces:
        case Table::kRoundPrices:
        case Table::kDroppedAt:
        case Table::kSealCost: return true;
        case Table::kMeta:
        case Table::kParams:
        case Table::kSupply:
        case Table::kValidators:
        case Table::kParamSet:
        case Table::kDeadline:
        case Table::kAccount:
        case Table::kNodeKey:
        case Table::kStake:
        case Table::kUnbonding:
        case Table::kMiner:
        case Table::kVerifier:
        case Table::kStanding:
        case Table::kTeamMember:
        case Table::kActiveJob:
        case Table::kEndedJob:
        case Table::kClaim:
        case Table::kPlayedGames:
        case Table::kQueuedGame:
        case Table::kQueueHead:
        case Table::kDueInGames:
        case Table::kClaimOf:
        case Table::kWindowEnd:
        case Table::kGameAbout:
        case Table::kMarketClock:
        case Table::kMarketParams:
        case Table::kLotAsk:
        case Table::kLotBid:
        case Table::kLease:
        case Table::kLot:
        case Table::kLotLeft:
        case Table::kClassBook:
        case Table::kClassEpoch:
        case Table::kTenant:
        case Table::kMachine:
        case Table::kLotWait:
        case Table::kHistory: return false;
    }
    return false;  // the byte of no table
}

/// The schema is the first field in every version, so that a program recognises a state of another version.
struct Meta {
    std::uint32_t schema = kSchemaVersion;
    std::string chain_id;
    std::uint64_t unbondings = 0;   ///< sequence number of the next withdrawal
    std::uint32_t active_jobs = 0;  ///< how many there are
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.schema, self.chain_id, self.unbondings, self.active_jobs);
    }
};

Bytes table_prefix(Table table);
/// Whether a key belongs to the history; no state has a record under such a key.
bool is_of_history(ByteView key);
Bytes meta_key();
Bytes params_key();
Bytes param_set_key(const Hash256& set);
Bytes supply_key();
Bytes validators_key();

// Readers. Each of these records exists in every state made by genesis().
Meta read_meta(const StateView& state);
/// The parameters for what belongs to no job (registration, unbonding), and for a job being submitted. A
/// job's own parameters: params_of().
Params read_current_params(const StateView& state);
std::optional<Params> read_param_set(const StateView& state, const Hash256& set);
Supply read_supply(const StateView& state);
ValidatorSet read_validators(const StateView& state);

/// Makes `params` the current set; existing jobs keep theirs. REQUIRES check_params.
void set_current_params(State& state, const Params& params);

}  // namespace assay::contracts
