// SPDX-License-Identifier: Apache-2.0
// A settled round whose claims are open, for tests of games about them.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contracts/dispute/commitments.hpp"
#include "contracts/program/program.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

using dispute::StepEnd;
using dispute::UnitKind;
using dispute::WayStage;

constexpr std::uint64_t kDisputeWindow = 40;

/// A base whose first parameter is no number, and a last boundary of zeros, with all their trees.
class BrokenBase final : public dispute::StepMemory {
public:
    explicit BrokenBase(std::vector<program::TensorInfo> tensors) : tensors_(std::move(tensors)) {}
    [[nodiscard]] program::StateRoots roots(std::uint32_t state) {
        program::StateRoots roots;
        roots.parameters = above({.from = dispute::Source::From::kState, .state = state}).root();
        return roots;
    }
    [[nodiscard]] const dispute::StepFacts* facts() const override { return nullptr; }
    void tile(const dispute::Source& source, std::uint64_t number, dispute::Tile& out) override {
        out.fill(0);
        const bool broken = source.state == 0 && source.number == 0 && number == 0;
        if (broken) out[0] = std::numeric_limits<float>::quiet_NaN();
    }
    void wholes(const dispute::Source&, std::uint64_t, dispute::Cells&) override {}
    const dispute::StoredTree& tiles(const dispute::Source& source) override {
        const program::TensorInfo& tensor = tensors_[source.number];
        std::vector<float> values(tensor.rows * tensor.cols, 0.0F);
        if (source.state == 0 && source.number == 0) values[0] = std::numeric_limits<float>::quiet_NaN();
        return tiles_ = dispute::tile_tree(tensor.rows, tensor.cols, values);
    }
    const dispute::StoredTree& above(const dispute::Source& source) override {
        std::vector<Hash256> leaves;
        for (std::uint32_t i = 0; i < tensors_.size(); ++i) {
            dispute::Source one = source;
            one.number = i;
            leaves.push_back(program::tensor_leaf(tensors_[i], tiles(one).root()));
        }
        return above_ = dispute::StoredTree(std::move(leaves));
    }
    const dispute::StoredTree& components(std::uint32_t state) override {
        const auto leaves = program::component_leaves(roots(state));
        return components_ = dispute::StoredTree({leaves.begin(), leaves.end()});
    }
    void piece(std::uint64_t, base::Bytes&, std::vector<Hash256>&) override {}

private:
    std::vector<program::TensorInfo> tensors_;
    dispute::StoredTree tiles_, above_, components_;
};

/// Two miners and three verifiers, one settled round whose claims are open, and somebody who was not drawn.
struct DisputeWorld {
    Env env;
    Hash256 job;
    program::StateRoots end;  ///< of every slot's last boundary
    std::unique_ptr<BrokenBase> broken;

    static Params params() {
        Params params = short_windows();
        params.claim_window = kDisputeWindow;
        params.dispute_move_window = 6;
        return params;
    }
    /// Nobody is missed in the round that follows while a game goes on.
    static Params unhurried() {
        Params unhurried = params();
        unhurried.commit_window = 40;
        return unhurried;
    }
    explicit DisputeWorld(bool has_broken_base = false, VerifierManner manner = VerifierManner::kColludes,
                          const Params& terms = params())
        : env(terms) {
        Play play;
        // They say what the miners say, whose last states are not those of true_trace().
        for (const char* name : {"v1", "v2", "v3"}) play.verifiers[name] = manner;
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const char* verifier : {"v1", "v2", "v3"}) env.verifier(verifier);
        for (const char* other : {"v4", "m5"}) env.verifier(other);
        JobSpec spec = small_job();
        spec.inner_state = program::InnerState::kCarried;
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        broken = std::make_unique<BrokenBase>(program.parameters);
        if (has_broken_base) {
            spec.initial_root = remember_base(broken->roots(0));
            end = broken->roots(1);
        } else {
            end.parameters = bytes_of("parameters");
            end.first_moment = bytes_of("first moment");
            end.second_moment = bytes_of("second moment");
        }
        end.moment_age = spec.train.inner_steps;
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        for (std::uint32_t slot = 0; slot < 2; ++slot) play.traces[slot] = trace(slot);
        play_round(env, job, play);
        REQUIRE(read_round(env.state(), job, 0)->phase == RoundPhase::kSettled);
    }
    /// A trace whose last state is `end`, and what it hands on that state's moments.
    TraceRecord trace(std::uint32_t slot) {
        const Job record = env.job(job);
        TraceRecord trace = true_trace(record, 0, slot);
        trace.boundaries.back() = program::state_root(end);
        trace.carried->out =
            remember_carried({end.first_moment, end.second_moment, record.spec.train.inner_steps});
        return trace;
    }
    ClaimId claim(std::uint32_t slot) { return {job, 0, ClaimKind::kSlot, slot}; }
    std::string miner_of(std::uint32_t slot) {
        return env.by_node(read_slot(env.whole(), job, 0, slot)->miner).name;
    }
    DisputeOpen challenge(std::uint32_t slot, UnitKind unit = UnitKind::kSegment, std::uint32_t part = 0) {
        return {job, 0, ClaimKind::kSlot, slot, unit, part};
    }
    std::uint32_t open(const std::string& who, std::uint32_t slot, UnitKind unit = UnitKind::kSegment) {
        env.send(env.person(who), challenge(slot, unit));
        return static_cast<std::uint32_t>(list_games(env.state(), job).size() - 1);
    }
    /// How many verifiers were drawn for slot 0.
    std::size_t panel() { return read_slot(env.whole(), job, 0, 0)->verifiers.size(); }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    Amount cost() {
        const Job record = env.job(job);
        return replay_cost(record, record.auction.clearing_price).value();
    }
    /// Of the first challenge of a claim.
    Amount bond() { return std::max(cost(), env.params().verifier_penalty); }
    void let_clock_run_out(std::uint32_t number) { env.advance_to(game(number).due); }
    base::Bytes true_witness() { return dispute::carried_witness(end); }
    /// What is posted next, of nothing that anybody computed.
    void post(const std::string& who, std::uint32_t number) {
        const Game running = game(number);
        std::vector<Hash256> hashes;
        for (std::uint64_t i = 0; i < dispute::wanted_hashes(running.way); ++i)
            hashes.push_back(bytes_of(std::to_string(i)));
        if (running.way.stage == WayStage::kStates) hashes.back() = running.way.end;
        env.send(env.person(who), DisputePost{job, number, hashes});
    }
    void pick(const std::string& who, std::uint32_t number, std::uint64_t index) {
        env.send(env.person(who), DisputePick{job, number, {.index = index, .end = std::nullopt}});
    }
};

}  // namespace assay::contracts::test
