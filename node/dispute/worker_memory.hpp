// SPDX-License-Identifier: Apache-2.0
// Gives players of games WorkerMemory, the player's own computation of the disputed unit, made by its worker.
// A worker answers later, so unknown values are given as zeros, and lacking() says what to ask. The player
// asks, passes the answer to take() and computes its move again, until nothing is lacking. After a restart
// all of it is asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contracts/dispute/player.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/worker/frames.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::node {

/// A whole state that the player's worker computed, and from which later questions are answered.
enum class OwnState : std::uint8_t { kStart, kBeforeStep };

/// The start of a drawn run as its miner opened it: a state of the slot, and the unit that goes on from it.
struct ServedState {
    std::uint32_t unit = 0;                       ///< RoundPlan's number; above 0
    base::Hash256 root;                           ///< as the ledger has it
    std::vector<worker::SharedDescriptor> files;  ///< the head, and the arrays that `unit` reads
};

/// What a player computes from.
struct PlayerFiles {
    using File = worker::SharedDescriptor;
    File base;                        ///< the state from which the claim's round starts
    base::Hash256 carried_root = {};  ///< of the state that the slot goes on with; zero: nothing
    std::vector<File> carried = {};   ///< that state's head and arrays
    /// False: the slot is not run from `base`, because a start was served. `carried` is not needed then, and
    /// `base` only for an update.
    bool can_run = true;
    /// A start at or before the disputed unit, if one was served. A claim may be right of a unit whose start
    /// is false: the unit is then reached from here, and not from the base.
    std::optional<ServedState> served = std::nullopt;
    std::vector<worker::Drill> drills = {};  ///< drills that the player planted in this round (devnets)
    std::vector<std::uint32_t> slots = {};   ///< for a merge or a clip: its slots, ascending
    std::vector<File> updates = {};          ///< the update of each of them
    /// Moves a state out of memory, where a worker's answers are, and returns its files. Null: it stays
    /// there.
    std::function<std::vector<File>(OwnState, const std::vector<File>&)> keep = nullptr;
};

/// A request that a player has to send to its worker, which has the job open.
struct WorkerAsk {
    base::Bytes key;  ///< what it is about; for WorkerMemory
    worker::Message request;
    std::vector<worker::SharedDescriptor> bulk;
};

class WorkerMemory final : public dispute::UnitMemory {
public:
    /// `facts` must outlive it.
    WorkerMemory(dispute::UnitFacts& facts, PlayerFiles files);

    // These return zeros for what is lacking.
    base::Hash256 state(std::uint32_t step) override;
    std::vector<base::Hash256> row(const dispute::Way& way) override;
    std::vector<base::Hash256> arrays() override;
    std::optional<program::Fingerprint> fingerprint(std::uint32_t step) override;
    std::optional<dispute::NotFinitePlace> ends_at(const dispute::Way& way) override;
    base::Bytes witness(const dispute::Way& way) override;

    /// Call it before a move is computed; clears lacking().
    void begin() { lacking_.reset(); }
    /// The first value that was needed since begin() and is not here.
    [[nodiscard]] const std::optional<WorkerAsk>& lacking() const { return lacking_; }

    /// Whether the player's own computation leads to the state that the claim starts from: from the served
    /// start or, where that leads elsewhere or cannot be read, from the round's base. Also false while this
    /// is not known yet (lacking()).
    bool starts_as_claimed();

    /// Whether nothing leads to the unit but a run of the slot from the round's base, for which it was not
    /// given the files (PlayerFiles::can_run). What it says means nothing from then on.
    [[nodiscard]] bool lacks_run() const { return lacks_run_; }

    /// Takes a frame of the answer to `ask`, the last one or an earlier one. True: the rest is not needed,
    /// and the request may be cancelled.
    bool take(const WorkerAsk& ask, const worker::Message& message,
              const std::vector<worker::SharedDescriptor>& bulk);

private:
    using Files = std::vector<worker::SharedDescriptor>;

    [[nodiscard]] const dispute::UnitClaim& claim() const { return facts_.claim(); }
    [[nodiscard]] std::uint32_t round() const { return static_cast<std::uint32_t>(claim().round); }
    /// The boundary at which the unit starts; nothing when it does not start from a slot state.
    [[nodiscard]] std::optional<std::uint32_t> boundary() const;
    [[nodiscard]] const base::Hash256& claimed_start() const;
    [[nodiscard]] program::StepRange steps() const;

    void lack(base::Bytes key, worker::Message request, Files bulk);
    /// True once the unit's start is here.
    bool has_start();
    void ask_run();
    /// Recomputes the segment of this number from start_.
    void ask_replay(base::Bytes key, std::uint32_t segment, bool want_end_state);
    bool take_run(const worker::Message& message, const Files& bulk);
    void begin_served();
    void take_served(const worker::Replayed& replayed, const Files& bulk);
    /// Starts again, from the round's base.
    void forget_served();
    void take_before(const Files& bulk);
    [[nodiscard]] Files kept(OwnState which, const Files& bulk) const;

    const dispute::DisputeAnswer* ask(dispute::Question question);
    const dispute::DisputeAnswer* ask(dispute::ArrayQuestion question);
    [[nodiscard]] worker::Descend about(const dispute::Question& question, Files& bulk) const;
    /// All leaves of a tree, asked row by row of at most a move's hashes.
    template <class Question>
    std::optional<std::vector<base::Hash256>> leaves(Question question, std::uint64_t count);
    std::optional<std::vector<base::Hash256>> tensors(dispute::ArraySubject subject);
    /// Notes where the answer says that the unit ends.
    void take_end(const WorkerAsk& ask, const dispute::DisputeAnswer& answer);
    [[nodiscard]] dispute::ArraySubject subject(const dispute::Way& way) const;
    /// The state after a step as its outputs make it: the trees of its arrays over their tensors.
    std::optional<std::vector<dispute::StoredTree>> end_arrays(const dispute::Way& way);
    [[nodiscard]] std::vector<base::Hash256> end_components(
        const dispute::Way& way, const std::vector<dispute::StoredTree>& arrays) const;
    std::optional<std::vector<base::Hash256>> known_row(const dispute::Way& way);
    base::Bytes step_witness(const dispute::Way& way);
    base::Bytes carried_witness();

    dispute::UnitFacts& facts_;
    PlayerFiles files_;
    std::optional<WorkerAsk> lacking_;
    bool lacks_run_ = false;
    std::map<base::Bytes, dispute::DisputeAnswer> known_;
    /// While the unit is being reached from the served start: the next unit, which goes on from start_.
    std::optional<std::uint32_t> reached_;
    // The unit's start, and the fingerprints of the round's steps before it.
    bool started_ = false;
    Files start_;
    base::Hash256 start_root_;
    std::map<std::uint32_t, program::Fingerprint> fingerprints_;  ///< by step of the round
    bool has_fingerprints_ = false;  ///< of the unit's steps; those that are missing were not completed
    /// What was said of where a step ends, by its number, or of where an array does, under 0.
    std::map<std::uint32_t, std::optional<dispute::NotFinitePlace>> ends_;
    // The state before a step inside the segment, so that questions about it do not run the steps before.
    std::optional<std::uint32_t> before_step_;
    Files before_;
    base::Hash256 before_root_;
};

}  // namespace assay::node
