// SPDX-License-Identifier: Apache-2.0
// Gives a simulated role StandInWorker, which hashes where a real worker trains. It answers with states,
// traces and roots, like a real one. Nobody tells it whether a claim is true, and it tells nobody.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "node/seams/ports.hpp"
#include "node/sim/behaviour.hpp"
#include "node/sim/hash_chain.hpp"
#include "node/sim/shared_work.hpp"

namespace assay::node::sim {

class StandInWorker final : public WorkerPort {
public:
    /// How a slot of the running round is cheated by a miner with which this party colludes;
    /// FalseUnits::kNone for other slots.
    using Accomplice = std::function<FalseUnits(SlotTurn)>;

    /// `shared` outlives it.
    StandInWorker(const Conduct& behaviour, Accomplice accomplice, SharedWork& shared)
        : behaviour_(behaviour), accomplice_(std::move(accomplice)), shared_(shared) {}

    void submit(RequestId request, worker::Message message,
                std::vector<worker::SharedDescriptor> bulk) override;
    void cancel(RequestId request) override;
    /// The next frame, if one is due.
    std::optional<WorkerAnswered> take();

private:
    struct Waiting {
        RequestId request = 0;
        worker::Message message;
        std::vector<FileRef> bulk;
    };
    struct StandInAnswer {
        worker::Message message;
        std::vector<FileRef> bulk;
    };
    void work();
    void give(RequestId request, StandInAnswer answer, bool last);
    StandInAnswer answer(const worker::OpenJob& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Initial& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Train& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Replay& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Merge& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Evaluate& request, const Waiting& waiting);
    StandInAnswer answer(const worker::Root& request, const Waiting& waiting);
    // stand_in_dispute.cpp: trees whose hashes follow from what it trained, and witnesses that open nothing.
    // A game about a false claim goes down to the end and is lost there; a player that computes a right claim
    // finds nothing to pick.
    StandInAnswer answer(const worker::Descend& request, const Waiting& waiting);
    StandInAnswer answer(const worker::DescendArray& request, const Waiting& waiting);
    /// The state after a segment as this party claims it.
    [[nodiscard]] ChainState claimed_end(std::uint32_t segment, const Hash256& start, SlotTurn place) const;
    /// The root at which the segment of a question begins; nothing when the files do not tell.
    [[nodiscard]] std::optional<Hash256> start_of(const worker::Descend& request,
                                                  const Waiting& waiting) const;
    template <class Other>
    StandInAnswer answer(const Other& request, const Waiting& waiting);
    /// The state from which a unit is computed. Nothing, with `verdict` set, when no file has the right root
    /// or place.
    std::optional<Hash256> start_of(const worker::Replay& request, const Waiting& waiting,
                                    worker::Replayed& verdict) const;
    StandInAnswer compute(const worker::Replay& request, const Hash256& start,
                          worker::Replayed replayed) const;
    [[nodiscard]] FalseUnits falsifies(SlotTurn place) const;

    const Conduct& behaviour_;
    Accomplice accomplice_;
    SharedWork& shared_;
    std::shared_ptr<const HashChain> job_;  ///< null: no job is open
    program::JobSpec spec_;
    std::deque<Waiting> waiting_;
    std::deque<WorkerAnswered> answers_;
};

/// What a cheat mixes into the hash of a unit; empty: the unit is honest.
std::string_view nonce_of(FalseUnits units, std::uint32_t unit, SlotTurn place,
                          const program::RoundPlan& plan);

}  // namespace assay::node::sim
