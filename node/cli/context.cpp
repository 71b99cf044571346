// SPDX-License-Identifier: Apache-2.0
#include "node/cli/context.hpp"

#include <ostream>

#include "node/rpc/client.hpp"
#include "node/views/json.hpp"

namespace assay::node {

ClientOptions Context::client_of(const std::string& address) const {
    ClientOptions options;
    options.address = address;
    options.tls = settings.tls;
    return options;
}

std::vector<std::string> Context::node_words() const {
    std::vector<std::string> words = {"--node", settings.node};
    if (settings.tls)
        words.insert(words.end(), {"--tls-cert", settings.tls->certificate.string(), "--tls-key",
                                   settings.tls->key.string(), "--tls-ca", settings.tls->ca.string()});
    return words;
}

base::Outcome<std::unique_ptr<LedgerService>> Context::ledger() const { return connect_ledger(client()); }

void Context::print_json(const std::string& schema, const nlohmann::ordered_json& body) const {
    if (gathered) return gathered->update(body);
    out << json_text(schema, body, JsonLayout::kIndented) << '\n';
}

void Context::print_json_line(const std::string& schema, const nlohmann::ordered_json& body) const {
    out << json_text(schema, body, JsonLayout::kOneLine) << std::endl;
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
