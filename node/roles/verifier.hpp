// SPDX-License-Identifier: Apache-2.0
// Verifier: enlists for jobs, opens its beacon links, recomputes the units it is drawn for and posts the
// roots it computed, and computes merges.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/roles/following_role.hpp"
#include "node/roles/job_bench.hpp"

namespace assay::node {

struct VerifierOptions {
    base::Amount stake;  ///< deposited once, when nothing is staked yet
};

/// A fault found, with the sentence that names it. Kept as JSON beside the role's state, for people: the
/// ledger decides by roots alone.
struct Finding {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
    base::PublicKey miner;
    std::string difference;
};

/// A verifier's sealed words, on disk before the seal is sent: without them it could not open it.
struct SealedAudit {
    std::vector<contracts::UnitClaim> claims;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.claims, self.salt);
    }
};
struct SealedMerge {
    contracts::MergeClaim claim;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.claim, self.salt);
    }
};

class Verifier final : public FollowingRole {
public:
    Verifier(const RoleParts& parts, VerifierOptions options);

private:
    /// One audit (a stage of a round) under way.
    struct Audit {
        base::Hash256 job;
        std::uint32_t round = 0;
        contracts::Stage stage = contracts::Stage::kPair;
        std::vector<contracts::AssignedUnit> units;
        std::vector<contracts::UnitClaim> claims;  ///< of the first units, in order
        /// Recomputed end of the last unit, when it matched: the next unit's start, without a transfer.
        std::optional<SharedDescriptor> end_state;
    };
    struct MergeWork {
        base::Hash256 job;
        std::uint32_t round = 0;
        std::optional<contracts::MergeClaim> claim;
        std::optional<SharedDescriptor> base;  ///< merged, not yet evaluated
        base::Hash256 root;
    };

    void plan() override;
    bool registered();
    void plan_bidding(const contracts::Job& job);
    void plan_round(const contracts::Job& job);

    void plan_audit(const contracts::Job& job, contracts::Stage stage);
    void audit_next(const contracts::Job& job, const SharedDescriptor& base);
    void replay(const contracts::Job& job, const contracts::AssignedUnit& unit, const SharedDescriptor& base,
                const contracts::Reveal& reveal, std::optional<SharedDescriptor> claimed_end);
    void on_replayed(const WorkerAnswered& answer, const contracts::AssignedUnit& unit);
    void claim(const contracts::AssignedUnit& unit, const base::Hash256& root, bool unavailable);
    void open_audit(const contracts::Job& job, contracts::Stage stage);
    void record_finding(const Finding& finding);

    void plan_merge(const contracts::Job& job, const contracts::Round& round, contracts::Stage stage);
    void merge_next(const contracts::Job& job, const SharedDescriptor& base);
    void evaluate(const contracts::Job& job);
    void open_merge(const contracts::Job& job, contracts::Stage stage);

    template <class Record>
    std::optional<Record> kept(const std::string& file);
    template <class Record>
    bool keep(const std::string& file, const Record& record);

    VerifierOptions options_;
    JobBench bench_;
    std::optional<Audit> audit_;
    std::optional<MergeWork> merge_;
    bool computing_ = false;  ///< a request of ours is at work in the worker
    std::uint64_t findings_ = 0;
};

/// Mean of the last completed step's loss over the merged slots, ascending, in binary32; 0 without slots.
std::uint32_t mean_train_loss(const contracts::StateView& state, const base::Hash256& job,
                              std::uint32_t round, const std::vector<std::uint32_t>& slots);

}  // namespace assay::node
