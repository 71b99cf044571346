// SPDX-License-Identifier: Apache-2.0
#include "node/cli/cli.hpp"

#include <CLI/CLI.hpp>
#include <ostream>

#include "contracts/base/error_names.hpp"
#include "contracts/base/sign.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/context.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Error;
using base::ErrorKind;

int exit_code(const Error& error) { return static_cast<int>(error.kind); }

/// The deepest command that the words reached, as a person types it: where to ask for help.
std::string path_of(const CLI::App& app) {
    const CLI::App* at = &app;
    std::string path = "assay";
    for (auto used = at->get_subcommands(); !used.empty(); used = at->get_subcommands()) {
        at = used.front();
        path += " " + at->get_name();
    }
    return path;
}

void add_shared_flags(CLI::App& app, SettingFlags& flags) {
    app.add_option("--home", flags.home, "Folder of keys, ledger and blobs [ASSAY_HOME]");
    app.add_option("--node", flags.node, "Ledger node, HOST:PORT [ASSAY_NODE]");
    app.add_option("--tls-cert", flags.tls_certificate,
                   "PEM certificate shown to whoever is off loopback [ASSAY_TLS_CERT]");
    app.add_option("--tls-key", flags.tls_key, "PEM key of the certificate [ASSAY_TLS_KEY]");
    app.add_option("--tls-ca", flags.tls_ca,
                   "PEM certificate authority that signed the certificates of both ends [ASSAY_TLS_CA]");
    app.add_option("-o,--output", flags.output,
                   "Form of the data on stdout: table, json or, of some commands, csv [ASSAY_OUTPUT]");
}

// All output on stdout is complete, to its last line, before the error: an error never appears inside or at
// the end of a line.
int report(std::ostream& out, std::ostream& err, const Error& error, OutputMode mode,
           const std::optional<LedgerRefusal>& refusal = std::nullopt) {
    out.flush();
    print_error(err, error, mode, refusal);
    return exit_code(error);
}

base::Outcome<void> run_action(Context& context) {
    if (!base::start_crypto())
        return base::fail(ErrorKind::kFailure, "the system offers no random numbers",
                          "check that /dev/urandom is readable");
    ASSAY_ASSIGN(context.settings, resolve_settings(context.flags));
    if (context.csv() && !context.gives_csv)
        return base::fail(ErrorKind::kUsage, "this command has no csv output (comma-separated values)",
                          "use -o table or -o json");
    return context.action();
}

}  // namespace

void print_error(std::ostream& err, const Error& error, OutputMode mode,
                 const std::optional<LedgerRefusal>& refusal) {
    if (mode == OutputMode::kJson) {
        JsonFields body;
        body("code", exit_code(error));
        body("kind", std::string(base::to_text(error.kind)));
        body("message", error.what);
        body("fix", error.fix);
        if (refusal) {
            JsonFields reason;
            reason("number", refusal->number);
            reason("name", refusal->name);
            body("reason", reason.take());
        }
        JsonFields object;
        object("error", body.take());
        err << json_text("assay.error/v1", object.take(), JsonLayout::kOneLine) << '\n';
        return;
    }
    err << "error: " << error.what << '\n';
    if (!error.fix.empty()) err << "  fix: " << error.fix << '\n';
}

int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
    Context context{out, err, {}, {}, {}};
    CLI::App app("Assay: a market for training compute that pays only for work that recomputes bit for bit.",
                 "assay");
    app.require_subcommand(1);
    add_shared_flags(app, context.flags);
    app.set_version_flag("--version", std::string(), "Version of this program, as `assay version` prints it");
    add_all_commands(app, context);
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11's order
        app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
        // The deepest command that was named prints its own help.
        const CLI::App* at = &app;
        for (auto used = at->get_subcommands(); !used.empty(); used = at->get_subcommands())
            at = used.front();
        std::string prefix = path_of(app);
        prefix.resize(prefix.size() - std::min(prefix.size(), at->get_name().size() + 1));
        out << at->help(at == &app ? "" : prefix);
        return 0;
    } catch (const CLI::CallForVersion&) {
        context.action = version_action(context);
    } catch (const CLI::ParseError& error) {
        const auto unknown = app.remaining(true);
        const std::string what = unknown.empty() ? error.what() : "unknown word '" + unknown.front() + "'";
        return report(out, err, {ErrorKind::kUsage, what, "see: " + path_of(app) + " --help"},
                      output_mode_hint(context.flags));
    }
    try {
        const auto done = run_action(context);
        if (done.ok() && out.flush().good()) return 0;
        if (done.ok()) {
            return report(out, err,
                          {ErrorKind::kFailure, "the output could not be written: is the disk full?",
                           "free space or send the output elsewhere, then run the command again"},
                          context.settings.output);
        }
        const bool resolved = !context.settings.home.root.empty();
        return report(out, err, done.error(),
                      resolved ? context.settings.output : output_mode_hint(context.flags), context.refused);
    } catch (const StateReadError& error) {
        return report(out, err, error.error(), context.settings.output);
    } catch (const std::exception& error) {
        return report(out, err,
                      {ErrorKind::kFailure, error.what(), "run the command again; report it if it stays"},
                      output_mode_hint(context.flags));
    }
}

}  // namespace assay::node
