// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/index.hpp"

#include "contracts/base/codec.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::uint8_t kHeadTable = 'm';
constexpr std::uint8_t kStateTable = 's';
constexpr std::uint8_t kResultsTable = 'r';
constexpr std::uint8_t kPlaceTable = 't';
constexpr std::uint8_t kHistoryTable = 'h';

Bytes table_key(std::uint8_t table, ByteView rest = {}) {
    Bytes key{table};
    key.insert(key.end(), rest.begin(), rest.end());
    return key;
}

Bytes results_key(std::uint64_t height) {
    Bytes key{kResultsTable};
    for (unsigned shift = 64; shift > 0; shift -= 8)
        key.push_back(static_cast<std::uint8_t>(height >> (shift - 8U)));
    return key;
}

template <class T>
Outcome<std::optional<T>> read(const KeyValueStore& store, const Bytes& key, const char* name) {
    ASSAY_ASSIGN(const std::optional<Bytes> bytes, store.get(key));
    if (!bytes) return std::optional<T>{};
    auto value = base::decode<T>(*bytes);
    if (!value) {
        return fail(ErrorKind::kVerification, std::string("index: ") + name + " is damaged: " +
                                                  std::string(base::to_text(value.error())));
    }
    return std::optional<T>(std::move(value).value());
}

}  // namespace

Outcome<std::optional<IndexHead>> Index::head() const {
    return read<IndexHead>(*store_, table_key(kHeadTable), "the head record");
}

Outcome<bool> Index::empty() const {
    bool found = false;
    ASSAY_TRY(store_->scan({}, [&](ByteView, ByteView) { found = true; }));
    return !found;
}

Outcome<void> Index::load_state(contracts::MemoryState& state) const {
    const Bytes prefix = table_key(kStateTable);
    return store_->scan(
        prefix, [&](ByteView key, ByteView value) { state.put(key.subspan(1), base::to_bytes(value)); });
}

Outcome<std::optional<BlockResults>> Index::results(std::uint64_t height) const {
    return read<BlockResults>(*store_, results_key(height), "a block's results");
}

Outcome<std::optional<TransactionPlace>> Index::find(const Hash256& transaction) const {
    return read<TransactionPlace>(*store_, table_key(kPlaceTable, transaction.view()),
                                  "a transaction's place");
}

Outcome<std::optional<Bytes>> Index::history(ByteView key) const {
    return store_->get(table_key(kHistoryTable, key));
}

Outcome<void> Index::commit(const IndexHead& head, const BlockResults* results,
                            const std::map<Bytes, std::optional<Bytes>>& changes,
                            const contracts::History& history) {
    Batch batch;
    for (const auto& [key, value] : changes) batch.emplace(table_key(kStateTable, key), value);
    for (const auto& [key, row] : history) batch.emplace(table_key(kHistoryTable, key), row);
    if (results != nullptr) {
        batch.emplace(results_key(results->height), base::encode(*results));
        for (std::size_t i = 0; i < results->transactions.size(); ++i) {
            const TransactionResult& result = results->transactions[i];
            const TransactionPlace place{results->height, static_cast<std::uint32_t>(i), result.code,
                                         result.reason};
            batch.emplace(table_key(kPlaceTable, result.id.view()), base::encode(place));
        }
    }
    batch.emplace(table_key(kHeadTable), base::encode(head));
    return store_->write(batch);
}

}  // namespace assay::ledger
