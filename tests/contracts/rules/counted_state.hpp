// SPDX-License-Identifier: Apache-2.0
// Gives tests a state that counts how often it is asked.
#pragma once

#include "contracts/rules/state/state.hpp"

namespace assay::contracts::test {

/// Counts lookups and walks, also of what is not there: each is a call where the state is a node's.
class CountedState final : public StateView {
public:
    explicit CountedState(const StateView& state) : state_(state) {}
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override {
        ++reads;
        return state_.get(key);
    }
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override {
        ++reads;
        state_.for_each(prefix, from, [&](ByteView key, ByteView value) {
            ++visited;
            return visit(key, value);
        });
    }
    mutable std::uint64_t reads = 0;
    mutable std::uint64_t visited = 0;  ///< pairs that walks came to

private:
    const StateView& state_;
};

}  // namespace assay::contracts::test
