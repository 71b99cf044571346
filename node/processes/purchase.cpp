// SPDX-License-Identifier: Apache-2.0
#include "node/processes/purchase.hpp"

#include <algorithm>

#include "node/key/key_file.hpp"
#include "node/processes/store_files.hpp"
#include "node/roles/buyer.hpp"
#include "node/worker/local_training.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

// Unless the buyer challenges, the worker is needed for this alone; this one is gone before the job runs.
base::Outcome<base::Hash256> initial_root(const JobFile& job, const SharedDescriptor& initial_file,
                                          const WorkerOptions& options) {
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start(options));
    ASSAY_TRY(open_job(*worker, job.spec, {.train = job.train.string(), .held_out = job.held_out.string()}));
    ASSAY_ASSIGN(const StateFile initial, initial_state(*worker, initial_file));
    return initial.root;
}

base::Outcome<BlobId> put_withheld(BlobStore& blobs, const std::filesystem::path& file) {
    ASSAY_ASSIGN(const SharedDescriptor opened, worker::open_file(file.string()));
    return make_blob_files(blobs)->put(opened, Serving::kWithheld);
}

base::Outcome<void> store_file(BlobStore& blobs, const std::filesystem::path& file, const BlobId& wanted,
                               Serving serving) {
    ASSAY_ASSIGN(const BlobId id,
                 serving == Serving::kServed ? blobs.put_file(file) : put_withheld(blobs, file));
    if (id != wanted) {
        return fail(ErrorKind::kVerification, file.string() + " is not what its manifest says",
                    "pack the data again with `assay data pack`");
    }
    return {};
}

base::Outcome<void> store_data(BlobStore& blobs, const JobFile& job, Serving serving) {
    const program::DataConfig& data = job.spec.data;
    ASSAY_TRY(store_file(blobs, job.manifest, data.manifest, serving));
    ASSAY_TRY(store_file(blobs, job.train, data.train, serving));
    ASSAY_TRY(store_file(blobs, job.held_out, data.held_out, serving));
    return store_file(blobs, job.tokenizer, data.tokenizer, serving);
}

/// Serves the job until it ends. Nothing: asked to stop before.
base::Outcome<std::optional<contracts::Job>> serve(RoleProcess& process, BuyerOptions options) {
    BuyerRole buyer(process.parts(), std::move(options));
    ASSAY_TRY(process.run(buyer));
    auto record = buyer.record();
    if (record && record->phase != contracts::JobPhase::kEnded) record.reset();
    return record;
}

/// What the buyer of a job that is not over serves: from the home's store, else from the job file.
base::Outcome<void> bring_data(BlobStore& blobs, const contracts::Job& job,
                               const std::filesystem::path& job_file) {
    if (contracts::is_over(job.phase)) return {};
    const program::DataConfig& data = job.spec.data;
    std::vector<BlobId> wanted = {data.manifest, data.train, data.held_out, data.tokenizer};
    if (!job.spec.initial_blob.is_zero()) wanted.push_back(job.spec.initial_blob);
    const auto is_here = [&](const BlobId& id) { return blobs.has(id); };
    if (std::all_of(wanted.begin(), wanted.end(), is_here)) return {};
    const std::string brief = job.id.brief();
    if (job_file.empty()) {
        return fail(ErrorKind::kNotFound, "this home does not hold the data of job " + brief,
                    "give the job file that names them: assay job resume " + brief + " --file JOB.toml");
    }
    ASSAY_ASSIGN(JobFile file, read_job_file(job_file));
    ASSAY_ASSIGN(const SharedDescriptor initial, initial_file(file));
    const program::DataConfig& named = file.spec.data;
    const bool same = named.manifest == data.manifest && named.train == data.train &&
                      named.held_out == data.held_out && named.tokenizer == data.tokenizer;
    if (!same || file.spec.initial_blob != job.spec.initial_blob) {
        return fail(ErrorKind::kVerification,
                    job_file.string() + " names other data than job " + brief + " was bought with",
                    "use the job file as it was when the job was submitted");
    }
    ASSAY_TRY(store_data(blobs, file, Serving::kServed));
    if (initial != nullptr) ASSAY_TRY(make_blob_files(blobs)->put(initial));
    return {};
}

}  // namespace

base::Outcome<SharedDescriptor> complete(JobFile& job, const WorkerOptions& options) {
    ASSAY_ASSIGN(SharedDescriptor initial, initial_file(job));
    ASSAY_ASSIGN(job.spec.initial_root, initial_root(job, initial, options));
    return initial;
}

base::Outcome<void> check_bid(const std::optional<base::Amount>& bid, const program::JobSpec& spec) {
    if (!bid) return {};
    if (!spec.market.terms.engaged())
        return fail(ErrorKind::kUsage, "a bid is for a job that leases its machines in the market",
                    "leave --bid out, or give the job file [market] machines_least");
    if (*bid > spec.market.max_price)
        return fail(ErrorKind::kUsage,
                    "the bid " + base::to_text(*bid) + " is above the job's cap " +
                        base::to_text(spec.market.max_price) + " a work unit",
                    "bid less: the rules take no bid above [market] max_price");
    return {};
}

base::Outcome<contracts::Job> purchase(PurchaseOptions options, std::stop_token stop) {
    ASSAY_ASSIGN(JobFile job, read_job_file(options.job_file));
    ASSAY_TRY(check_bid(options.bid, job.spec));
    ASSAY_ASSIGN(SharedDescriptor initial, complete(job, options.process.worker));
    RoleProcessOptions process_options = std::move(options.process);
    process_options.needs_worker = options.challenge > 0 ? NeedsWorker::kYes : NeedsWorker::kNo;
    ASSAY_ASSIGN(const auto process, RoleProcess::open(std::move(process_options), stop));
    if (options.conducts.any()) ASSAY_TRY(check_may_drill(process->genesis().chain_id));
    const Serving serving =
        options.conducts(Misconduct::kStarvingBuyer) ? Serving::kWithheld : Serving::kServed;
    ASSAY_TRY(store_data(process->blobs(), job, serving));
    if (initial != nullptr) {
        ASSAY_TRY(make_blob_files(process->blobs())->put(initial));
        initial.reset();  // as large as the model twice; from here on the store serves it
    }
    ASSAY_ASSIGN(const base::Hash256 id, options.buy(job.spec, process->endpoint()));
    ASSAY_TRY(process->serve());
    ASSAY_ASSIGN(const auto record,
                 serve(*process, {.job = id, .challenge = options.challenge, .bid = options.bid}));
    if (!record) {
        return fail(ErrorKind::kInterrupted, "stopped before the job ended; it goes on without this buyer",
                    job.from.empty()
                        ? "run the same command again to go on serving it"
                        : "run the same command again to go on serving it; the model folder " +
                              job.from.string() + " must be as it was, since other weights are another job");
    }
    return *record;
}

base::Outcome<contracts::Job> resume(ResumeOptions options, std::stop_token stop) {
    const contracts::Job& job = options.job;
    const std::string brief = job.id.brief();
    ASSAY_TRY(check_bid(options.bid, job.spec));
    ASSAY_ASSIGN(const auto key, inspect_key_file(options.process.home.node_key()));
    if (key.public_key != job.buyer_node) {
        return fail(ErrorKind::kKey,
                    "job " + brief + " was bought with node key " + job.buyer_node.hex() +
                        ", which is not this home's",
                    "use the --home that bought it, or one with the same keys");
    }
    RoleProcessOptions process_options = std::move(options.process);
    process_options.needs_worker = options.challenge > 0 ? NeedsWorker::kYes : NeedsWorker::kNo;
    ASSAY_ASSIGN(const auto process, RoleProcess::open(std::move(process_options), stop));
    ASSAY_TRY(bring_data(process->blobs(), job, options.job_file));
    ASSAY_TRY(process->serve());
    ASSAY_ASSIGN(const auto record,
                 serve(*process, {.job = job.id, .challenge = options.challenge, .bid = options.bid}));
    if (!record) {
        return fail(ErrorKind::kInterrupted, "stopped before the job ended; it goes on without this buyer",
                    "serve it again with: assay job resume " + brief);
    }
    return *record;
}

}  // namespace assay::node
