// SPDX-License-Identifier: Apache-2.0
// Checks who judged, for the audit of payments: computes line by line what every enlisted verifier still had
// locked, and with that as weights repeats every draw of a round.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

/// What is left of the stake that a job's verifiers locked, updated while its settlement lines are read in
/// order.
class LockedStake {
public:
    explicit LockedStake(const contracts::Job& job);

    [[nodiscard]] std::uint64_t left(const contracts::PublicKey& verifier) const;
    /// What a penalty takes: at most what is left. Zero for a verifier that is not enlisted.
    std::uint64_t take(const contracts::PublicKey& verifier, std::uint64_t penalty);

private:
    std::map<contracts::PublicKey, std::uint64_t> left_;
};

// These functions return sentences that begin with the name of the rule; none when all is right.

/// Checks that every verifier locked at least what the job asks.
std::vector<std::string> audit_enlistments(const contracts::Job& job, const contracts::Params& params);

/// Checks the round's judges against `locked` at the beginning of the round. Nobody may be missing that was
/// neither dropped nor revoked at any time.
std::vector<std::string> audit_judges(const contracts::StateView& state, const contracts::Job& job,
                                      const contracts::Round& round, const LockedStake& locked);

/// Which verifiers of a slot had to be drawn after its panel, if anybody was left to be drawn.
struct LaterDraws {
    bool confirmer = false;  ///< all who sealed stated that opened starts were not served
    bool another = false;    ///< nobody opened one of the drawn units
};
/// Checks the drawn verifiers of a slot. REQUIRES a committed slot of a round whose beacon is drawn.
std::vector<std::string> audit_drawn_judges(const contracts::Job& job, const contracts::Round& round,
                                            const contracts::SlotRound& slot, const LaterDraws& due);

}  // namespace assay::ledger
