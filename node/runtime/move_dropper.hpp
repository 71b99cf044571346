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
    /// `party`: whose moves it leaves out; nothing: none.
    explicit MoveDropper(std::optional<base::PublicKey> party) : party_(party) {}

    /// If the transaction is left out, a sentence that names it. Left out are the first, third, fifth and so
    /// on of the party's challenges, posts, picks, witnesses, concessions and calls. Bytes that are no
    /// transaction are never left out.
    std::optional<std::string> leaves_out(base::ByteView signed_transaction);

private:
    const std::optional<base::PublicKey> party_;
    std::mutex mutex_;
    std::uint64_t moves_ = 0;
};

}  // namespace assay::node
