// SPDX-License-Identifier: Apache-2.0
// KeyValueStore is the interface to LevelDB, for the index. When a store cannot be used, it is rebuilt from
// the blocks. It is deleted only after the blocks have given its content again, which the blocks of a chain
// that began under an older schema cannot do. Errors of kind kVerification mean that what is stored is
// damaged; all others mean nothing of the kind.
#pragma once

#include <cstdint>
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

/// Key -> new value, or nothing if the key is erased.
using Batch = std::map<Bytes, std::optional<Bytes>>;

class KeyValueStore {
public:
    virtual ~KeyValueStore() = default;
    virtual Outcome<std::optional<Bytes>> get(ByteView key) const = 0;
    /// Visits all pairs whose key begins with `prefix`, ascending.
    virtual Outcome<void> scan(ByteView prefix,
                               const std::function<void(ByteView, ByteView)>& visit) const = 0;
    /// Writes all or nothing. When it returns, the write is as durable as the provider's options say.
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

enum class Durability : std::uint8_t {
    kEveryWrite,  ///< a write that returned outlives a power cut
    kInOrder,     ///< a power cut may undo the latest writes, whole and newest first
};

struct LevelDbOptions {
    Durability durability = Durability::kEveryWrite;
    std::string name = "index";  ///< the prefix of every error
};

/// LevelDB in `directory`, with paranoid_checks and verify_checksums; never repaired.
std::unique_ptr<KeyValueProvider> leveldb_provider(const std::string& directory,
                                                   const LevelDbOptions& options = {});

}  // namespace assay::ledger
