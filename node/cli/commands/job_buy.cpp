// SPDX-License-Identifier: Apache-2.0
// assay job buy
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/owner_session.hpp"
#include "node/processes/purchase.hpp"
#include "node/roles/buyer.hpp"
#include "node/views/job_view.hpp"
#include "node/views/json.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

struct BuyFlags {
    RoleFlags role;
    std::string file;
    std::string endpoint;
    std::string initial_root, initial_blob;  ///< as the caller computed them; empty: computed here
    std::string stake = "0";
    std::string sponsor;
    std::string spec;  ///< hash of the spec that the caller has checked; empty: any
};

base::Outcome<base::Hash256> hash_flag(const std::string& flag, const std::string& text) {
    const auto hash = base::parse_hash(text);
    if (!hash) {
        return fail(ErrorKind::kUsage, flag + " " + text + " is not a hash",
                    "a hash is 64 hexadecimal digits in lower case");
    }
    return *hash;
}

// One without the other names no first state.
base::Outcome<void> check_flags(const BuyFlags& flags) {
    if (flags.initial_root.empty() == flags.initial_blob.empty()) return {};
    const bool root = !flags.initial_root.empty();
    return fail(ErrorKind::kUsage,
                std::string(root ? "--initial-root" : "--initial-blob") + " is given without " +
                    (root ? "--initial-blob" : "--initial-root"),
                "give both, with 64 zeros as --initial-blob for a job that starts from its seed, or none");
}

base::Outcome<program::JobSpec> complete_spec(const BuyFlags& flags) {
    ASSAY_ASSIGN(JobFile job, read_job_file(flags.file));
    if (flags.initial_root.empty()) {
        WorkerOptions worker;
        worker.threads = flags.role.threads;
        ASSAY_TRY(set_memory(worker, flags.role.memory, flags.role.device_memory));
        worker.device = flags.role.device;
        ASSAY_TRY(complete(job, worker));
        return std::move(job.spec);
    }
    ASSAY_ASSIGN(job.spec.initial_root, hash_flag("--initial-root", flags.initial_root));
    ASSAY_ASSIGN(job.spec.initial_blob, hash_flag("--initial-blob", flags.initial_blob));
    return std::move(job.spec);
}

// Files can change between a caller's look at them and this one: what is signed is what was checked.
base::Outcome<program::JobSpec> spec_of(const BuyFlags& flags) {
    ASSAY_TRY(check_flags(flags));
    ASSAY_ASSIGN(program::JobSpec spec, complete_spec(flags));
    if (flags.spec.empty()) return spec;
    ASSAY_ASSIGN(const base::Hash256 checked, hash_flag("--spec", flags.spec));
    if (const base::Hash256 found = contracts::hash_of_spec(spec); found != checked) {
        return fail(ErrorKind::kVerification,
                    flags.file + " is not the job that was checked: its spec has the hash " + found.hex() +
                        ", not " + checked.hex(),
                    "the file, or one that it names, has changed meanwhile; run the same command again");
    }
    return spec;
}

// A job of this spec and node key that is on the ledger is not bought again.
base::Outcome<base::Hash256> buy_once(OwnerSession& session, const program::JobSpec& spec,
                                      const std::string& endpoint, base::Amount stake,
                                      const std::optional<base::PublicKey>& sponsor) {
    if (const auto bought = bought_job(session.state(), session.node(), spec)) return *bought;
    ASSAY_TRY(session.open_keys("job '" + spec.name + "' is not on the ledger",
                                "assay job buy JOB.toml --endpoint HOST:PORT"));
    const OnboardingWants wants{.role = WorkRole::kBuyer,
                                .owner = session.owner(),
                                .node = session.node(),
                                .node_proof = session.node_proof(),
                                .endpoint = endpoint,
                                .stake = stake};
    const auto missing = [&] {
        std::optional<contracts::Payload> step;
        (void)onboard(session.state(), wants,
                      [&](const std::string&, contracts::Payload wanted) { step = std::move(wanted); });
        return step;
    };
    // Each once: a node that takes what is signed and never shows it gets no second stake.
    for (int i = 0; i < 2; ++i) {
        const auto name = missing_step(session.state(), wants);
        if (!name) break;
        ASSAY_TRY(session.submit(*missing(), "'" + *name + "'", "see docs/reference/reasons.md",
                                 [&] { return missing_step(session.state(), wants) == name; }));
    }
    ASSAY_TRY(session.submit(submission_for(sponsor, submission(spec, session.node_key(), endpoint)),
                             "the job", "see what the job asks for with: assay plan JOB.toml",
                             [&] { return !bought_job(session.state(), session.node(), spec); }));
    const auto bought = bought_job(session.state(), session.node(), spec);
    if (!bought) {
        return fail(ErrorKind::kVerification,
                    "the ledger node says that the job is in a block, and does not show it",
                    "ask the ledger's operator, or use another --node");
    }
    return *bought;
}

base::Outcome<void> buy(const Context& context, const BuyFlags& flags) {
    OwnerSessionOptions options{.passphrase = flags.role.passphrase, .genesis = {}};
    if (!flags.role.genesis.empty()) options.genesis = flags.role.genesis;
    ASSAY_ASSIGN(const program::JobSpec spec, spec_of(flags));
    ASSAY_TRY(create_home(context.home()));
    ASSAY_ASSIGN(const auto session, OwnerSession::connect(context, std::move(options)));
    ASSAY_ASSIGN(const base::Amount stake, amount_flag("--stake", flags.stake));
    ASSAY_ASSIGN(const auto sponsor, sponsor_flag(flags.sponsor));
    ASSAY_ASSIGN(const base::Hash256 job, buy_once(*session, spec, flags.endpoint, stake, sponsor));
    const auto terms = contracts::read_job_terms(session->state(), job);
    const base::Amount fee =
        terms ? fee_of(session->state(), *terms).value_or(base::Amount{}) : base::Amount{};
    if (context.json()) {
        JsonFields body;
        body("job", job);
        body("node", session->node());
        body("fee", fee);
        context.print_json("assay.job.buy/v1", body.take());
        return {};
    }
    context.out << "job " << job.hex() << "\nfee " << base::to_text(fee) << ", burned\n";
    return {};
}

}  // namespace

void add_job_buy_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<BuyFlags>();
    CLI::App& command = verb(noun(app, "job", "Buy training"), "buy",
                             "Lock the budget and submit a job file as the owner; `job submit` does it and "
                             "serves the job",
                             context, [&context, flags] { return buy(context, *flags); });
    command.add_option("JOB.toml", flags->file, "The job file")->required();
    add_passphrase_flags(command, flags->role.passphrase);
    add_genesis_flag(command, flags->role);
    command
        .add_option("--endpoint", flags->endpoint,
                    "HOST:PORT where others will ask for the data; `job submit` corrects it")
        ->required();
    command
        .add_option("--stake", flags->stake,
                    "Stake of the node key, for bonds of challenges: once, if it has none")
        ->capture_default_str();
    add_sponsor_flag(command, flags->sponsor);
    command.add_option("--initial-root", flags->initial_root, "Root of the initial state; default: computed");
    command.add_option("--initial-blob", flags->initial_blob,
                       "Blob of given weights, zeros for a job from a seed; default: computed");
    command.add_option("--spec", flags->spec,
                       "Hash of the job's spec as it was checked: another one is refused; default: any");
    command.add_option("--threads", flags->role.threads, "Worker threads (0: ASSAY_THREADS, else 1)");
    add_memory_flags(command, flags->role.memory, flags->role.device_memory);
    add_device_flag(command, flags->role.device);
}

}  // namespace assay::node
