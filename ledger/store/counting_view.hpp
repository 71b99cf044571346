// SPDX-License-Identifier: Apache-2.0
// A view of a state that counts reads, for tests and measurements.
#pragma once

#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

class CountingView final : public contracts::StateView {
public:
    explicit CountingView(const contracts::StateView& under) : under_(under) {}

    [[nodiscard]] std::optional<base::Bytes> get(base::ByteView key) const override {
        ++reads_;
        return under_.get(key);
    }
    void for_each(base::ByteView prefix, base::ByteView from,
                  const contracts::Visitor& visit) const override {
        under_.for_each(prefix, from, [&](base::ByteView key, base::ByteView value) {
            ++reads_;
            return visit(key, value);
        });
    }

    /// Records looked up (found or not) and records visited by walks.
    [[nodiscard]] std::uint64_t reads() const { return reads_; }

private:
    const contracts::StateView& under_;
    mutable std::uint64_t reads_ = 0;
};

}  // namespace assay::ledger
