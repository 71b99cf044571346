// SPDX-License-Identifier: Apache-2.0
// Gives the ledger node of a devnet MoveDropper, a drill of censorship: it leaves out every other move that
// one party makes in disputes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "contracts/base/bytes.hpp"
#include "contracts/base/sign.hpp"

namespace assay::node {

/// Thread-safe.
class MoveDropper {
public:
    /// Nothing: it leaves out none.
    explicit MoveDropper(std::optional<base::PublicKey> party) : party_(party) {}

    /// A sentence that names the transaction, where it is left out: the first, third, fifth of the party's
    /// challenges, posts, picks, witnesses, concessions and calls. Bytes that are no transaction are not.
    std::optional<std::string> leaves_out(base::ByteView signed_transaction);

private:
    const std::optional<base::PublicKey> party_;
    std::mutex mutex_;
    std::uint64_t moves_ = 0;
};

}  // namespace assay::node
