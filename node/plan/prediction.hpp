// SPDX-License-Identifier: Apache-2.0
// Gives buyers JobPrediction, the prediction for a job when it was bought. It is kept with the job, so that
// everybody can see how far off it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/plan/interval.hpp"

namespace assay::node {

/// The prediction for a job's first rounds.
struct RoundPrediction {
    std::uint32_t rounds = 0;  ///< merged
    double tokens = 0;
    Interval80 spend;                   ///< base units from escrow
    std::optional<Interval80> heights;  ///< from the submission on; nothing when no speed was known
    Interval80 loss;                    ///< held out

    template <class Visit>
    void fields(Visit& visit) const {
        visit("rounds", rounds);
        visit("tokens", tokens);
        visit("spend", spend);
        visit("heights", heights);
        visit("loss", loss);
    }
};

struct JobPrediction {
    bool prior_only = true;               ///< the loss is from published constants, not from a pilot
    std::uint64_t pilot_points = 0;       ///< of pilots
    std::uint64_t ledger_prices = 0;      ///< clearing prices behind `spend`; 0: the job's cap
    std::uint64_t speeds = 0;             ///< verified speeds behind `heights`
    std::vector<RoundPrediction> rounds;  ///< ascending; the last one is the whole job

    template <class Visit>
    void fields(Visit& visit) const {
        visit("prior_only", prior_only);
        visit("pilot_points", pilot_points);
        visit("ledger_prices", ledger_prices);
        visit("speeds", speeds);
        visit("rounds", rounds);
    }

    /// The prediction for the most rounds that are at most `rounds_done`; null: there is none.
    [[nodiscard]] const RoundPrediction* up_to(std::uint32_t rounds_done) const;
};

/// An actual number, compared with its prediction.
struct ForetoldNumber {
    Interval80 predicted;
    double actual = 0;
    bool within = false;  ///< whether it lies in the interval
    double off = 0;       ///< actual over the predicted median, less 1

    template <class Visit>
    void fields(Visit& visit) const {
        visit("predicted", predicted);
        visit("actual", actual);
        visit("within", within);
        visit("off", off);
    }
};
ForetoldNumber compare(const Interval80& predicted, double actual);

}  // namespace assay::node
