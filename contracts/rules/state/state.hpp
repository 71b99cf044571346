// SPDX-License-Identifier: Apache-2.0
// Gives the rules what they see of the ledger's state: an ordered map from byte keys to byte values. The
// ledger implements it; every key and value layout is in contracts/rules/tables.hpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/base/bytes.hpp"

namespace assay::contracts {

using base::Bytes;
using base::ByteView;

/// Sees one pair; returns false to end the walk.
using Visitor = std::function<bool(ByteView key, ByteView value)>;

/// Read-only: what a check may see.
class StateView {
public:
    virtual ~StateView() = default;
    [[nodiscard]] virtual std::optional<Bytes> get(ByteView key) const = 0;
    /// Visits the pairs whose key begins with `prefix` and is not below `from`, keys ascending (unsigned
    /// bytes), until `visit` returns false. It seeks: pairs that it does not visit cost nothing. REQUIRES
    /// that the state does not change meanwhile.
    virtual void for_each(ByteView prefix, ByteView from, const Visitor& visit) const = 0;
    /// All pairs whose key begins with `prefix`, ascending. Only where all of them are needed.
    [[nodiscard]] std::vector<std::pair<Bytes, Bytes>> scan(ByteView prefix) const;
};

/// What an application may change.
class State : public StateView {
public:
    virtual void put(ByteView key, Bytes value) = 0;
    virtual void erase(ByteView key) = 0;
    /// Hands over a row of the history: records that the state holds no more, and names by their hash
    /// (contracts/rules/job/history.hpp). It is no record: no read finds it, and no root covers it. Whoever
    /// executes the rules keeps it.
    virtual void hand_over(ByteView key, Bytes row) = 0;
};

/// Rows of the history by their keys, ascending.
using History = std::map<Bytes, Bytes>;

/// Buffered writes over another state: a transaction that fails is dropped with its overlay.
class Overlay final : public State {
public:
    explicit Overlay(const StateView& under) : under_(under) {}
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override;
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override;
    void put(ByteView key, Bytes value) override;
    void erase(ByteView key) override;
    void hand_over(ByteView key, Bytes row) override;

    /// The state as it was before the changes.
    [[nodiscard]] const StateView& under() const { return under_; }
    /// Key -> new value, or nothing where the key is erased; ascending.
    [[nodiscard]] const std::map<Bytes, std::optional<Bytes>>& changes() const { return changes_; }
    /// What was handed over since.
    [[nodiscard]] const History& history() const { return history_; }
    void write_to(State& target) const;

private:
    const StateView& under_;
    std::map<Bytes, std::optional<Bytes>> changes_;
    History history_;
};

/// All in memory: tests, simulation, and the ledger's working set.
class MemoryState final : public State {
public:
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override;
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override;
    void put(ByteView key, Bytes value) override;
    void erase(ByteView key) override;
    void hand_over(ByteView key, Bytes row) override;
    [[nodiscard]] const std::map<Bytes, Bytes>& all() const { return values_; }
    /// What was handed over and not taken yet.
    [[nodiscard]] const History& history() const { return history_; }
    /// For whoever keeps it elsewhere: nothing is left here.
    History take_history();

private:
    std::map<Bytes, Bytes> values_;
    History history_;
};

}  // namespace assay::contracts
