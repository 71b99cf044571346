// SPDX-License-Identifier: Apache-2.0
// assay model program|train
#include <CLI/CLI.hpp>
#include <ostream>

#include "contracts/program/program.hpp"
#include "node/audit/model_output.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/file_limits.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/progress.hpp"
#include "node/config/job_file.hpp"
#include "node/views/json.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/manifest.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct ModelFlags {
    std::string job;
    std::string out;
    std::string record;
    std::uint32_t rounds = 0;
    std::string memory;
    std::string device_memory;
    std::string device;
};

/// An operator of a step, as scripts see it.
struct OperatorView {
    std::size_t index = 0;
    std::string name;
    std::string kind;
    std::vector<std::string> operands, outputs;
    std::uint64_t flops = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("index", index);
        visit("name", name);
        visit("kind", kind);
        visit("operands", operands);
        visit("outputs", outputs);
        visit("operations", flops);
    }
};

Json program_json(const program::JobSpec& spec, const program::Program& step) {
    const std::uint32_t batch = spec.train.batch;
    const auto names = [&](const std::vector<program::TensorId>& ids) {
        std::vector<std::string> list;
        for (const program::TensorId id : ids) list.push_back(step.tensors[id].name);
        return list;
    };
    std::vector<OperatorView> operators;
    for (const program::Operator& op : step.operators) {
        operators.push_back({.index = operators.size(),
                             .name = op.name,
                             .kind = std::string(program::to_text(op.kind)),
                             .operands = names(op.operands),
                             .outputs = names(op.outputs),
                             .flops = op.flops.of(batch)});
    }
    JsonFields body;
    body("job", spec.name);
    body("batch", batch);
    body("operations", program::flops(step, batch));
    body("work_units", program::work_units(spec));
    body("operators", operators);
    return body.take();
}

Outcome<void> show_program(const Context& context, const ModelFlags& flags) {
    ASSAY_ASSIGN(const auto job, read_job_file(flags.job));
    const auto step = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    if (context.json()) {
        context.print_json("assay.model.program/v1", program_json(job.spec, step));
    } else {
        context.out << program::dump(step, job.spec.train.batch);
    }
    return {};
}

Outcome<base::Hash256> write_folder(const JobFile& job, const LocalTrainingResult& result,
                                    const ModelFlags& flags, const std::string& job_id) {
    ASSAY_ASSIGN(const auto bytes, worker::read_all(*result.base_state, kStateLimit));
    ASSAY_ASSIGN(const auto tokenizer, trainer::read_file(job.tokenizer, kTokenizerLimit));
    ASSAY_ASSIGN(const auto manifest, trainer::read_manifest(job.manifest));
    return write_model(flags.out, job.spec, bytes, std::string(base::as_text(tokenizer)),
                       {.job_name = job.spec.name,
                        .job_id = job_id,
                        .data_source = manifest.source,
                        .data_licence = manifest.licence,
                        .rounds = result.rounds,
                        .tokens = result.tokens},
                       job.ids);
}

Outcome<void> train_model(const Context& context, const ModelFlags& flags) {
    end_on_interrupt(context);
    ASSAY_ASSIGN(auto job, read_job_file(flags.job));
    LocalTrainingOptions options;
    ASSAY_ASSIGN(options.initial, initial_file(job));
    options.rounds = flags.rounds;
    options.held_out_sequences =
        program::kHeldOutSequences;  // the first ones: the network draws as many a round
    std::string job_id;
    if (!flags.record.empty()) {
        ASSAY_ASSIGN(auto record, read_record(flags.record));
        job_id = record.job_id;
        options.record = std::move(record);
    }
    WorkerOptions worker_options;
    ASSAY_TRY(set_memory(worker_options, flags.memory, flags.device_memory));
    worker_options.device = flags.device;
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start(worker_options));
    ASSAY_ASSIGN(const auto opened, open_job(*worker, job.spec, {job.train.string(), job.held_out.string()}));
    context.err << "a step takes " << step_memory(opened) << '\n';
    ProgressBar progress(context.err, "training", "steps");
    options.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
    ASSAY_ASSIGN(const auto result, train_alone(*worker, job.spec, options));
    ASSAY_TRY(write_folder(job, result, flags, job_id));

    if (context.json()) {
        JsonFields body;
        body("model_root", result.model_root);
        body("parameters", opened.parameters);
        body("slots", job.spec.slots);
        body("inner_steps", job.spec.train.inner_steps);
        body("steps", result.steps);
        body("tokens", result.tokens);
        body("tokens_per_second", result.tokens_per_second);
        body("peak_rss_mib", result.peak_rss_mib);
        body("loss", result.loss);
        context.print_json("assay.model.train/v1", body.take());
    } else {
        context.out << "model root " << result.model_root.hex() << "\n"
                    << result.steps << " steps, " << result.tokens << " tokens, "
                    << static_cast<std::uint64_t>(result.tokens_per_second) << " tokens/s\n"
                    << "held-out loss " << result.loss.back().held_out << "; model in " << flags.out << '\n';
    }
    return {};
}

}  // namespace

void add_model_commands(CLI::App& app, Context& context) {
    CLI::App& model = noun(app, "model", "Models: what a step is, training alone, model folders");
    const auto flags = std::make_shared<ModelFlags>();
    CLI::App& shown = verb(model, "program", "Every operator of a step of a job", context,
                           [&context, flags] { return show_program(context, *flags); });
    CLI::App& trained = verb(model, "train", "Train a job alone, without a ledger: same function, same bits",
                             context, [&context, flags] { return train_model(context, *flags); });
    for (CLI::App* command : {&shown, &trained})
        command->add_option("job", flags->job, "Job file (TOML)")->required();
    trained.add_option("--out", flags->out, "Folder of the model")->required();
    trained.add_option("--record", flags->record, "Run record: which slots each round merged");
    add_memory_flags(trained, flags->memory, flags->device_memory);
    add_device_flag(trained, flags->device);
    trained.add_option("--rounds", flags->rounds, "Stop after so many rounds");
}

}  // namespace assay::node
