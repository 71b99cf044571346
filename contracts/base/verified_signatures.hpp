// SPDX-License-Identifier: Apache-2.0
// Gives a process that runs many ledgers in one thread, as a simulation does, a memory of the signatures that
// are right: verify() computes each once and not once for each ledger, and none that the thread made itself.
#pragma once

#include <compare>
#include <set>

#include "contracts/base/sign.hpp"

namespace assay::base {

/// While one lives, sign() of its thread tells it, and verify() asks it first. What it answers is exact: key,
/// digest and signature are compared whole. One inside another's life takes its place.
class VerifiedSignatures {
public:
    VerifiedSignatures();
    VerifiedSignatures(const VerifiedSignatures&) = delete;
    VerifiedSignatures& operator=(const VerifiedSignatures&) = delete;
    ~VerifiedSignatures();

    /// Null: this thread remembers none.
    static VerifiedSignatures* of_this_thread();

    struct Entry {
        Hash256 digest;  ///< of what was signed
        PublicKey key;
        Signature signature;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };
    [[nodiscard]] bool knows(const Entry& entry) const { return entries_.contains(entry); }
    /// REQUIRES a signature that is right.
    void remember(const Entry& entry);

private:
    VerifiedSignatures* before_;
    std::set<Entry> entries_;
};

}  // namespace assay::base
