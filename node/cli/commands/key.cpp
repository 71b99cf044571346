// SPDX-License-Identifier: Apache-2.0
// assay key new|show|import
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "node/cli/commands.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;

struct KeyFlags {
    std::string role = "node";
    std::string file;       ///< empty: the role's place in the home
    std::string seed_file;  ///< import
    bool interactive = false;
    PassphraseFlags passphrase;
};

KeyRole role_of(const KeyFlags& flags) { return flags.role == "owner" ? KeyRole::kOwner : KeyRole::kNode; }

const char* to_text(KeyRole role) { return role == KeyRole::kOwner ? "owner" : "node"; }

std::filesystem::path place(const Context& context, const KeyFlags& flags) {
    if (!flags.file.empty()) return flags.file;
    return role_of(flags) == KeyRole::kOwner ? context.home().owner_key() : context.home().node_key();
}

void print_key(const Context& context, const std::filesystem::path& path, KeyRole role,
               const base::PublicKey& key) {
    if (context.json()) {
        JsonFields body;
        body("role", to_text(role));
        body("public_key", key);
        body("file", path.string());
        context.print_json("assay.key/v1", body.take());
        return;
    }
    context.out << to_text(role) << "  " << key.hex() << "  " << path.string() << '\n';
}

KeyFileOptions options_of(const KeyFlags& flags) {
    return {.role = role_of(flags),
            .protection = flags.interactive ? KeyProtection::kInteractive : KeyProtection::kModerate};
}

/// Refuses before a passphrase is asked for.
Outcome<void> check_free(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path)) return {};
    return base::fail(ErrorKind::kKey, path.string() + " exists: a key is never overwritten",
                      "choose another place with --file, or move the old key away and keep it safe");
}

Outcome<void> new_key(const Context& context, const KeyFlags& flags) {
    const auto path = place(context, flags);
    ASSAY_TRY(check_free(path));
    ASSAY_ASSIGN(const auto source, flags.passphrase.source());
    if (flags.file.empty()) ASSAY_TRY(create_home(context.home()));
    ASSAY_ASSIGN(const auto passphrase, read_passphrase(source, PromptKind::kCreate));
    forbid_core_dumps();
    ASSAY_ASSIGN(const auto key, create_key_file(path, passphrase, options_of(flags)));
    print_key(context, path, role_of(flags), key.public_key());
    return {};
}

Outcome<void> import_key(const Context& context, const KeyFlags& flags) {
    const auto path = place(context, flags);
    ASSAY_TRY(check_free(path));
    ASSAY_ASSIGN(const auto source, flags.passphrase.source());
    forbid_core_dumps();
    ASSAY_ASSIGN(const base::SecretKey key, read_seed_file(flags.seed_file));
    if (flags.file.empty()) ASSAY_TRY(create_home(context.home()));
    ASSAY_ASSIGN(const auto passphrase, read_passphrase(source, PromptKind::kCreate));
    ASSAY_TRY(write_key_file(path, key, passphrase, options_of(flags)));
    print_key(context, path, role_of(flags), key.public_key());
    return {};
}

Outcome<void> show_key(const Context& context, const KeyFlags& flags) {
    const auto path = place(context, flags);
    ASSAY_ASSIGN(const auto info, inspect_key_file(path));
    print_key(context, path, info.role, info.public_key);
    return {};
}

}  // namespace

void add_key_commands(CLI::App& app, Context& context) {
    CLI::App& key = noun(app, "key", "Encrypted key files: owner (cold, money) and node (hot, work)");
    const auto flags = std::make_shared<KeyFlags>();
    CLI::App& made = verb(key, "new", "Make a key and write it encrypted; never overwrites", context,
                          [&context, flags] { return new_key(context, *flags); });
    CLI::App& shown = verb(key, "show", "Public key and role of a key file; needs no passphrase", context,
                           [&context, flags] { return show_key(context, *flags); });
    CLI::App& imported = verb(key, "import", "Write a key file from a 32-byte seed in hexadecimal", context,
                              [&context, flags] { return import_key(context, *flags); });
    for (CLI::App* command : {&made, &shown, &imported}) {
        command->add_option("--role", flags->role, "owner or node")
            ->check(CLI::IsMember({"owner", "node"}))
            ->capture_default_str();
        command->add_option("--file", flags->file, "Another place than HOME/keys/ROLE.key");
    }
    for (CLI::App* command : {&made, &imported}) {
        add_passphrase_flags(*command, flags->passphrase);
        command->add_flag("--interactive", flags->interactive,
                          "Cheaper passphrase hashing (64 MiB): for play money only");
    }
    imported.add_option("--seed-file", flags->seed_file, "File with the seed, which only its owner may read")
        ->required();
}

}  // namespace assay::node
