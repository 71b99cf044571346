// SPDX-License-Identifier: Apache-2.0
// What scenarios of disputes ask of a network when its job is over: who lost which game, and whether anybody
// honest did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/dispute/tables.hpp"
#include "tests/scenarios/small_network.hpp"

namespace assay::tests {

class DisputeBooks {
public:
    /// REQUIRES a network that has run; it must outlive this. Every game must have ended.
    explicit DisputeBooks(const SmallNetwork& network);

    [[nodiscard]] const std::vector<contracts::Game>& games() const { return games_; }
    /// Those that the party opened, or that verifiers were called to by it.
    [[nodiscard]] std::vector<contracts::Game> opened_by(const node::Participant& who) const;
    /// Those in which it defended a claim or a word.
    [[nodiscard]] std::vector<contracts::Game> defended_by(const node::Participant& who) const;

    /// Base units that it lost in games.
    [[nodiscard]] std::uint64_t lost_in_games(const node::Participant& who) const;
    /// Nobody of these lost a game, or anything by a round's settlement.
    void check_harmless(const std::vector<node::Participant>& honest) const;
    /// Every round was merged, from the update of one slot at least.
    void check_rounds_merged() const;
    /// The model is what one worker makes of the run's record: whatever was merged was right.
    void check_model() const;

    [[nodiscard]] bool says(const node::Participant& who, const std::string& words) const;

private:
    const SmallNetwork& network_;
    std::vector<contracts::Game> games_;
};

/// Who lost it; nothing: nobody did.
std::optional<base::PublicKey> loser_of(const contracts::Game& game);

}  // namespace assay::tests
