// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo_audit.hpp"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/dispute_audit.hpp"
#include "ledger/audit/evidence.hpp"
#include "node/audit/model_output.hpp"
#include "node/audit/run_record.hpp"
#include "node/blob/blob_store.hpp"
#include "node/runtime/process.hpp"
#include "node/views/printed_error.hpp"
#include "node/views/supply.hpp"
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

/// What a command printed, what it said on its error stream, and how it ended.
struct Ran {
    int code = 0;
    nlohmann::json report;
    std::string said;
};

std::string text_from(const fs::path& path, std::streamoff start) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(start);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Runs `assay audit …` as a person would, on files alone, and shows the command and its exit code.
base::Outcome<Ran> run_audit(const Devnet& net, const std::vector<std::string>& words,
                             std::ostream& progress) {
    ProcessOptions options;
    if (net.plan.program.empty()) {
        ASSAY_ASSIGN(options.program, own_program());
    } else {
        options.program = net.plan.program;
    }
    const fs::path out = net.plan.home / "logs" / "audit.json";
    std::error_code ignored;
    fs::remove(out, ignored);
    options.arguments = {"audit"};
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    options.arguments.insert(options.arguments.end(), {"-o", "json"});
    options.stdout_file = out;
    const fs::path log = net.plan.home / "logs" / "audit.log";
    options.stderr_file = log;
    const auto before = fs::exists(log) ? static_cast<std::streamoff>(fs::file_size(log)) : 0;
    ASSAY_ASSIGN(Process process, Process::spawn(options));
    const ExitStatus status = process.wait();
    std::string shown = "$ assay audit";
    for (const std::string& word : words) shown += " " + word;
    progress << shown << "\n";
    std::string said = text_from(log, before);
    if (status.signal != 0) {
        return fail(ErrorKind::kFailure,
                    shown + " ended with " + to_text(status) + ": " + why_it_ended(said));
    }
    return Ran{.code = status.code,
               .report = nlohmann::json::parse(text_from(out, 0), nullptr, false),
               .said = std::move(said)};
}

// The audit must come out as `expected_code` says.
base::Outcome<nlohmann::json> expect_audit(const Devnet& net, const std::vector<std::string>& words,
                                           int expected_code, std::ostream& progress) {
    ASSAY_ASSIGN(Ran ran, run_audit(net, words, progress));
    if (ran.code != expected_code || !ran.report.is_object()) {
        const std::string code = std::to_string(ran.code);
        const std::string ended = "assay audit " + words.front() + " ended with exit code " + code;
        const std::string what = ran.code != expected_code ? ended + ", not " + std::to_string(expected_code)
                                                           : ended + " and without a report";
        const std::string report = ran.report.is_object() ? "; it reported " + ran.report.dump() : "";
        return fail(ErrorKind::kVerification, what + ": " + why_it_ended(ran.said) + report,
                    "what it said stands in " + (net.plan.home / "logs" / "audit.log").string());
    }
    progress << "  exit code " << ran.code;
    return std::move(ran.report);
}

// Rounds in which a cheat was caught or accused; the last one when there was none.
std::set<std::uint32_t> rounds_to_replay(const contracts::StateView& state, const contracts::Job& job) {
    std::set<std::uint32_t> rounds;
    for (std::uint32_t round = 0; round < job.rounds_done; ++round) {
        for (const auto& slot : contracts::list_slots(state, job.id, round)) {
            if (slot.verdict == contracts::Reason::kPaidAccused) rounds.insert(round);
        }
    }
    if (rounds.empty() && job.rounds_done > 0) rounds.insert(job.rounds_done - 1);
    return rounds;
}

// A copy of the ledger with one byte in the middle of its log turned over.
base::Outcome<fs::path> tampered_copy(const Devnet& net) {
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
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(middle);
    const int byte = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 0x01));
    file.close();
    if (!file) return fail(ErrorKind::kFailure, "cannot change " + log.string());
    return copy;
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

base::Outcome<AuditOutcome> audit_files(const Devnet& net, const contracts::StateView& state,
                                        const contracts::Job& job, std::ostream& progress) {
    AuditOutcome outcome;
    const std::string home = net.plan.home.string();
    ASSAY_ASSIGN(const auto ledger, expect_audit(net, {"ledger", "--home", home}, 0, progress));
    outcome.ledger = ledger.value("ok", false);
    progress << ": " << ledger.value("height", 0)
             << " blocks executed again, every signature and root checks\n";
    ASSAY_ASSIGN(const auto payouts, expect_audit(net, {"payouts", "--home", home}, 0, progress));
    outcome.payouts = payouts.value("ok", false);
    outcome.supply_delta = supply_delta(contracts::read_supply(state));
    progress << ": every payment follows from its rule; money made or lost: " << outcome.supply_delta << "\n";
    for (const contracts::Game& game : contracts::list_games(state, job.id)) {
        if (game.end != contracts::GameEnd::kJudged) continue;
        const std::string name = job.id.hex() + "/" + std::to_string(game.number);
        ASSAY_ASSIGN(const auto again, expect_audit(net, {"dispute", name, "--home", home}, 0, progress));
        ++outcome.disputes;
        progress << ": the ledger's own computation again, and the same loser\n";
    }
    for (const std::uint32_t round : rounds_to_replay(state, job)) {
        ASSAY_ASSIGN(const auto replay, expect_audit(net,
                                                     {"replay", "--home", home, "--job", job.id.brief(),
                                                      "--round", std::to_string(round)},
                                                     0, progress));
        const auto checked = replay.value("checked", nlohmann::json::object());
        outcome.replayed += checked.value("slots", std::uint64_t{0});
        progress << ": " << checked.value("equal", 0) << " slots equal bit for bit, "
                 << "cheats confirmed: " << checked.value("cheats_confirmed", 0) << "\n";
    }
    ASSAY_ASSIGN(const fs::path tampered, tampered_copy(net));
    ASSAY_ASSIGN(const auto broken, expect_audit(net, {"ledger", "--home", tampered.string()},
                                                 static_cast<int>(ErrorKind::kVerification), progress));
    const auto failures = broken.value("failures", nlohmann::json::array());
    if (failures.empty())
        return fail(ErrorKind::kVerification, "the audit of a changed ledger named no block");
    outcome.flipped_byte_where = failures.front().value("where", "");
    outcome.flipped_byte_found = true;
    progress << ", as it must: one byte of that copy was flipped; " << outcome.flipped_byte_where << ": "
             << failures.front().value("what", "") << "\n";
    return outcome;
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
