// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/tables.hpp"

#include <algorithm>
#include <set>

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Bytes of_job(Table table, const Hash256& job) { return KeyBuilder(table).add(job.view()).take(); }
Bytes of_party(Table table, const Hash256& job, const PublicKey& node) {
    return KeyBuilder(table).add(job.view()).add(node.view()).take();
}

/// The records of a table of this job, in the order of their places.
template <class T>
std::vector<T> list_places(const StateView& state, Table table, const Hash256& job) {
    std::vector<T> found = list_values<T>(state, of_job(table, job));
    std::sort(found.begin(), found.end(), [](const T& a, const T& b) { return a.place < b.place; });
    return found;
}

template <class T>
void write_places(State& state, Table table, const Hash256& job, const std::vector<T>& records) {
    std::uint32_t place = 0;
    for (T record : records) {
        record.place = place++;
        store_changed(state, of_party(table, job, record.node), record);
    }
}

}  // namespace

Bytes job_terms_key(const Hash256& job) { return of_job(Table::kJobTerms, job); }
Bytes job_progress_key(const Hash256& job) { return of_job(Table::kJobProgress, job); }
Bytes bidding_key(const Hash256& job) { return of_job(Table::kBidding, job); }
Bytes buyer_endpoint_key(const Hash256& job) { return of_job(Table::kBuyerEndpoint, job); }
Bytes roster_key(const Hash256& job, const PublicKey& miner) { return of_party(Table::kRoster, job, miner); }
Bytes dropped_at_key(const Hash256& job, const PublicKey& miner) {
    return of_party(Table::kDroppedAt, job, miner);
}
Bytes panel_key(const Hash256& job, const PublicKey& verifier) {
    return of_party(Table::kPanel, job, verifier);
}
Bytes beacon_member_key(const Hash256& job, const PublicKey& node) {
    return of_party(Table::kBeaconMember, job, node);
}
Bytes active_job_key(const Hash256& job) { return of_job(Table::kActiveJob, job); }
Bytes job_additions_key(const Hash256& job) { return of_job(Table::kJobAdditions, job); }
Bytes ask_key(const Hash256& job, const PublicKey& miner) { return of_party(Table::kAsk, job, miner); }

Params params_of(const StateView& state, const JobTerms& job) {
    return required(read_param_set(state, job.params));
}
std::optional<JobTerms> read_job_terms(const StateView& state, const Hash256& job) {
    return load<JobTerms>(state, job_terms_key(job));
}
std::optional<JobProgress> read_job_progress(const StateView& state, const Hash256& job) {
    return load<JobProgress>(state, job_progress_key(job));
}
JobAdditions read_job_additions(const StateView& state, const Hash256& job) {
    return load<JobAdditions>(state, job_additions_key(job)).value_or(JobAdditions{});
}
PublicKey submitter_of(const StateView& state, const JobTerms& job) {
    return required(read_node_key(state, job.buyer_node)).owner;
}
bool is_of_buyer(const StateView& state, const JobTerms& job, const PublicKey& owner) {
    return owner == job.buyer || owner == submitter_of(state, job);
}
std::optional<Bidding> read_bidding(const StateView& state, const Hash256& job) {
    return load<Bidding>(state, bidding_key(job));
}
std::optional<BeaconMember> read_beacon_member(const StateView& state, const Hash256& job,
                                               const PublicKey& node) {
    return load<BeaconMember>(state, beacon_member_key(job, node));
}
std::optional<EnlistedVerifier> read_enlisted(const StateView& state, const Hash256& job,
                                              const PublicKey& node) {
    return load<EnlistedVerifier>(state, panel_key(job, node));
}
std::optional<std::uint64_t> read_dropped_at(const StateView& state, const Hash256& job,
                                             const PublicKey& miner) {
    return load<std::uint64_t>(state, dropped_at_key(job, miner));
}
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner) {
    return load<Ask>(state, ask_key(job, miner));
}

std::optional<Job> read_job(const StateView& state, const Hash256& id) {
    auto terms = read_job_terms(state, id);
    auto progress = read_job_progress(state, id);
    auto bidding = read_bidding(state, id);
    auto endpoint = load<std::string>(state, buyer_endpoint_key(id));
    if (!terms || !progress || !bidding || !endpoint) return std::nullopt;
    Job job;
    static_cast<JobTerms&>(job) = std::move(*terms);
    static_cast<JobProgress&>(job) = std::move(*progress);
    job.id = id;
    job.additions = read_job_additions(state, id);
    job.buyer_endpoint = std::move(*endpoint);
    job.auction = std::move(bidding->auction);
    job.roster = list_places<RosterEntry>(state, Table::kRoster, id);
    job.verifiers = list_places<EnlistedVerifier>(state, Table::kPanel, id);
    job.beacon = list_places<BeaconMember>(state, Table::kBeaconMember, id);
    return job;
}

void write_job(State& state, const Job& job) {
    store_changed(state, job_terms_key(job.id), static_cast<const JobTerms&>(job));
    store_changed(state, job_progress_key(job.id), static_cast<const JobProgress&>(job));
    store_changed(state, bidding_key(job.id),
                  Bidding{job.auction, static_cast<std::uint32_t>(job.verifiers.size()),
                          static_cast<std::uint32_t>(job.beacon.size()),
                          static_cast<std::uint32_t>(job.roster.size() - job.auction.winners)});
    store_changed(state, buyer_endpoint_key(job.id), job.buyer_endpoint);
    write_places(state, Table::kRoster, job.id, job.roster);
    write_places(state, Table::kPanel, job.id, job.verifiers);
    write_places(state, Table::kBeaconMember, job.id, job.beacon);
}

std::vector<Hash256> list_job_ids(const StateView& state) {
    std::set<Hash256> found;
    for (const Table table : {Table::kJobTerms, Table::kEndedJob}) {
        const Bytes prefix = table_prefix(table);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
            found.insert(base::hash_from(key.subspan(1)));
            return true;
        });
    }
    return {found.begin(), found.end()};
}
std::vector<Job> list_jobs(const StateView& state) {
    std::vector<Job> found;
    for (const Hash256& id : list_job_ids(state))
        if (auto job = read_job(state, id)) found.push_back(std::move(*job));
    return found;
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
    return list_values<Ask>(state, of_job(Table::kAsk, job));
}

}  // namespace assay::contracts
