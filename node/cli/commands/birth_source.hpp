// SPDX-License-Identifier: Apache-2.0
// Gives commands the birth certificate of a job's model, as a running node or a home's ledger has it.
#pragma once

#include "ledger/audit/audit.hpp"
#include "node/audit/birth_certificate.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

/// As certify(), from the node that --node names. The node is trusted, except for the traces, which must be
/// those that its state names. `state` is that node's.
base::Outcome<BirthCertificate> certify_from_node(const Context& context, const contracts::StateView& state,
                                                  const contracts::Job& job, const base::Hash256& base_blob);

/// As certify(). REQUIRES a ledger that checks, with its records and evidence put back (audit_home_ledger).
base::Outcome<BirthCertificate> certify_from_home(const ledger::AuditReport& ledger,
                                                  const contracts::Job& job, const base::Hash256& base_blob);

}  // namespace assay::node
