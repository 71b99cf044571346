// SPDX-License-Identifier: Apache-2.0
// Gives every command its Context: where to print, in which form, and the settings that all commands share.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "contracts/base/error.hpp"
#include "node/cli/settings.hpp"
#include "node/cli/sure_submission.hpp"
#include "node/key/key_file.hpp"
#include "node/roles/refusal.hpp"
#include "node/runtime/home.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// One invocation of the program. A command's callback sets `action`; run_cli runs it after the settings are
/// resolved, and turns its error into text or JSON and an exit code.
struct Context {
    std::ostream& out;  ///< data
    std::ostream& err;  ///< progress and errors
    SettingFlags flags;
    Settings settings;  ///< valid inside an action
    std::function<base::Outcome<void>()> action;
    bool gives_csv = false;  ///< the command has a form for `-o csv` (node/cli/csv.hpp)
    /// Set by a command before it ends with kRejected, so that the JSON error gives number and name.
    mutable std::optional<LedgerRefusal> refused;
    /// Not null while one command line runs several verbs; print_json then puts its members here.
    std::shared_ptr<nlohmann::ordered_json> gathered = nullptr;
    /// With a node that does not say what became of a transaction. Shorter in tests only.
    std::chrono::milliseconds submission_patience = kSubmissionPatience;

    [[nodiscard]] bool json() const { return settings.output == OutputMode::kJson; }
    [[nodiscard]] bool csv() const { return settings.output == OutputMode::kCsv; }
    [[nodiscard]] const Home& home() const { return settings.home; }
    /// For clients of the ledger node that `--node` names.
    [[nodiscard]] ClientOptions client() const { return client_of(settings.node); }
    /// For clients of a holder of blobs.
    [[nodiscard]] ClientOptions client_of(const std::string& address) const;
    /// The flags that give another command of this program the same node and TLS files.
    [[nodiscard]] std::vector<std::string> node_words() const;
    /// A client of the ledger node that `--node` names. It connects at its first call.
    [[nodiscard]] base::Outcome<std::unique_ptr<LedgerService>> ledger() const;
    /// Prints one JSON object (node/views/json.hpp) and a newline on `out`; `schema` becomes its first field.
    /// Prints nothing while `gathered` is set.
    void print_json(const std::string& schema, const nlohmann::ordered_json& body) const;
    /// Prints the object on one line and at once, as one of many.
    void print_json_line(const std::string& schema, const nlohmann::ordered_json& body) const;
};

/// `--passphrase-file` and `--passphrase-fd` of one command.
struct PassphraseFlags {
    std::string file;
    int fd = -1;
    /// kUsage when both are given.
    [[nodiscard]] base::Outcome<PassphraseSource> source() const;
};

}  // namespace assay::node
