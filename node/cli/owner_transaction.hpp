// SPDX-License-Identifier: Apache-2.0
// Gives commands a transaction signed with the home's owner key.
#pragma once

#include <string>

#include "contracts/rules/transactions.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

struct OwnerTransaction {
    base::PublicKey owner;
    SubmitReply reply;  ///< accepted
};

/// Opens the owner key, signs with the next nonce for the chain of the home's genesis (`genesis`, kept at the
/// first time), submits, waits for the block. kRejected with the ledger's reason when it was refused (and
/// context.refused is set); `what` names the act in that error ("the transfer"). kNotFound without a genesis,
/// kVerification when the node runs another chain: what a node says is never what is signed for.
base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const PassphraseFlags& passphrase,
                                                const std::string& genesis, contracts::Payload payload,
                                                const std::string& what, const std::string& fix);

}  // namespace assay::node
