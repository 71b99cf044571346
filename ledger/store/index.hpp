// SPDX-License-Identifier: Apache-2.0
// Index answers what can be asked without executing the log again, for applications. Its tables are in one
// key-value store (keys: one byte, then the field; heights big-endian so that they sort):
//   'm'               -> IndexHead (schema version, genesis, height, header hash, state root,
//                          header time)
//   's' ‖ key         -> value                     state after block `height`
//   'r' ‖ height u64  -> encode(BlockResults)
//   't' ‖ tx id       -> encode(TransactionPlace)
//   'h' ‖ key         -> row of the history: records that left the state (contracts/rules/job/history.hpp)
// Schema 2: the head has the header time, which schema 1 did not have. An index of another version is
// rebuilt, not migrated.
#pragma once

#include <memory>
#include <optional>

#include "contracts/rules/state/state.hpp"
#include "ledger/store/block.hpp"
#include "ledger/store/key_value_store.hpp"

namespace assay::ledger {

inline constexpr std::uint32_t kIndexSchema = 2;

struct IndexHead {
    std::uint32_t schema = kIndexSchema;
    Hash256 genesis;
    std::uint64_t height = 0;
    Hash256 header;
    Hash256 state_root;
    std::uint64_t time_ms = 0;  ///< of the header; 0 at height 0
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.schema, self.genesis, self.height, self.header, self.state_root, self.time_ms);
    }
};

struct TransactionPlace {
    std::uint64_t height = 0;
    std::uint32_t index = 0;
    std::uint16_t code = 0;
    std::string reason;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.height, self.index, self.code, self.reason);
    }
};

class Index {
public:
    explicit Index(std::unique_ptr<KeyValueStore> store) : store_(std::move(store)) {}

    /// Nothing when the store is new, or its head is lost.
    Outcome<std::optional<IndexHead>> head() const;
    /// Whether nothing at all is stored. Visits every record.
    Outcome<bool> empty() const;
    /// Adds every pair of the stored state to `state`.
    Outcome<void> load_state(contracts::MemoryState& state) const;
    Outcome<std::optional<BlockResults>> results(std::uint64_t height) const;
    Outcome<std::optional<TransactionPlace>> find(const Hash256& transaction) const;

    /// A row of the history, as it was handed over. The reader must check it against the hash that the state
    /// keeps; this function does not.
    Outcome<std::optional<Bytes>> history(ByteView key) const;

    /// Writes in one durable step: the state changes, what left the state, the results and the new head.
    /// `results` is null for genesis.
    Outcome<void> commit(const IndexHead& head, const BlockResults* results,
                         const std::map<Bytes, std::optional<Bytes>>& changes,
                         const contracts::History& history);

private:
    std::unique_ptr<KeyValueStore> store_;
};

}  // namespace assay::ledger
