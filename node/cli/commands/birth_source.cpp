// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/birth_source.hpp"

#include "node/cli/reveal_source.hpp"

namespace assay::node {

base::Outcome<BirthCertificate> certify_from_node(const Context& context, const contracts::StateView& state,
                                                  const contracts::Job& job, const base::Hash256& base_blob) {
    ASSAY_ASSIGN(const auto ledger, context.ledger());
    ASSAY_ASSIGN(const LedgerStatus status, ledger->status());
    return certify(state, job, status.chain_id, base_blob, [&](std::uint32_t round, std::uint32_t slot) {
        return reveal_of(*ledger, state, job.id, round, slot);
    });
}

base::Outcome<BirthCertificate> certify_from_home(const ledger::AuditReport& ledger,
                                                  const contracts::Job& job, const base::Hash256& base_blob) {
    return certify(ledger.state, job, ledger.chain_id, base_blob, reveals_in(ledger.state, job.id));
}

}  // namespace assay::node
