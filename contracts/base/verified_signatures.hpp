// SPDX-License-Identifier: Apache-2.0
// A cache of valid signatures, for a process that runs many ledgers in one thread, as a simulation does.
// verify() computes each signature once, not once for each ledger, and none that the thread made itself.
#pragma once

#include <compare>
#include <set>

#include "contracts/base/sign.hpp"

namespace assay::base {

/// While one exists, sign() in its thread adds to it, and verify() asks it first. A hit is exact: key, digest
/// and signature are compared whole. A second object takes the place of the first while it exists.
class VerifiedSignatures {
public:
    VerifiedSignatures();
    VerifiedSignatures(const VerifiedSignatures&) = delete;
    VerifiedSignatures& operator=(const VerifiedSignatures&) = delete;
    ~VerifiedSignatures();

    /// The cache of this thread; null when there is none.
    static VerifiedSignatures* of_this_thread();

    struct Entry {
        Hash256 digest;  ///< of what was signed
        PublicKey key;
        Signature signature;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };
    [[nodiscard]] bool knows(const Entry& entry) const { return entries_.contains(entry); }
    /// Adds an entry. REQUIRES a valid signature.
    void remember(const Entry& entry);

private:
    VerifiedSignatures* before_;
    std::set<Entry> entries_;
};

}  // namespace assay::base
