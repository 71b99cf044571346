// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_history.hpp"

#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/application/rules_machine.hpp"

namespace assay::node {

namespace {

template <class Record>
void store(contracts::State& state, const base::Bytes& key, const Record& record) {
    state.put(key, base::encode(record));
}

constexpr contracts::Amount kBalance = base::units(1'000'000'000);
constexpr std::uint32_t kRounds = 2;
constexpr std::uint32_t kSlots = 2;
constexpr std::uint32_t kSteps = 16;
constexpr std::uint32_t kUnits = 3;

base::Hash256 made_up(const std::string& what, std::uint64_t n) {
    return base::Hasher("assay/bench").add(base::as_bytes(what)).add_u64(n).finish();
}
base::PublicKey party(const std::string& what, std::uint64_t n) {
    return base::PublicKey{made_up(what, n).bytes};
}

program::JobSpec spec_of(std::uint64_t n) {
    program::JobSpec spec;
    spec.name = "bench " + std::to_string(n);
    spec.slots = kSlots;
    spec.rounds = kRounds;
    spec.seed = n;
    spec.model = {program::Family::kGpt2, 2, 64, 2, 128, 256};
    spec.train.inner_steps = kSteps;
    spec.train.batch = 8;
    spec.train.learning_rate = 1e-3F;
    spec.data = {made_up("manifest", n), made_up("train", n), made_up("held out", n), {}, 1 << 20, 1 << 16};
    spec.market = {base::units(1'000), base::units(10'000'000), 1'000};
    spec.security.segment_steps = kSteps / (kUnits - 1);
    spec.initial_root = made_up("root", n);
    return spec;
}

contracts::Job job_of(std::uint64_t n) {
    contracts::Job job;
    job.id = made_up("job", n);
    job.spec = spec_of(n);
    job.buyer = party("buyer", n % 100);
    job.buyer_node = party("buyer's node", n % 100);
    job.buyer_endpoint = "127.0.0.1:7000";
    job.submitted_at = n;
    job.deadline = n + 1'000;
    job.phase = contracts::JobPhase::kEnded;
    job.end_reason = contracts::Reason::kJobComplete;
    job.ended_at = n + 100;
    job.slot_work = 1'000;
    job.spent = base::units(4'000'000);
    job.refunded = base::units(6'000'000);
    job.auction = {3, 3, 0, 0, kSlots, base::units(500), base::units(500)};
    for (std::uint32_t i = 0; i < kSlots; ++i) {
        contracts::RosterEntry entry;
        entry.node = party("miner", i);
        entry.owner = party("miner's owner", i);
        entry.ask = base::Amount::of(400 + i).value();
        entry.speeds = {1'000, 1'010};
        job.roster.push_back(entry);
        contracts::EnlistedVerifier verifier;
        verifier.node = party("verifier", i);
        verifier.owner = party("verifier's owner", i);
        job.verifiers.push_back(verifier);
        job.beacon.push_back({verifier.node, contracts::BeaconRole::kVerifier, made_up("tip", n + i)});
    }
    job.round = job.rounds_done = kRounds;
    job.last_beacon = made_up("beacon", n);
    job.base_root = made_up("base", n);
    job.base_blob = made_up("blob", n);
    return job;
}

void add_slot(contracts::State& state, const contracts::Job& job, std::uint32_t round, std::uint32_t slot) {
    contracts::SlotRound record;
    record.slot = slot;
    record.assigned = record.committed = record.revealed = true;
    record.miner = job.roster[slot].node;
    record.owner = job.roster[slot].owner;
    record.bond = base::units(100'000);
    record.seal = made_up("seal", round);
    record.drawn_units = {0, kUnits - 1};
    for (const auto& verifier : job.verifiers) record.verifiers.push_back(verifier.node);
    record.verdict = contracts::Reason::kPaid;
    store(state, contracts::slot_key(job.id, round, slot), record);
    store(state, contracts::reveal_place_key(job.id, round, slot),
          contracts::LogPlace{made_up("reveal", slot), round, made_up("transaction", slot)});
}

void add_lines(contracts::State& state, const contracts::Job& job, std::uint32_t round) {
    for (std::uint32_t number = 0; number < 4 * kSlots; ++number) {
        contracts::SettlementLine line;
        line.job = job.id;
        line.round = round;
        line.kind = number < kSlots ? contracts::LineKind::kSlot : contracts::LineKind::kAudit;
        line.slot = number % kSlots;
        line.node = party("miner", number % kSlots);
        line.owner = party("miner's owner", number % kSlots);
        line.reason = contracts::Reason::kPaid;
        line.work_units = job.slot_work;
        line.price = base::units(500);
        line.paid = line.from_escrow = base::units(500'000);
        store(state, contracts::settlement_key(job.id, round, number), line);
    }
}

void add_round(contracts::State& state, const contracts::Job& job, std::uint32_t number) {
    contracts::Round round;
    round.job = job.id;
    round.number = number;
    round.phase = contracts::RoundPhase::kSettled;
    round.started_at = job.submitted_at + 10;
    round.settled_at = job.ended_at;
    round.base_root = job.base_root;
    round.base_blob = job.base_blob;
    for (const auto& member : job.beacon) round.links.push_back({member.node, true, member.tip});
    round.beacon = job.last_beacon;
    round.merged = true;
    round.result = {{}, {}, job.base_root, job.base_blob, 1};
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        add_slot(state, job, number, slot);
        round.merged_slots.push_back(slot);
        contracts::AuditPosting posting;
        posting.verifier = job.verifiers[slot].node;
        posting.sealed = posting.opened = true;
        posting.seal = made_up("audit seal", slot);
        store(state, contracts::audit_place_key(job.id, number, posting.stage, posting.verifier),
              contracts::LogPlace{made_up("audit", slot), number, made_up("opening", slot)});
        store(state, contracts::audit_key(job.id, number, posting.stage, posting.verifier), posting);
        round.merges.push_back(
            {posting.verifier, true, true, made_up("merge seal", slot), round.result, slot, slot});
    }
    add_lines(state, job, number);
    round.lines = 4 * kSlots;
    contracts::write_round(state, round);
}

void add_job(contracts::State& state, std::uint64_t n) {
    contracts::Job job = job_of(n);
    job.params = contracts::params_hash(contracts::read_current_params(state));
    for (const contracts::RosterEntry& entry : job.roster) {
        store(state, contracts::ask_key(job.id, entry.node),
              contracts::Ask{entry.node, made_up("ask", n), {}, true, entry.ask});
    }
    for (std::uint32_t round = 0; round < kRounds; ++round) add_round(state, job, round);
    job.due = 1;
    contracts::write_job(state, job);
    state.put(contracts::deadline_key({job.due, contracts::DueKind::kLeaving, job.id}), {});
}

}  // namespace

base::SecretKey bench_sender(std::uint32_t n) {
    return base::SecretKey::from_seed(made_up("sender", n).view());
}

base::PublicKey bench_account(std::uint32_t n) {
    return n < kBenchSenders ? bench_sender(n).public_key() : party("account", n);
}

base::Outcome<void> HistoryMachine::genesis(contracts::State& state, const ledger::Genesis& genesis) const {
    ASSAY_TRY(ledger::rules_machine().genesis(state, genesis));
    contracts::Supply supply = contracts::read_supply(state);
    for (std::uint32_t n = 0; n < size_.accounts; ++n) {
        store(state, contracts::account_key(bench_account(n)), contracts::Account{kBalance, 0});
        supply.balances = supply.balances.plus(kBalance).value();
        supply.minted = supply.minted.plus(kBalance).value();
    }
    store(state, contracts::supply_key(), supply);
    for (std::uint32_t n = 0; n < size_.ended_jobs; ++n) add_job(state, n);
    // Their records leave as those of any ended job, some in each of the blocks that were.
    for (std::uint64_t height = 1; next_deadline(state); ++height)
        (void)begin_block(state, {genesis.chain_id, height});
    return {};
}

base::Result<ledger::TransactionInfo, contracts::Reason> HistoryMachine::inspect(
    const std::string& chain_id, base::ByteView transaction) const {
    return ledger::rules_machine().inspect(chain_id, transaction);
}
std::uint64_t HistoryMachine::cost(base::ByteView transaction) const {
    return ledger::rules_machine().cost(transaction);
}
std::uint64_t HistoryMachine::block_limit() const { return ledger::rules_machine().block_limit(); }
base::Result<std::uint64_t, contracts::Reason> HistoryMachine::next_nonce(
    const contracts::StateView& state, const base::PublicKey& sender) const {
    return ledger::rules_machine().next_nonce(state, sender);
}
std::vector<base::Bytes> HistoryMachine::begin_block(contracts::State& state,
                                                     const ledger::Position& position) const {
    return ledger::rules_machine().begin_block(state, position);
}
ledger::TransactionResult HistoryMachine::apply(contracts::State& state, const ledger::Position& position,
                                                base::ByteView transaction) const {
    return ledger::rules_machine().apply(state, position, transaction);
}
base::Outcome<void> HistoryMachine::check_schema(const contracts::StateView& state) const {
    return ledger::rules_machine().check_schema(state);
}
base::Outcome<void> HistoryMachine::check_invariants(const contracts::StateView& state) const {
    return ledger::rules_machine().check_invariants(state);
}
base::Outcome<void> HistoryMachine::check_changes(const contracts::Overlay& changes) const {
    return ledger::rules_machine().check_changes(changes);
}
std::optional<std::uint64_t> HistoryMachine::next_deadline(const contracts::StateView& state) const {
    return ledger::rules_machine().next_deadline(state);
}

}  // namespace assay::node
