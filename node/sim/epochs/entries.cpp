// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/entries.hpp"

#include <utility>

#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/job/tables.hpp"

namespace assay::node::sim {

namespace {

base::Amount amount(std::uint64_t units) { return base::Amount::of(units).value(); }

constexpr std::uint64_t kJudges = 2;

/// A verifier that enlists for every job: one that nobody could judge leases nothing.
struct SimJudge {
    SimKey owner;
    SimKey node;
};

SimJudge judge_numbered(std::uint64_t number) {
    const auto key = [&](std::string_view what) {
        return SimKey(base::Hasher("assay/sim-judge/v1").add(base::as_bytes(what)).add_u64(number).finish());
    };
    return {key("owner"), key("node")};
}

/// For all jobs that there can be.
base::Amount stake_of_judge(const MarketPeople& people) {
    return amount(people.tenants.size() * kJobsOfATenant * kJobBudget);
}

base::Outcome<void> register_node(MarketChain& chain, const SimKey& owner, const SimKey& node) {
    const auto proof = contracts::prove_node_key(node.open(), owner.public_key(), chain.chain_id());
    return must_apply(chain.send(owner, contracts::NodeRegister{node.public_key(), proof}), "a node key");
}

base::Outcome<void> register_judge(MarketChain& chain, const SimJudge& judge, base::Amount stake) {
    const base::PublicKey& node = judge.node.public_key();
    ASSAY_TRY(register_node(chain, judge.owner, judge.node));
    ASSAY_TRY(
        must_apply(chain.send(judge.owner, contracts::VerifierRegister{node, "127.0.0.1:1"}), "a judge"));
    return must_apply(chain.send(judge.owner, contracts::StakeDeposit{node, stake}), "a judge's stake");
}

base::Outcome<void> enlist_judges(MarketChain& chain, const base::Hash256& job) {
    const auto terms = contracts::read_job_terms(chain.state(), job);
    const contracts::Params params = contracts::params_of(chain.state(), *terms);
    const auto stake = contracts::enlistment_minimum(params, terms->spec, terms->slot_work);
    for (std::uint64_t i = 0; i < kJudges; ++i) {
        const SimJudge judge = judge_numbered(i);
        const contracts::VerifierEnlist tx{job, base::hash("assay/sim-judge/v1", job.view()), stake.value()};
        ASSAY_TRY(must_apply(chain.send(judge.node, tx), "a judge of a job"));
    }
    return {};
}

}  // namespace

base::Outcome<MarketChain> begin_chain(const MarketPeople& people) {
    std::vector<std::pair<base::PublicKey, base::Amount>> balances;
    for (const MachineOwner& owner : people.owners)
        balances.emplace_back(owner.key.public_key(), amount(2 * kMachinesOfAnOwner * kMachineStake));
    for (const SimTenant& tenant : people.tenants)
        balances.emplace_back(tenant.key.public_key(), amount(4 * kJobsOfATenant * kJobBudget));
    const base::Amount stake = stake_of_judge(people);
    contracts::Params terms;
    terms.panel_owners_least = kJudges;
    // Enlistment stays open, so that jobs trade and no round is played.
    terms.ask_commit_window = kHeightsOfAJob;
    for (std::uint64_t i = 0; i < kJudges; ++i)
        balances.emplace_back(judge_numbered(i).owner.public_key(),
                              contracts::sum(stake, terms.verifier_fee));
    contracts::MarketParams params;
    params.epoch = 60;
    params.seal_window = 10;
    params.open_window = 10;
    params.least_base_price = base::units(100);
    ASSAY_ASSIGN(MarketChain chain, MarketChain::begin(std::move(balances), terms, params));
    for (std::uint64_t i = 0; i < kJudges; ++i) ASSAY_TRY(register_judge(chain, judge_numbered(i), stake));
    return chain;
}

base::Outcome<void> must_apply(const contracts::ApplyOutcome& outcome, std::string_view what) {
    if (outcome.applied) return {};
    return base::fail(base::ErrorKind::kFailure,
                      "the rules refuse " + std::string(what) + ": " + std::string(to_text(outcome.reason)),
                      "this is a fault of the simulator: report it with scenario, size and seed");
}

base::Outcome<void> register_machine(MarketChain& chain, const SimKey& owner, const SimMachine& machine) {
    const base::PublicKey& node = machine.node.public_key();
    ASSAY_TRY(register_node(chain, owner, machine.node));
    ASSAY_TRY(must_apply(chain.send(owner, contracts::MinerRegister{node, "127.0.0.1:1"}), "a miner"));
    ASSAY_TRY(must_apply(chain.send(owner, contracts::StakeDeposit{node, amount(kMachineStake)}), "a stake"));
    chain.measure(node, machine.kind.profile, machine.speed);
    return {};
}

base::Outcome<void> register_tenant(MarketChain& chain, const SimTenant& tenant) {
    return register_node(chain, tenant.key, tenant.node);
}

base::Outcome<base::Hash256> submit_job(MarketChain& chain, const SimTenant& tenant, const JobEntry& entry) {
    contracts::JobSubmit tx;
    program::JobSpec& spec = tx.spec;
    spec.name = "job " + std::to_string(entry.number);
    spec.profile = program::Profile::kI16;
    spec.slots = entry.lots;
    spec.rounds = 1'000;
    spec.seed = entry.number;
    spec.model = {program::Family::kGpt2, 2, 64, 2, 128, 256};
    spec.train.inner_steps = 4;
    spec.train.batch = 16;
    spec.train.learning_rate = program::Float32(1e-3F);
    spec.data.manifest = base::hash("assay/sim-market/v1", base::as_bytes(spec.name));
    spec.data.train_tokens = 100'000;
    spec.data.held_out_tokens = 10'000;
    spec.market.max_price = amount(1'000'000);
    spec.market.budget = amount(kJobBudget);
    spec.market.deadline_blocks = kHeightsOfAJob;
    spec.market.terms = {.gang = entry.lots,
                         .most = entry.lots,
                         .least_speed = entry.speed,
                         .least_memory = entry.memory,
                         .least_network = entry.network};
    spec.security.segment_steps = 2;
    spec.initial_root = base::hash("assay/sim-market/v1", base::as_bytes("root"));
    tx.node = tenant.node.public_key();
    tx.endpoint = "127.0.0.1:1";
    tx.beacon_tip = base::hash("assay/sim-market/v1", base::as_bytes("tip " + spec.name));
    const auto outcome = chain.send(tenant.key, tx);
    ASSAY_TRY(must_apply(outcome, "a job"));
    const base::Hash256 id = contracts::job_id(outcome.id);
    ASSAY_TRY(enlist_judges(chain, id));
    return id;
}

}  // namespace assay::node::sim
