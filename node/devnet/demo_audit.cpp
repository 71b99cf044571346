// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo_audit.hpp"

#include <fstream>

#include "ledger/audit.hpp"
#include "ledger/payout_audit.hpp"
#include "ledger/rules_machine.hpp"
#include "node/audit/model_output.hpp"
#include "node/audit/replay.hpp"
#include "node/audit/run_record.hpp"
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
    return BlobStore::open(options);
}

base::Outcome<std::uint64_t> replay_some(const Devnet& net, const contracts::StateView& state,
                                         const contracts::Job& job, std::ostream& progress) {
    ASSAY_ASSIGN(const auto blobs, open_blobs(net.sequencer.home.blobs()));
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    std::uint64_t replayed = 0;
    bool right_done = false;
    for (std::uint32_t round = job.rounds_done; round-- > 0;) {
        for (const auto& slot : contracts::list_slots(state, job.id, round)) {
            const bool right = contracts::consequence(slot.verdict) == contracts::Consequence::kPaid;
            if (slot.verdict != contracts::Reason::kMismatch && (!right || right_done)) continue;
            right_done = right_done || right;
            ASSAY_ASSIGN(
                const auto replays,
                replay_round(*worker, state, *blobs, {.job = job.id, .round = round, .miner = slot.miner}));
            for (const SlotReplay& replay : replays) {
                ++replayed;
                progress << "replay  round " << round << " slot " << replay.slot << ": "
                         << (replay.first_wrong
                                 ? "differs from the claim at unit " + std::to_string(*replay.first_wrong)
                                 : "all " + std::to_string(replay.units) + " units equal bit for bit")
                         << (replay.agrees ? ", as the ledger judged\n" : ", AGAINST the ledger's verdict\n");
                if (!replay.agrees) {
                    return fail(ErrorKind::kVerification, "round " + std::to_string(round) + " slot " +
                                                              std::to_string(replay.slot) +
                                                              ": the recomputed bits contradict the verdict");
                }
            }
        }
    }
    return replayed;
}

// A copy of the ledger with one byte in the middle of its log turned over.
base::Outcome<std::string> audit_tampered_copy(const Devnet& net) {
    const fs::path copy = net.plan.home / "tampered";
    std::error_code error;
    fs::create_directories(copy / "ledger", error);
    for (const char* name : {"blocks.log", "genesis.bin"}) {
        fs::copy_file(net.sequencer.home.ledger() / name, copy / "ledger" / name,
                      fs::copy_options::overwrite_existing, error);
        if (error) return fail(ErrorKind::kFailure, "cannot copy the ledger: " + error.message());
    }
    const fs::path log = copy / "ledger" / "blocks.log";
    const auto middle = static_cast<std::streamoff>(fs::file_size(log) / 2);
    {
        std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(middle);
        const int byte = file.get();
        file.seekp(middle);
        file.put(static_cast<char>(byte ^ 0x01));
    }
    ASSAY_ASSIGN(const auto report, ledger::audit_ledger(ledger::rules_machine(), copy.string()));
    if (report.ok()) {
        return fail(ErrorKind::kVerification,
                    "the audit passed a ledger with a flipped byte in " + log.string());
    }
    return report.failures.front().where + ": " + report.failures.front().what;
}

std::string one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    }
    return text;
}

}  // namespace

base::Outcome<contracts::MemoryState> final_state(const Devnet& net) {
    ASSAY_ASSIGN(auto report, ledger::audit_ledger(ledger::rules_machine(), net.plan.home.string()));
    if (!report.ok()) {
        return fail(ErrorKind::kVerification,
                    report.failures.front().where + ": " + report.failures.front().what);
    }
    return std::move(report.state);
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

base::Outcome<AuditOutcome> audit_files(const Devnet& net, const contracts::Job& job,
                                        std::ostream& progress) {
    AuditOutcome outcome;
    ASSAY_ASSIGN(const auto report, ledger::audit_ledger(ledger::rules_machine(), net.plan.home.string()));
    if (!report.ok()) {
        return fail(ErrorKind::kVerification,
                    report.failures.front().where + ": " + report.failures.front().what);
    }
    outcome.ledger = true;
    progress << "audit   ledger: " << report.height << " blocks, " << report.transactions
             << " transactions executed again, every signature and root checks\n";
    const auto payouts = ledger::audit_payouts(report.state);
    if (!payouts.ok()) {
        return fail(ErrorKind::kVerification,
                    payouts.failures.front().where + ": " + payouts.failures.front().what);
    }
    outcome.payouts = true;
    outcome.supply_delta = supply_delta(contracts::read_supply(report.state));
    progress << "audit   payouts: every line follows from its rule; money made or lost: "
             << outcome.supply_delta << "\n";
    ASSAY_ASSIGN(outcome.replayed, replay_some(net, report.state, job, progress));
    ASSAY_ASSIGN(outcome.flipped_byte_where, audit_tampered_copy(net));
    outcome.flipped_byte_found = true;
    progress << "audit   of a copy with one byte flipped fails, as it must: " << outcome.flipped_byte_where
             << "\n";
    return outcome;
}

base::Outcome<void> finish_model(DemoReport& report, const Devnet& net, const JobFile& file,
                                 const contracts::Job& job) {
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    ASSAY_TRY(
        open_job(*worker, job.spec, {.train = file.train.string(), .held_out = file.held_out.string()}));
    ASSAY_ASSIGN(const StateFile before, initial_state(*worker));
    ASSAY_ASSIGN(const HeldOutLoss first, evaluate_state(*worker, before.bytes, program::kHeldOutSequences));
    report.loss.held_out_first = first.loss_bits;
    frames::SharedDescriptor after = before.bytes;
    base::Bytes bytes;
    if (!job.base_blob.is_zero()) {
        ASSAY_ASSIGN(const auto blobs, open_blobs(net.sequencer.home.blobs()));
        ASSAY_ASSIGN(const auto path, blobs->path(job.base_blob));
        ASSAY_ASSIGN(after, trainer::worker::open_file(path.string()));
    }
    ASSAY_ASSIGN(bytes, trainer::worker::read_all(*after, trainer::worker::kMaxBulk));
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
        ASSAY_ASSIGN(std::string text, tokenizer.decode(all));
        return one_line(std::move(text));
    };
    ASSAY_ASSIGN(report.sample_before, text_of(before.bytes));
    ASSAY_ASSIGN(report.sample_after, text_of(after));
    ASSAY_ASSIGN(const trainer::Manifest manifest, trainer::read_manifest(file.manifest));
    std::ifstream tokenizer_file(file.tokenizer);
    const std::string tokenizer_json{std::istreambuf_iterator<char>(tokenizer_file), {}};
    ASSAY_TRY(write_model(net.plan.home / "model", job.spec, bytes, tokenizer_json,
                          {.job_name = job.spec.name,
                           .job_id = job.id.hex(),
                           .data_source = manifest.source,
                           .data_licence = manifest.licence,
                           .rounds = job.rounds_done,
                           .tokens = report.tokens}));
    return {};
}

}  // namespace assay::node
