// SPDX-License-Identifier: Apache-2.0
#include "node/views/node_state.hpp"

#include <utility>

#include "contracts/rules/migration.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {
namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorKind;

class NodeState final : public contracts::StateView {
public:
    explicit NodeState(std::unique_ptr<LedgerService> ledger) : ledger_(std::move(ledger)) {}

    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override {
        auto reply = ledger_->get(key);
        if (!reply) throw StateReadError(reply.error());
        return std::move(reply->value);
    }
    // All under the prefix before the first is visited: what is visited must be of one state.
    void for_each(ByteView prefix, ByteView from, const contracts::Visitor& visit) const override {
        auto page = scan_all(*ledger_, prefix);
        if (!page) throw StateReadError(page.error());
        const Bytes first = base::to_bytes(from);
        for (const auto& [key, value] : page->entries)
            if (key >= first && !visit(key, value)) return;
    }

private:
    std::unique_ptr<LedgerService> ledger_;
};

class NodeWithHistory final : public contracts::StateView {
public:
    explicit NodeWithHistory(std::unique_ptr<LedgerService> ledger)
        : node_(std::move(ledger)),
          whole_(
              node_, [this](ByteView key) { return node_.get(key); },
              [](const std::string& what) {
                  throw StateReadError(
                      base::Error{ErrorKind::kVerification, "the node's " + what,
                                  "use another --node; a command that has the flag --offline "
                                  "can read the files of a home instead"});
              }) {}

    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override { return whole_.get(key); }
    void for_each(ByteView prefix, ByteView from, const contracts::Visitor& visit) const override {
        whole_.for_each(prefix, from, visit);
    }

private:
    NodeState node_;
    contracts::WithHistory whole_;
};

}  // namespace

base::Outcome<std::unique_ptr<contracts::StateView>> state_of(std::unique_ptr<LedgerService> ledger) {
    std::unique_ptr<contracts::StateView> state = std::make_unique<NodeWithHistory>(std::move(ledger));
    if (const auto schema = contracts::schema_of(*state); schema != contracts::kSchemaVersion) {
        return base::fail(ErrorKind::kVerification,
                          "the node's ledger has schema " + std::to_string(schema.value_or(0)) +
                              ", and this program reads " + std::to_string(contracts::kSchemaVersion),
                          "use the version of assay that the node runs");
    }
    return state;
}

}  // namespace assay::node
