// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes job_key(const Hash256& job) { return KeyBuilder(Table::kJob).add(job.view()).take(); }
Bytes active_job_key(const Hash256& job) { return KeyBuilder(Table::kActiveJob).add(job.view()).take(); }
Bytes ask_key(const Hash256& job, const PublicKey& miner) {
    return KeyBuilder(Table::kAsk).add(job.view()).add(miner.view()).take();
}

Params params_of(const StateView& state, const Job& job) {
    return required(read_param_set(state, job.params));
}
std::optional<Job> read_job(const StateView& state, const Hash256& job) {
    return load<Job>(state, job_key(job));
}
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner) {
    return load<Ask>(state, ask_key(job, miner));
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

}  // namespace assay::contracts
