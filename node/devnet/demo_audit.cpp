// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo_audit.hpp"

#include <chrono>
#include <fstream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/dispute_audit.hpp"
#include "ledger/audit/evidence.hpp"
#include "node/audit/model_output.hpp"
#include "node/audit/run_record.hpp"
#include "node/blob/blob_store.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/data/manifest.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/tokenizer_file.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
namespace fs = std::filesystem;

namespace {

base::Outcome<std::unique_ptr<BlobStore>> open_blobs(const fs::path& folder) {
    BlobStoreOptions options;
    options.folder = folder;
    options.use = StoreUse::kBeside;
    return BlobStore::open(options);
}

// One printable line: what a young model writes need not be UTF-8, and line ends would break the table.
std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        std::size_t length = 1;
        while (length < 4 && length < text.size() && !base::is_utf8(text.substr(0, length))) ++length;
        const std::string_view character = text.substr(0, length);
        if (!base::is_utf8(character)) {
            line += "\uFFFD";
            text.remove_prefix(1);
            continue;
        }
        line += character == "\n" || character == "\r" || character == "\t" ? " " : character;
        text.remove_prefix(length);
    }
    return line;
}

}  // namespace

base::Outcome<contracts::MemoryState> final_state(const Devnet& net) {
    ASSAY_ASSIGN(auto report, ledger::audit_ledger(ledger::rules_machine(), net.plan.home.string()));
    if (!report.ok()) {
        return fail(ErrorKind::kVerification,
                    report.failures.front().where + ": " + report.failures.front().what);
    }
    ASSAY_TRY(ledger::recover_records(report.state));
    ASSAY_TRY(ledger::recover_evidence(report.state, net.plan.home.string()));
    return std::move(report.state);
}

base::Outcome<std::vector<DisputeRow>> replay_disputes(const Devnet& net, const contracts::StateView& state,
                                                       const contracts::Job& job) {
    const auto clock = [] {
        const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(now.count());
    };
    std::vector<DisputeRow> rows;
    for (const contracts::Game& game : contracts::list_games(state, job.id)) {
        if (game.is_open()) continue;
        // A reader goes forward only.
        ASSAY_ASSIGN(const ledger::BlockReader read, ledger::block_reader(net.plan.home.string()));
        ASSAY_ASSIGN(const auto report, ledger::audit_dispute(state, {job.id, game.number}, read, clock));
        if (!report.ok()) {
            return fail(ErrorKind::kVerification,
                        "dispute " + std::to_string(game.number) + ": " + report.wrong.front());
        }
        DisputeSources sources;
        sources.transaction = report.transaction;
        if (report.referee_ns) sources.referee_us = static_cast<double>(*report.referee_ns) / 1e3;
        rows.push_back(dispute_row(state, job, game, sources));
    }
    return rows;
}

base::Outcome<void> gather_files(const Devnet& net, const contracts::StateView& state,
                                 const contracts::Job& job) {
    ASSAY_ASSIGN(const auto from, open_blobs(net.buyer.home.blobs()));
    ASSAY_ASSIGN(const auto to, open_blobs(net.sequencer.home.blobs()));
    std::vector<BlobId> wanted{job.spec.data.manifest, job.spec.data.train, job.spec.data.held_out,
                               job.spec.data.tokenizer};
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round(state, job.id, number);
        if (round && !round->base_blob.is_zero()) wanted.push_back(round->base_blob);
    }
    if (!job.base_blob.is_zero()) wanted.push_back(job.base_blob);
    for (const BlobId& id : wanted) {
        if (to->has(id)) continue;
        ASSAY_ASSIGN(const auto path, from->path(id));
        ASSAY_TRY(to->put_file(path));
    }
    return write_record(net.plan.home / "record.json", run_record(state, job));
}

base::Outcome<void> finish_model(DemoReport& report, const Devnet& net, const contracts::StateView& truth,
                                 const JobFile& file, const contracts::Job& job) {
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    ASSAY_TRY(
        open_job(*worker, job.spec, {.train = file.train.string(), .held_out = file.held_out.string()}));
    frames::SharedDescriptor initial;
    if (!job.spec.initial_blob.is_zero()) {
        ASSAY_ASSIGN(const auto blobs, open_blobs(net.sequencer.home.blobs()));
        ASSAY_ASSIGN(const auto path, blobs->path(job.spec.initial_blob));
        ASSAY_ASSIGN(initial, worker::open_file(path.string()));
    }
    ASSAY_ASSIGN(const StateFile before, initial_state(*worker, initial));
    // Over the sequences of the last merge's loss, to be compared with it.
    ASSAY_ASSIGN(const HeldOutLoss first, evaluate_state(*worker, before.bytes, 0, job.last_beacon));
    report.loss.held_out_first = first.loss_bits;
    frames::SharedDescriptor after = before.bytes;
    base::Bytes bytes;
    if (!job.base_blob.is_zero()) {
        ASSAY_ASSIGN(const auto blobs, open_blobs(net.sequencer.home.blobs()));
        ASSAY_ASSIGN(const auto path, blobs->path(job.base_blob));
        ASSAY_ASSIGN(after, worker::open_file(path.string()));
    }
    ASSAY_ASSIGN(bytes, worker::read_all(*after, worker::kMaxBulk));
    ASSAY_ASSIGN(const auto tokenizer, trainer::read_tokenizer(file.tokenizer));
    ASSAY_ASSIGN(const auto held_out, trainer::read_token_file(file.held_out, job.spec.model.vocabulary));
    frames::Sample request;
    for (std::size_t i = 1; i < held_out.size() && request.prompt.size() < 8; ++i)
        request.prompt.push_back(held_out[i]);
    request.count = 48;
    request.seed = job.spec.seed;
    const auto text_of = [&](const frames::SharedDescriptor& state) -> base::Outcome<std::string> {
        ASSAY_ASSIGN(const auto tokens, sample_tokens(*worker, state, request));
        std::vector<std::uint32_t> all = request.prompt;
        all.insert(all.end(), tokens.begin(), tokens.end());
        ASSAY_ASSIGN(const std::string text, tokenizer.decode(all));
        return one_line(text);
    };
    ASSAY_ASSIGN(report.sample.before, text_of(before.bytes));
    ASSAY_ASSIGN(report.sample.after, text_of(after));
    ASSAY_ASSIGN(const trainer::Manifest manifest, trainer::read_manifest(file.manifest));
    std::ifstream tokenizer_file(file.tokenizer);
    const std::string tokenizer_json{std::istreambuf_iterator<char>(tokenizer_file), {}};
    std::optional<BirthCertificate> born;
    if (job.rounds_done > 0) {
        ASSAY_ASSIGN(born,
                     certify(truth, job, net.genesis.chain_id, job.base_blob, reveals_in(truth, job.id)));
    }
    ASSAY_TRY(write_model(net.plan.home / "model", job.spec, bytes, tokenizer_json,
                          {.job_name = job.spec.name,
                           .job_id = job.id.hex(),
                           .data_source = manifest.source,
                           .data_licence = manifest.licence,
                           .rounds = job.rounds_done,
                           .tokens = report.tokens},
                          file.ids, trainer::kMaxShardBytes, std::move(born)));
    return {};
}

}  // namespace assay::node
