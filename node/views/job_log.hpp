// SPDX-License-Identifier: Apache-2.0
// Gives buyers the log of a job from the ledger's records alone: who did what and when, with what result, and
// the losses that slots opened. It asks none of the machines that worked, since they may be gone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/round/stage_text.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

struct AuditLog {
    base::PublicKey verifier;
    contracts::Stage stage = contracts::Stage::kPanel;
    std::uint64_t called_at = 0, sealed_at = 0;  ///< heights; 0: it was not sealed
    bool opened = false;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifier", verifier);
        visit("stage", stage);
        visit("called_at", called_at);
        visit("sealed_at", sealed_at);
        visit("opened", opened);
    }
};

struct SlotLog {
    std::uint32_t slot = 0;
    base::PublicKey miner;
    std::uint64_t committed_at = 0;  ///< height; 0: it was not
    std::vector<std::uint32_t> drawn_units;
    bool revealed = false, diverged = false, stored = false;
    contracts::Reason verdict = contracts::Reason::kNone;  ///< none before the settlement
    base::Amount paid, lost;
    std::vector<float>
        losses;  ///< of each step, from its trace; empty when it opened none, or the trace is not here

    template <class Visit>
    void fields(Visit& visit) const {
        visit("slot", slot);
        visit("miner", miner);
        visit("committed_at", committed_at);
        visit("drawn_units", drawn_units);
        visit("revealed", revealed);
        visit("diverged", diverged);
        visit("stored", stored);
        visit("verdict", verdict);
        visit("paid", paid);
        visit("lost", lost);
        visit("losses", losses);
    }
};

struct RoundLog {
    std::uint32_t round = 0;
    std::uint64_t started_at = 0, settled_at = 0;  ///< heights; 0: it is not settled
    base::Hash256 beacon;
    bool merged = false;
    std::vector<std::uint32_t> merged_slots;
    std::optional<float> train_loss, held_out_loss;  ///< of a merged round; the first over audited steps of
                                                     ///< merged slots
    std::vector<SlotLog> slots;
    std::vector<AuditLog> audits;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("round", round);
        visit("started_at", started_at);
        visit("settled_at", settled_at);
        visit("beacon", beacon);
        visit("merged", merged);
        visit("merged_slots", merged_slots);
        visit("train_loss", train_loss);
        visit("held_out_loss", held_out_loss);
        visit("slots", slots);
        visit("audits", audits);
    }
};

/// Returns the trace that a slot opened, or nothing when it cannot be had.
using TraceOf = std::function<std::optional<program::TraceRecord>(std::uint32_t round, std::uint32_t slot)>;

/// Rounds and slots ascend. A running round has what there is so far.
std::vector<RoundLog> job_log(const contracts::StateView& state, const contracts::Job& job,
                              const TraceOf& trace_of);

}  // namespace assay::node
