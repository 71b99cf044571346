// SPDX-License-Identifier: Apache-2.0
#include "node/cli/context.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "node/rpc/client.hpp"

namespace assay::node {

base::Outcome<std::unique_ptr<LedgerService>> Context::ledger() const {
    ClientOptions options;
    options.address = settings.node;
    return connect_ledger(options);
}

void Context::print_json(const std::string& schema, const nlohmann::ordered_json& body) const {
    nlohmann::ordered_json object;
    object["schema"] = schema;
    for (const auto& [key, value] : body.items()) object[key] = value;
    // Names of files and texts need not be UTF-8: replace what JSON cannot hold.
    out << object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

base::Outcome<PassphraseSource> PassphraseFlags::source() const {
    PassphraseSource source;
    if (!file.empty() && fd >= 0)
        return base::fail(base::ErrorKind::kUsage, "--passphrase-file and --passphrase-fd are both given",
                          "give one of them, or neither to be asked");
    if (!file.empty()) source.file = file;
    if (fd >= 0) source.fd = fd;
    return source;
}

}  // namespace assay::node
