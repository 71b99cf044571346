// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market keys by the hundred thousand: each is made when it signs, since a secret
// key has guarded pages of its own, and a process may have no more than some ten thousand of those.
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
