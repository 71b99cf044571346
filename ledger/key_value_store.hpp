// SPDX-License-Identifier: Apache-2.0
// KeyValueStore: the seam to LevelDB. What it holds can always be rebuilt from the block log, so every
// refusal is answered by deleting it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::ledger {

using base::Bytes;
using base::ByteView;
using base::Outcome;

/// Key -> new value, or nothing where the key is erased.
using Batch = std::map<Bytes, std::optional<Bytes>>;

class KeyValueStore {
public:
    virtual ~KeyValueStore() = default;
    virtual Outcome<std::optional<Bytes>> get(ByteView key) const = 0;
    /// Visits all pairs whose key begins with `prefix`, ascending.
    virtual Outcome<void> scan(ByteView prefix,
                               const std::function<void(ByteView, ByteView)>& visit) const = 0;
    /// All or nothing, and durable when it returns.
    virtual Outcome<void> write(const Batch& batch) = 0;
};

/// Opens and deletes one store.
class KeyValueProvider {
public:
    virtual ~KeyValueProvider() = default;
    virtual Outcome<std::unique_ptr<KeyValueStore>> open() = 0;
    /// REQUIRES that no opened store is alive.
    virtual Outcome<void> destroy() = 0;
};

/// LevelDB in `directory`, with paranoid_checks, verify_checksums and sync=true; never repaired.
std::unique_ptr<KeyValueProvider> leveldb_provider(const std::string& directory);

}  // namespace assay::ledger
