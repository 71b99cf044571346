// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of who judged: what every enlisted verifier still had locked, line
// by line, and with that as weights every draw of a round a second time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::ledger {

/// What is left of the stake that a job's verifiers locked, while its settlement lines are read in order.
class LockedStake {
public:
    explicit LockedStake(const contracts::Job& job);

    [[nodiscard]] std::uint64_t left(const contracts::PublicKey& verifier) const;
    /// What a penalty takes: as much as is left. Zero for one that is not enlisted.
    std::uint64_t take(const contracts::PublicKey& verifier, std::uint64_t penalty);

private:
    std::map<contracts::PublicKey, std::uint64_t> left_;
};

// Sentences that begin with the name of the rule; nothing when all is right.

/// Whether every verifier locked what the job asks at least.
std::vector<std::string> audit_enlistments(const contracts::Job& job, const contracts::Params& params);

/// The round's judges against `locked`, which is as the round began; nobody is left out that was neither
/// dropped nor revoked at any time.
std::vector<std::string> audit_judges(const contracts::StateView& state, const contracts::Job& job,
                                      const contracts::Round& round, const LockedStake& locked);

/// Which verifiers of a slot were due behind its panel, if anybody is left to be drawn.
struct LaterDraws {
    bool confirmer = false;  ///< all who sealed said that open starts were not served
    bool another = false;    ///< nobody opened one of the drawn units
};
/// The drawn verifiers of a slot, of a committed slot of a round whose beacon is drawn.
std::vector<std::string> audit_drawn_judges(const contracts::Job& job, const contracts::Round& round,
                                            const contracts::SlotRound& slot, const LaterDraws& due);

}  // namespace assay::ledger
