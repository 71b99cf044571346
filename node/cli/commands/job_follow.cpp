// SPDX-License-Identifier: Apache-2.0
// assay job watch|fetch
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ostream>

#include "node/audit/model_output.hpp"
#include "node/audit/run_record.hpp"
#include "node/blob/fetch.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/birth_source.hpp"
#include "node/cli/file_limits.hpp"
#include "node/cli/state_source.hpp"
#include "node/processes/role_process.hpp"
#include "node/processes/watcher.hpp"
#include "node/roles/following_role.hpp"
#include "node/rpc/client.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/views/json.hpp"
#include "node/views/round_view.hpp"
#include "trainer/data/manifest.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;
using contracts::EventKind;

struct FollowFlags {
    std::string job;
    std::string genesis;
    std::string out;
};

std::string loss_text(float loss) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", static_cast<double>(loss));
    return text;
}

// One line, or one JSON object, for what a person who waits wants to know.
void print_event(const Context& context, const JobEventView& seen) {
    if (context.json()) {
        context.print_json_line("assay.job.watch/v1", json_of(seen));
        return;
    }
    context.out << to_text(seen.event) << " round " << seen.round;
    if (seen.event == EventKind::kVerdict) {
        context.out << " slot " << seen.slot << " " << seen.node.brief() << " " << to_text(seen.reason);
    }
    if (seen.loss) {
        context.out << " " << seen.slots << " slots, loss "
                    << (seen.loss->train ? loss_text(*seen.loss->train) : "not audited") << ", held-out "
                    << loss_text(seen.loss->held_out) << ", spent " << base::to_text(seen.spent);
    }
    if (seen.event == EventKind::kJobEnded) context.out << " " << contracts::explain(seen.reason);
    if (seen.event == EventKind::kToppedUp) context.out << " " << base::to_text(seen.amount);
    if (seen.event == EventKind::kExtended) context.out << " to block " << seen.deadline;
    context.out << std::endl;
    if (seen.runway && seen.runway->is_low())
        context.out << "warning: the escrow " << seen.runway->text() << "; more with: assay job topup"
                    << std::endl;
}

Outcome<void> watch(const Context& context, const FollowFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    std::optional<std::filesystem::path> given;
    if (!flags.genesis.empty()) given = flags.genesis;
    ASSAY_ASSIGN(const ledger::Genesis genesis, genesis_of(context.home(), given));
    ASSAY_ASSIGN(const auto now, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*now, flags.job));
    bool ended = false;
    ASSAY_TRY(
        watch_ledger({.node_address = context.settings.node, .tls = context.settings.tls, .genesis = genesis},
                     stop, [&](const Follower& ledger, const contracts::Events& events) {
                         for (const contracts::Event& event : events) {
                             if (event.job != job.id) continue;
                             const auto seen = job_event_view(ledger.state(), event);
                             if (seen) print_event(context, *seen);
                             ended = ended || event.kind == EventKind::kJobEnded;
                         }
                         return !ended;
                     }));
    if (ended) return {};
    return fail(ErrorKind::kInterrupted, "stopped before the job ended; the job goes on",
                "follow it again with: assay job watch " + job.id.brief());
}

// `most`: bytes. A job can name any blob; one with more is refused before it is fetched or read.
Outcome<base::Bytes> fetched(const Context& context, BlobStore& store, const BlobId& id,
                             const std::vector<Endpoint>& holders, std::uint64_t most) {
    const ConnectHolder connect = [&context](const Endpoint& holder) {
        return connect_blobs(context.client_of(holder));
    };
    FetchTerms terms;
    terms.most = most;
    ASSAY_TRY(fetch_blob(store, id, holders, connect, {}, nullptr, terms));
    return store.read(id, most);
}

Outcome<void> fetch(const Context& context, const FollowFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*state, flags.job));
    if (job.rounds_done == 0) {
        return fail(ErrorKind::kNotFound, "job " + job.id.brief() + " has no merged round yet",
                    "follow it with: assay job watch " + job.id.brief());
    }
    ASSAY_ASSIGN(const std::string folder,
                 flags.out.empty() ? trainer::folder_of_job(job.spec.name) : Outcome<std::string>(flags.out));
    ASSAY_TRY(create_home(context.home()));
    BlobStoreOptions options;
    options.folder = context.home().blobs();
    options.use = StoreUse::kBeside;
    ASSAY_ASSIGN(const auto store, BlobStore::open(options));
    const auto holders = holders_of_base(*state, job);
    ASSAY_ASSIGN(const base::Bytes base_state, fetched(context, *store, job.base_blob, holders, kStateLimit));
    ASSAY_ASSIGN(const base::Bytes tokenizer,
                 fetched(context, *store, job.spec.data.tokenizer, holders, kTokenizerLimit));
    ASSAY_ASSIGN(const base::Bytes manifest_json,
                 fetched(context, *store, job.spec.data.manifest, holders, trainer::kMaxManifestFile));
    ASSAY_ASSIGN(const auto manifest, trainer::manifest_from_json(base::as_text(manifest_json)));
    ASSAY_ASSIGN(auto born, certify_from_node(context, *state, job, job.base_blob));
    const std::vector<std::uint32_t> open = open_rounds(born);
    std::vector<std::uint32_t> lost;
    for (const CertifiedRound& round : born.rounds)
        for (const DefeatedClaim& claim : round.defeated) lost.push_back(claim.game);
    ASSAY_ASSIGN(const base::Hash256 root,
                 write_model(folder, job.spec, base_state, std::string(base::as_text(tokenizer)),
                             {.job_name = job.spec.name,
                              .job_id = job.id.hex(),
                              .data_source = manifest.source,
                              .data_licence = manifest.licence,
                              .rounds = job.rounds_done,
                              .tokens = merged_tokens(*state, job)},
                             {}, trainer::kMaxShardBytes, std::move(born)));
    if (context.json()) {
        JsonFields model;
        model("job", job.id);
        model("rounds", job.rounds_done);
        model("of_rounds", job.spec.rounds);
        model("ended", job.phase == contracts::JobPhase::kEnded);
        model("model_root", job.base_root);
        model("parameters_root", root);
        model("folder", folder);
        model("defeated", lost);
        model("open_rounds", open);
        context.print_json("assay.job.fetch/v1", model.take());
        return {};
    }
    context.out << "model after " << job.rounds_done << " of " << job.spec.rounds << " rounds written to "
                << folder << (is_over(job.phase) ? "\n" : "; the job goes on\n");
    if (!lost.empty())
        context.out << lost.size() << (lost.size() == 1 ? " claim" : " claims")
                    << " that it is made of lost a game after the merge: assay audit model " << folder
                    << " names them\n";
    if (!open.empty())
        context.out << "windows of " << rounds_text(open)
                    << " were open when it was fetched: claims of them can still lose a game\n";
    return {};
}

}  // namespace

void add_job_follow_commands(CLI::App& app, Context& context) {
    CLI::App& job = noun(app, "job", "Jobs: submit, follow, fetch, cancel");
    const auto flags = std::make_shared<FollowFlags>();
    CLI::App& watching = verb(job, "watch", "Follow a job to its end: rounds, verdicts, losses, spending",
                              context, [&context, flags] { return watch(context, *flags); });
    CLI::App& fetching = verb(job, "fetch", "Bring the newest model home as a Hugging Face folder", context,
                              [&context, flags] { return fetch(context, *flags); });
    fetching.add_option("--out", flags->out, "Folder to write (default: NAME-model)");
    watching.add_option("--genesis", flags->genesis, "The ledger's genesis file; needed once per home");
    for (CLI::App* command : {&watching, &fetching}) {
        command->add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
    }
}

}  // namespace assay::node
