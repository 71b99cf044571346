// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market SimKey, of which it may have hundreds of thousands. The secret key is
// made only when it signs, since a secret key has its own guarded pages, and a process may have only some ten
// thousand of those.
#pragma once

#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::node::sim {

struct SimKey {
    base::Hash256 seed;
    base::PublicKey name;

    explicit SimKey(const base::Hash256& of) : seed(of), name(open().public_key()) {}
    [[nodiscard]] base::SecretKey open() const { return base::SecretKey::from_seed(seed.view()); }
    [[nodiscard]] const base::PublicKey& public_key() const { return name; }
};

}  // namespace assay::node::sim
