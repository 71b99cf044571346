// SPDX-License-Identifier: Apache-2.0
// Gives commands the settings that all of them share, from the flag, else ASSAY_* in the environment, else
// HOME/assay.toml, else the default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "node/rpc/tls.hpp"
#include "node/runtime/home.hpp"

namespace assay::node {

/// kCsv: only for commands that offer it.
enum class OutputMode : std::uint8_t { kTable, kJson, kCsv };

/// Default address at which `assay node run` listens and clients connect.
inline constexpr std::string_view kDefaultNodeAddress = "127.0.0.1:7420";

/// The flags as typed; nothing when not given.
struct SettingFlags {
    std::optional<std::string> home;
    std::optional<std::string> node;
    std::optional<std::string> output;
    std::optional<std::string> tls_certificate, tls_key, tls_ca;
};

struct Settings {
    Home home;
    std::string node{kDefaultNodeAddress};  ///< host:port of the ledger node
    OutputMode output = OutputMode::kTable;
    /// For the ledger node, for holders of blobs, and for what this process itself listens at.
    std::optional<TlsFiles> tls;
};

/// Home: flag, ASSAY_HOME, XDG. The others: flag, ASSAY_NODE / ASSAY_OUTPUT / ASSAY_TLS_CERT / ASSAY_TLS_KEY
/// / ASSAY_TLS_CA, keys `node`, `output`, `tls_cert`, `tls_key` and `tls_ca` of HOME/assay.toml (whose paths
/// begin at the home), default. kUsage for an unknown key, a wrong type, an unknown output mode, a broken
/// file, or one or two TLS files without the others.
base::Outcome<Settings> resolve_settings(const SettingFlags& flags);

/// Only the output mode, from flag and environment, for printing an error when settings cannot be resolved.
OutputMode output_mode_hint(const SettingFlags& flags);

}  // namespace assay::node
