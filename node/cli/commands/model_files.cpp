// SPDX-License-Identifier: Apache-2.0
// assay model show|eval|export
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ostream>

#include "contracts/program/names.hpp"
#include "contracts/program/tensors.hpp"
#include "node/audit/model_output.hpp"
#include "node/blob/blob_store.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/commands/birth_source.hpp"
#include "node/cli/file_limits.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/config/job_file.hpp"
#include "node/views/json.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/manifest.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

struct ModelFileFlags {
    std::string model;
    std::string data;
    std::uint64_t sequences = 0;
    std::string beacon;
    std::string out;
    std::string job;
    std::string job_file;
    std::string state;
    std::optional<std::uint32_t> round;
    std::optional<std::uint32_t> context;
    std::uint64_t shard_bytes = trainer::kMaxShardBytes;
};

Outcome<void> show_model(const Context& context, const ModelFileFlags& flags) {
    ASSAY_ASSIGN(const auto folder, trainer::read_model_folder(flags.model, flags.context));
    const program::ModelConfig& c = folder.config;
    const bool llama = c.family == program::Family::kLlama;
    const char* head = c.head == program::Head::kTied ? "tied" : "untied";
    if (context.json()) {
        JsonFields body;
        body("folder", flags.model);
        body("family", c.family);
        body("layers", c.layers);
        body("width", c.width);
        body("heads", c.heads);
        body("context", c.context);
        body("vocabulary", c.vocabulary);
        body("kv_heads", c.key_value_heads());
        body("hidden", c.hidden_width());
        body("head", head);
        body("parameters", folder.parameters.size());
        body("parameters_root", folder.parameters_root);
        body("job_name", folder.provenance.job_name);
        body("job", folder.provenance.job_id);
        body("initial_blob", folder.provenance.initial_blob);
        body("rounds", folder.provenance.rounds);
        body("tokens", folder.provenance.tokens);
        body("data_source", folder.provenance.data_source);
        body("data_licence", folder.provenance.data_licence);
        context.print_json("assay.model.show/v1", body.take());
        return {};
    }
    print_fields(context.out,
                 {{"family", std::string(program::to_text(c.family))},
                  {"shape", std::to_string(c.layers) + " layers, width " + std::to_string(c.width) + ", " +
                                std::to_string(c.heads) + " heads" +
                                (llama ? " (" + std::to_string(c.kv_heads) + " of keys and values), hidden " +
                                             std::to_string(c.hidden) + ", head " + head
                                       : "") +
                                ", context " + std::to_string(c.context) + ", vocabulary " +
                                std::to_string(c.vocabulary)},
                  {"parameters", std::to_string(folder.parameters.size())},
                  {"parameters root", folder.parameters_root.hex()},
                  {"job", folder.provenance.job_name + " " + folder.provenance.job_id},
                  {"trained", std::to_string(folder.provenance.rounds) + " rounds, " +
                                  std::to_string(folder.provenance.tokens) + " tokens"},
                  {"data", folder.provenance.data_source + " (" + folder.provenance.data_licence + ")"}});
    return {};
}

Outcome<void> eval_model(const Context& context, const ModelFileFlags& flags) {
    end_on_interrupt(context);
    std::optional<base::Hash256> beacon;
    if (!flags.beacon.empty()) {
        beacon = base::parse_hash(flags.beacon);
        if (!beacon) {
            return base::fail(base::ErrorKind::kUsage, "--beacon has not 64 hexadecimal digits",
                              "job show -o json prints the beacons of merged rounds");
        }
    }
    ASSAY_ASSIGN(const auto folder, trainer::read_model_folder(flags.model, flags.context));
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    ASSAY_ASSIGN(const HeldOutLoss loss, evaluate_model(*worker, folder.config, folder.parameters, flags.data,
                                                        flags.sequences, beacon));
    char bits[16];
    std::snprintf(bits, sizeof bits, "0x%08x", static_cast<unsigned>(loss.loss_bits));
    if (context.json()) {
        JsonFields body;
        body("loss", static_cast<double>(loss.loss));
        body("loss_bits", bits);
        body("tokens", loss.tokens);
        context.print_json("assay.model.eval/v1", body.take());
    } else {
        char text[32];
        std::snprintf(text, sizeof text, "%.6f", static_cast<double>(loss.loss));
        print_fields(context.out, {{"loss", text}, {"bits", bits}, {"tokens", std::to_string(loss.tokens)}});
    }
    return {};
}

/// What export needs, wherever it comes from.
struct ExportSource {
    program::JobSpec spec;
    base::Bytes base_state;
    std::string tokenizer;
    trainer::Provenance provenance;
    trainer::SpecialIds ids;  ///< as the job file's model folder has them; the ledger does not know them
    std::optional<BirthCertificate> born;  ///< of a ledger's job
};

std::uint64_t tokens_of_round(const program::JobSpec& spec, std::size_t slots) {
    return std::uint64_t{spec.train.inner_steps} * spec.train.batch * spec.model.context * slots;
}

/// The base state after `round`, or the newest; the rounds before it are counted into `provenance`.
Outcome<base::Hash256> state_after(const contracts::StateView& state, const contracts::Job& job,
                                   std::optional<std::uint32_t> round, trainer::Provenance& provenance) {
    base::Hash256 blob;
    bool reached = false;
    for (std::uint32_t number = 0; number < job.spec.rounds && !reached; ++number) {
        const auto record = contracts::read_round(state, job.id, number);
        if (!record) break;
        if (!record->merged) continue;
        blob = record->result.base_blob;
        provenance.rounds = number + 1;
        provenance.tokens += tokens_of_round(job.spec, record->merged_slots.size());
        reached = round && *round == number;
    }
    if (blob.is_zero() || (round && !reached)) {
        return fail(ErrorKind::kNotFound,
                    "job " + job.id.brief() + " has no merged round" +
                        (round ? " " + std::to_string(*round) : "") + " in this home's ledger",
                    "rounds count from 0; see: assay job show " + job.id.brief() + " --offline");
    }
    return blob;
}

Outcome<ExportSource> from_home(const Context& context, const ModelFileFlags& flags) {
    ExportSource source;
    ASSAY_ASSIGN(const auto ledger, audit_home_ledger(context));
    if (!ledger.ok()) {
        return fail(ErrorKind::kVerification,
                    ledger.failures.front().where + ": " + ledger.failures.front().what,
                    "run: assay audit ledger --home " + context.home().root.string());
    }
    ASSAY_ASSIGN(const contracts::Job job, find_job(ledger.state, flags.job));
    BlobStoreOptions options;
    options.folder = context.home().blobs();
    options.use = StoreUse::kBeside;
    ASSAY_ASSIGN(const auto blobs, BlobStore::open(options));
    source.spec = job.spec;
    source.provenance = {.job_name = job.spec.name,
                         .job_id = job.id.hex(),
                         .data_source = "manifest " + job.spec.data.manifest.hex(),
                         .data_licence = "see the manifest"};
    ASSAY_ASSIGN(const base::Hash256 blob, state_after(ledger.state, job, flags.round, source.provenance));
    ASSAY_ASSIGN(source.born, certify_from_home(ledger, job, blob));
    ASSAY_ASSIGN(source.base_state, blobs->read(blob, kStateLimit));
    ASSAY_ASSIGN(const base::Bytes tokenizer, blobs->read(job.spec.data.tokenizer, kTokenizerLimit));
    source.tokenizer = std::string(base::as_text(tokenizer));
    return source;
}

Outcome<ExportSource> from_files(const ModelFileFlags& flags) {
    ExportSource source;
    ASSAY_ASSIGN(JobFile job, read_job_file(flags.job_file));
    ASSAY_TRY(initial_file(job));  // names the blob
    ASSAY_ASSIGN(const auto manifest, trainer::read_manifest(job.manifest));
    ASSAY_ASSIGN(source.base_state, trainer::read_file(flags.state, kStateLimit));
    ASSAY_ASSIGN(const auto tokenizer, trainer::read_file(job.tokenizer, kTokenizerLimit));
    source.spec = job.spec;
    source.ids = job.ids;
    source.tokenizer = std::string(base::as_text(tokenizer));
    source.provenance = {.job_name = job.spec.name,
                         .job_id = "",
                         .data_source = manifest.source,
                         .data_licence = manifest.licence};
    return source;
}

/// A model folder of either kind, written as ours.
Outcome<base::Hash256> export_folder(const ModelFileFlags& flags, trainer::Provenance& provenance) {
    ASSAY_ASSIGN(const auto folder, trainer::read_model_folder(flags.model, flags.context));
    provenance = folder.provenance;
    base::Bytes certificate;
    const std::filesystem::path born = std::filesystem::path(flags.model) / trainer::kCertificateFile;
    if (std::filesystem::exists(born)) {
        ASSAY_ASSIGN(certificate, trainer::read_file(born, kMaxCertificateBytes));
    }
    return trainer::write_model_folder(flags.out,
                                       {.config = folder.config,
                                        .tokenizer_json = folder.tokenizer_json,
                                        .provenance = folder.provenance,
                                        .ids = folder.ids,
                                        .max_shard_bytes = flags.shard_bytes,
                                        .certificate = std::move(certificate)},
                                       folder.parameters);
}

Outcome<base::Hash256> export_state(const ExportSource& source, const ModelFileFlags& flags,
                                    trainer::Provenance& provenance) {
    provenance = source.provenance;
    return write_model(flags.out, source.spec, source.base_state, source.tokenizer, source.provenance,
                       source.ids, flags.shard_bytes, source.born);
}

Outcome<void> export_model(const Context& context, const ModelFileFlags& flags) {
    const bool files = !flags.state.empty() && !flags.job_file.empty();
    const int sources = (files ? 1 : 0) + (flags.job.empty() ? 0 : 1) + (flags.model.empty() ? 0 : 1);
    if (sources != 1 || flags.state.empty() != flags.job_file.empty()) {
        return fail(
            ErrorKind::kUsage, "what to export is not clear",
            "give --job J (of the home's ledger and blobs), or --state FILE with --job-file JOB.toml, "
            "or --model FOLDER");
    }
    trainer::Provenance provenance;
    base::Hash256 root;
    if (!flags.model.empty()) {
        ASSAY_ASSIGN(root, export_folder(flags, provenance));
    } else {
        ASSAY_ASSIGN(const ExportSource source, files ? from_files(flags) : from_home(context, flags));
        ASSAY_ASSIGN(root, export_state(source, flags, provenance));
    }
    if (context.json()) {
        JsonFields body;
        body("folder", flags.out);
        body("parameters_root", root);
        body("rounds", provenance.rounds);
        body("tokens", provenance.tokens);
        context.print_json("assay.model.export/v1", body.take());
    } else {
        context.out << "model written to " << flags.out << ", parameters root " << root.hex() << '\n';
    }
    return {};
}

}  // namespace

void add_model_file_commands(CLI::App& app, Context& context) {
    CLI::App& model = noun(app, "model", "Models: what a step is, training alone, model folders");
    const auto flags = std::make_shared<ModelFileFlags>();
    CLI::App& shown = verb(model, "show", "Shape, origin and root of a model folder, recomputed", context,
                           [&context, flags] { return show_model(context, *flags); });
    shown.add_option("folder", flags->model, "Model folder: Hugging Face's or ours")->required();

    CLI::App& evaluated = verb(model, "eval", "Mean loss of a model folder on a token file", context,
                               [&context, flags] { return eval_model(context, *flags); });
    evaluated.add_option("--model", flags->model, "Model folder: Hugging Face's or ours")->required();
    evaluated.add_option("--data", flags->data, "Token file, as `assay data pack` writes it")->required();
    CLI::Option* sequences =
        evaluated.add_option("--sequences", flags->sequences, "Only the first so many (default: all)");
    evaluated
        .add_option("--beacon", flags->beacon, "Only those that this beacon of a round draws (job show)")
        ->excludes(sequences);

    CLI::App& exported = verb(model, "export", "A base state or a model folder as a Hugging Face folder",
                              context, [&context, flags] { return export_model(context, *flags); });
    exported.add_option("--out", flags->out, "Folder to write")->required();
    exported.add_option("--job", flags->job, "Job of the home's ledger: id, a beginning of it, or its name");
    exported.add_option("--round", flags->round, "The state after this round (default: the newest)");
    exported.add_option("--state", flags->state, "Instead of --job: a base state file");
    exported.add_option("--job-file", flags->job_file, "With --state: its job file");
    exported.add_option("--model", flags->model, "Instead of --job: a model folder, Hugging Face's or ours");
    exported.add_option("--shard-bytes", flags->shard_bytes, "Weights above this are cut into several files")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50))
        ->capture_default_str();
    for (CLI::App* command : {&shown, &evaluated, &exported}) {
        command->add_option("--context", flags->context,
                            "Llama: positions to use, when the model has more than are wanted or supported");
    }
}

}  // namespace assay::node
