// SPDX-License-Identifier: Apache-2.0
// The id of a job and the seal of an ask, for miners, buyers and the rules. A seal hides and binds. It covers
// the chain, the job and its author, so that it is valid in one place only and a copy of it is worthless.
#pragma once

#include <string_view>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

Hash256 job_id(const Hash256& submitting_transaction);

/// The seal of an ask's price. `salt` is 32 random bytes that the miner keeps until the reveal.
Hash256 ask_seal(std::string_view chain, const Hash256& job, const PublicKey& miner, Amount price,
                 const Hash256& salt);

}  // namespace assay::contracts
