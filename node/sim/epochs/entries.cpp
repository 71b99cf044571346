// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/entries.hpp"

#include "contracts/rules/job/seals.hpp"

namespace assay::node::sim {

namespace {

base::Amount amount(std::uint64_t units) { return base::Amount::of(units).value(); }

base::Outcome<void> register_node(MarketChain& chain, const SimKey& owner, const SimKey& node) {
    const auto proof = contracts::prove_node_key(node.open(), owner.public_key(), chain.chain_id());
    return must_apply(chain.send(owner, contracts::NodeRegister{node.public_key(), proof}), "a node key");
}

}  // namespace

base::Outcome<MarketChain> begin_chain(const MarketPeople& people) {
    std::vector<std::pair<base::PublicKey, base::Amount>> balances;
    for (const MachineOwner& owner : people.owners)
        balances.emplace_back(owner.key.public_key(), amount(2 * kMachinesOfAnOwner * kMachineStake));
    for (const SimTenant& tenant : people.tenants)
        balances.emplace_back(tenant.key.public_key(), amount(4 * kJobsOfATenant * kJobBudget));
    contracts::MarketParams params;
    params.epoch = 60;
    params.seal_window = 10;
    params.open_window = 10;
    params.least_base_price = base::units(100);
    return MarketChain::begin(std::move(balances), params);
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
    spec.market.deadline_blocks = 1'000'000;
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
    return contracts::job_id(outcome.id);
}

}  // namespace assay::node::sim
