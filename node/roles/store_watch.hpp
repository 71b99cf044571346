// SPDX-License-Identifier: Apache-2.0
// Gives roles StoreWatch, which warns when the blob store fills up, before it refuses what a role has to
// keep.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace assay::node {

class StoreWatch {
public:
    /// Returns a warning when `percent` (BlobFiles::percent_full) reaches a step. Each step warns once, and
    /// again only after the store has been clearly below the first step.
    std::optional<std::string> look(unsigned percent) {
        constexpr std::array<unsigned, 2> kSteps = {80, 95};
        constexpr unsigned kClear = 70;
        if (percent < kClear) said_ = 0;
        unsigned reached = 0;
        for (const unsigned step : kSteps) reached = percent >= step ? step : reached;
        if (reached <= said_) return std::nullopt;
        said_ = reached;
        return "the blob store is " + std::to_string(percent) +
               " % full of what has to stay: nothing that is not stored is committed or vouched for; "
               "free some disk space, or move the home to a larger disk";
    }

private:
    unsigned said_ = 0;  ///< the last step that was warned about
};

}  // namespace assay::node
