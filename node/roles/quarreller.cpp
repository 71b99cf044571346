// SPDX-License-Identifier: Apache-2.0
#include "node/roles/quarreller.hpp"

#include "contracts/rules/tables.hpp"

namespace assay::node {

namespace {

/// Names a move for log and sender; one of a game and turn, or of a claim and part, is one move.
struct MoveName {
    std::string operator()(const contracts::DisputeOpen& open) const {
        return "challenge of segment " + std::to_string(open.part) + " of slot " +
               std::to_string(open.number) + " of round " + std::to_string(open.round);
    }
    std::string operator()(const contracts::DisputePost& post) const {
        return of_game(post.game) + ": " + std::to_string(post.hashes.size()) + " hashes of nothing";
    }
    std::string operator()(const contracts::DisputePick& pick) const {
        return of_game(pick.game) + ": number " + std::to_string(pick.pick.index) + ", at random";
    }
    std::string operator()(const contracts::DisputeProve& prove) const {
        return of_game(prove.game) + ": a witness of nothing in " + std::to_string(prove.witness.size()) +
               " bytes";
    }
    std::string operator()(const contracts::DisputeConcede& concede) const {
        return of_game(concede.game) + ": conceded";
    }
    std::string operator()(const contracts::DisputeCall& call) const {
        return of_game(call.game) + ": call of " + call.verifier.brief();
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return "another move";
    }

    static std::string of_game(std::uint32_t number) { return "move in dispute " + std::to_string(number); }
};

}  // namespace

QuarrelPlan quarrel_plan(const Misconducts& conducts) {
    if (conducts(Misconduct::kGriefingChallenger))
        return {.quarrel = Quarrel::kGriefs, .challenges_each = 1, .to_the_end = true};
    if (conducts(Misconduct::kDisputeDelay)) return {.quarrel = Quarrel::kGriefs, .challenges_each = 4};
    if (conducts(Misconduct::kThrownDispute))
        return {.quarrel = Quarrel::kThrows, .challenges_each = 1, .to_the_end = true};
    if (conducts(Misconduct::kStakeExhaustion)) return {.quarrel = Quarrel::kStalls, .challenges_each = 3};
    if (conducts(Misconduct::kThrownClaim)) return {.quarrel = Quarrel::kConcedes};
    if (conducts(Misconduct::kCraftedWitness)) return {.quarrel = Quarrel::kCrafts};
    return {};
}

Quarreller::Quarreller(const Misconducts& conducts, const base::PublicKey& me,
                       std::optional<base::PublicKey> accomplice, Log& log, Offer offer)
    : plan_(quarrel_plan(conducts)),
      has_one_victim_(conducts(Misconduct::kDisputeDelay)),
      me_(me),
      accomplice_(accomplice),
      log_(log),
      offer_(std::move(offer)) {}

std::set<base::PublicKey> Quarreller::targets(const contracts::Job& job) const {
    if (plan_.quarrel != Quarrel::kGriefs)
        return accomplice_ ? std::set{*accomplice_} : std::set<base::PublicKey>();
    std::set<base::PublicKey> found;
    for (const auto& entry : job.roster) {
        if (entry.node == accomplice_) continue;
        found.insert(entry.node);
        if (has_one_victim_) break;
    }
    return found;
}

void Quarreller::follow(const contracts::StateView& state, std::uint64_t height) {
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job) continue;
        auto move = next_quarrel(state, id, height, me_, plan_, targets(*job));
        if (!move) continue;
        const std::string name = "drill, job " + id.brief() + ", " + std::visit(MoveName(), *move);
        if (said_.insert(name).second) log_.info(name);
        offer_(name, std::move(*move));
    }
}

}  // namespace assay::node
