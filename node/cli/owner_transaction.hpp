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

/// Whose key signs.
struct OwnerSigner {
    const PassphraseFlags& passphrase;
    std::string genesis = {};    ///< file; empty: the home's
    std::string owner_key = {};  ///< file; empty: the home's
};

/// Opens the owner key, signs with the next nonce for the chain of the home's genesis (at the first time
/// the signer's, which is then kept), submits, and waits for the block. kRejected with the ledger's reason
/// when it was refused (context.refused is then set); `what` names the act in that error ("the transfer"),
/// and `fix` says where to look ("see your balance with: assay wallet show"). kUnreachable when it is not
/// known what became of it: the same transaction is sent again for context.submission_patience before that.
/// kNotFound without a genesis. kVerification when the node runs another chain: the signature is for the
/// home's chain, never for one that a node names.
base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const OwnerSigner& signer,
                                                contracts::Payload payload, const std::string& what,
                                                const std::string& fix);

/// The same with the home's owner key.
base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const PassphraseFlags& passphrase,
                                                const std::string& genesis, contracts::Payload payload,
                                                const std::string& what, const std::string& fix);

}  // namespace assay::node
