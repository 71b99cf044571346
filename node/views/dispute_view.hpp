// SPDX-License-Identifier: Apache-2.0
// Gives views of a job its disputes, a row for each: who challenged what, where it ended, what was claimed
// and computed, who lost what, and where that money went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// What a row needs beyond the state's records. For a game that has ended: what an audit of the blocks found
/// (ledger/audit/dispute_audit.hpp). For a running game: the height of the state.
struct DisputeSources {
    std::optional<base::Hash256> transaction;  ///< the transaction that ended it
    std::optional<double> referee_us;          ///< measured on this machine
    std::optional<std::uint64_t> height;
};

/// A row. A field is empty when it does not apply, or when the game has not come that far.
struct DisputeRow {
    std::string id;  ///< JOB/NUMBER, as `assay audit dispute` takes it
    std::uint32_t round = 0;
    std::optional<std::uint32_t> slot;  ///< for a clip the slot that is clipped; nothing for a merge
    std::optional<std::uint32_t> segment;
    std::optional<std::uint32_t> step;
    std::optional<std::string> what;                 ///< "h.2.mlp.c_fc dX"
    std::optional<std::vector<std::uint64_t>> tile;  ///< row and column
    std::optional<std::uint64_t> term;
    std::uint32_t moves = 0;  ///< of both players, including the witness
    std::uint32_t witness_bytes = 0;
    std::optional<double> referee_us;
    base::PublicKey challenger;
    std::optional<base::PublicKey> loser;
    std::optional<std::string> claimed;  ///< bits: 0x…
    std::optional<std::string> computed;

    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::string words;  ///< describe_way (contracts/dispute/way.hpp)
    base::PublicKey claimant;
    bool called = false;  ///< the claimant had vouched for a claim that died
    std::uint64_t opened_at = 0;
    contracts::GamePhase phase = contracts::GamePhase::kQueued;
    std::optional<base::PublicKey> turn;  ///< who is to move, while it runs
    std::optional<std::uint64_t> heights_left;
    contracts::GameEnd end = contracts::GameEnd::kNone;
    std::optional<dispute::GameReason> referee;  ///< for a game that was judged
    std::uint64_t ended_at = 0;                  ///< height
    std::optional<base::Hash256> transaction;
    base::Amount bond;  ///< locked by the challenger
    base::Amount lost;  ///< by the loser: the next three together
    base::Amount to_winner, to_buyer, burned;
    std::optional<base::PublicKey> winner_owner;  ///< who got `to_winner`
    base::Amount returned;                        ///< the claim's held pay that went back to the job's escrow

    template <class Visit>
    void fields(Visit& visit) const {
        visit("id", id);
        visit("round", round);
        visit("slot", slot);
        visit("segment", segment);
        visit("step", step);
        visit("operator", what);
        visit("tile", tile);
        visit("term", term);
        visit("moves", moves);
        visit("witness_bytes", witness_bytes);
        visit("referee_us", referee_us);
        visit("challenger", challenger);
        visit("loser", loser);
        visit("claimed", claimed);
        visit("computed", computed);
        visit("unit", unit);
        visit("words", words);
        visit("claimant", claimant);
        visit("called", called);
        visit("opened_at", opened_at);
        visit("phase", phase);
        visit("turn", turn);
        visit("heights_left", heights_left);
        visit("end", end);
        visit("referee", referee);
        visit("ended_at", ended_at);
        visit("transaction", transaction);
        visit("bond", bond);
        visit("lost", lost);
        visit("to_winner", to_winner);
        visit("to_buyer", to_buyer);
        visit("burned", burned);
        visit("returned", returned);
    }
};

/// REQUIRES a game of the job as read_game gives it.
DisputeRow dispute_row(const contracts::StateView& state, const contracts::Job& job,
                       const contracts::Game& game, const DisputeSources& sources);

/// The job's games that concern a node in a round: it played, or the claim is its own. Ascending.
std::vector<contracts::Game> games_of(const contracts::StateView& state, const base::Hash256& job,
                                      std::uint32_t round, const base::PublicKey& node);

/// The row as sentences: what was challenged, where and how it ended, and who lost what.
std::vector<std::string> sentences(const DisputeRow& row);

}  // namespace assay::node
