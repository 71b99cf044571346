// SPDX-License-Identifier: Apache-2.0
// The ledger's state as the rules see it: an ordered map from byte keys to byte values. The ledger implements
// it; every key and value layout is in contracts/rules/tables.hpp.
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

/// Called with one pair; returns false to end the walk.
using Visitor = std::function<bool(ByteView key, ByteView value)>;

/// Read-only: what a check may see.
class StateView {
public:
    virtual ~StateView() = default;
    [[nodiscard]] virtual std::optional<Bytes> get(ByteView key) const = 0;
    /// Visits the pairs whose key begins with `prefix` and is not below `from`, keys ascending (unsigned
    /// bytes), until `visit` returns false. It seeks: pairs that it does not visit cost nothing. REQUIRES
    /// that the state does not change during the walk.
    virtual void for_each(ByteView prefix, ByteView from, const Visitor& visit) const = 0;
    /// All pairs whose key begins with `prefix`, ascending. Use it only if all of them are needed.
    [[nodiscard]] std::vector<std::pair<Bytes, Bytes>> scan(ByteView prefix) const;
};

/// What an application may change.
class State : public StateView {
public:
    virtual void put(ByteView key, Bytes value) = 0;
    virtual void erase(ByteView key) = 0;
    /// Hands over a row of the history: records that leave the state, which then names them only by their
    /// hash (contracts/rules/job/history.hpp). A row is no record of the state: no read finds it, and no root
    /// covers it. The program that executes the rules keeps it.
    virtual void hand_over(ByteView key, Bytes row) = 0;
};

/// Rows of the history by their keys, ascending.
using History = std::map<Bytes, Bytes>;

/// Buffers writes over another state: dropping the overlay drops a transaction that failed. `under` must
/// outlive it.
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
    /// Key -> new value, or nothing if the key is erased; ascending.
    [[nodiscard]] const std::map<Bytes, std::optional<Bytes>>& changes() const { return changes_; }
    /// The rows that were handed over to the overlay.
    [[nodiscard]] const History& history() const { return history_; }
    void write_to(State& target) const;

private:
    const StateView& under_;
    std::map<Bytes, std::optional<Bytes>> changes_;
    History history_;
};

/// A state in memory, for tests, simulation, and the ledger's working set.
class MemoryState final : public State {
public:
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override;
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override;
    void put(ByteView key, Bytes value) override;
    void erase(ByteView key) override;
    void hand_over(ByteView key, Bytes row) override;
    [[nodiscard]] const std::map<Bytes, Bytes>& all() const { return values_; }
    /// The rows that were handed over and not yet taken.
    [[nodiscard]] const History& history() const { return history_; }
    /// Moves the rows out, for a caller that keeps them elsewhere.
    History take_history();

private:
    std::map<Bytes, Bytes> values_;
    History history_;
};

}  // namespace assay::contracts
