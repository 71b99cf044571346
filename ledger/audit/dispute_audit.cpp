// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/dispute_audit.hpp"

#include <utility>

#include "contracts/dispute/machine_check.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;
using contracts::Game;
using contracts::GameEnd;
using dispute::UnitFacts;
using dispute::Way;

namespace {

struct ReadTransaction {
    Hash256 id;
    contracts::TxBody body;
};

/// Nothing: no transaction.
std::optional<ReadTransaction> read_transaction(const Bytes& bytes) {
    const auto transaction = base::decode<contracts::SignedTransaction>(bytes);
    if (!transaction) return std::nullopt;
    auto body = contracts::decode_body(transaction->body);
    if (!body) return std::nullopt;
    return ReadTransaction{contracts::transaction_id(transaction->body), *std::move(body)};
}

/// Whether it is what a player ends the game with.
bool ends(const contracts::TxBody& body, const DisputeName& name) {
    const auto names = [&](const auto* tx) {
        return tx != nullptr && tx->job == name.job && tx->game == name.game;
    };
    return names(std::get_if<contracts::DisputeProve>(&body.payload)) ||
           names(std::get_if<contracts::DisputeConcede>(&body.payload));
}

/// Applies the moves of one game to its way, and notes what does not fit.
class ReplayedGame {
public:
    ReplayedGame(const DisputeName& name, UnitFacts& facts, const ClockReader& clock, DisputeReport& report)
        : name_(name), facts_(facts), clock_(clock), report_(report), way_(dispute::begin_way(facts)) {}

    void apply(const Hash256& id, const contracts::TxBody& body) {
        if (ends(body, name_)) report_.transaction = id;
        std::visit([&](const auto& tx) { move(body.sender, tx); }, body.payload);
    }
    [[nodiscard]] std::uint32_t moves() const { return moves_; }
    [[nodiscard]] const Way& way() const { return way_; }

private:
    template <class Tx>
    void move(const base::PublicKey& sender, const Tx& tx) {
        if constexpr (requires { tx.game; }) {
            if (tx.job == name_.job && tx.game == name_.game) play(sender, tx);
        }
    }
    void play(const base::PublicKey& sender, const contracts::DisputePost& tx) {
        ++moves_;
        expect(sender == report_.game.claimant && dispute::may_post(way_, facts_, tx.hashes), "a post");
        if (report_.ok()) dispute::post(way_, facts_, tx.hashes);
    }
    void play(const base::PublicKey& sender, const contracts::DisputePick& tx) {
        ++moves_;
        expect(sender == report_.game.challenger && dispute::may_pick(way_, facts_, tx.pick), "a pick");
        if (!report_.ok()) return;
        dispute::pick(way_, facts_, tx.pick);
        report_.path.push_back(dispute::describe_way(way_, facts_));
    }
    void play(const base::PublicKey& sender, const contracts::DisputeProve& tx) {
        ++moves_;
        expect(sender == report_.game.claimant && way_.stage == dispute::WayStage::kWitness, "a witness");
        if (report_.ok()) judge(tx.witness);
    }
    void play(const base::PublicKey& sender, const contracts::DisputeConcede&) {
        const bool by_loser =
            sender == (report_.game.claimant_lost ? report_.game.claimant : report_.game.challenger);
        expect(by_loser && report_.game.end == GameEnd::kConceded, "a concession");
    }
    void play(const base::PublicKey&, const contracts::DisputeCall&) {}

    void judge(const Bytes& witness) {
        // What the facts of the step take is not the referee's: the ledger has them from the move before.
        if (report_.game.unit == dispute::UnitKind::kSegment) static_cast<void>(facts_.step(way_.at.step));
        const std::uint64_t before = clock_ ? clock_() : 0;
        report_.verdict = dispute::judge_way(way_, facts_, witness);
        if (clock_) report_.referee_ns = clock_() - before;
    }

    void expect(bool fits, const char* what) {
        if (!fits)
            report_.wrong.push_back("move " + std::to_string(moves_) + ": " + what +
                                    " that the rules refuse");
    }

    const DisputeName& name_;
    UnitFacts& facts_;
    const ClockReader& clock_;
    DisputeReport& report_;
    Way way_;
    std::uint32_t moves_ = 0;
};

void check_end(const ReplayedGame& replay, DisputeReport& report) {
    const Game& game = report.game;
    const auto say = [&](const char* what) { report.wrong.emplace_back(what); };
    if (replay.moves() != game.moves) say("the blocks hold another number of moves than the ledger says");
    if (game.end == GameEnd::kSilent && game.claimant_lost != replay.way().claimant_moves())
        say("the ledger says that the other player was silent");
    const bool judged = game.end == GameEnd::kJudged || game.end == GameEnd::kVoid;
    if (judged != report.verdict.has_value()) return say("the ledger says otherwise whether it was judged");
    if (!judged) return;
    const dispute::GameVerdict& verdict = *report.verdict;
    if (game.end == GameEnd::kVoid) {
        if (verdict.outcome != dispute::GameOutcome::kJobVoid) say("the job's data are not at fault");
        return;
    }
    if (game.claimant_lost != (verdict.outcome == dispute::GameOutcome::kClaimantLoses))
        say("the referee finds for the other player");
    const auto bits = [](std::uint64_t high, std::uint64_t low) { return base::Uint128{high} << 64U | low; };
    const contracts::GameFinding& found = game.finding;
    if (found.reason != verdict.reason || found.cell != verdict.cell ||
        bits(found.claimed_high, found.claimed_low) != verdict.claimed ||
        bits(found.computed_high, found.computed_low) != verdict.computed)
        say("the referee computes something else than the ledger recorded");
}

}  // namespace

Outcome<DisputeReport> audit_dispute(const contracts::StateView& state, const DisputeName& name,
                                     const BlockReader& read, const ClockReader& clock) {
    const auto game = contracts::read_game(state, name.job, name.game);
    if (!game) return fail(ErrorKind::kNotFound, "the job has no dispute " + std::to_string(name.game));
    if (game->is_open())
        return fail(ErrorKind::kNotFound, "the dispute has not ended", "wait for its end, then audit it");
    const auto terms = contracts::read_job_terms(state, name.job);
    const auto claim = contracts::unit_claim(state, game->claim_id(name.job), game->unit, game->part);
    ASSAY_TRY(dispute::check_machine());
    if (!terms || !claim)
        return fail(ErrorKind::kVerification, "what was disputed is not in the records of the job");
    DisputeReport report;
    report.game = *game;
    UnitFacts facts(terms->spec, *claim);
    ReplayedGame replay(name, facts, clock, report);
    for (std::uint64_t height = game->opened_at; height <= game->ended_at; ++height) {
        ASSAY_ASSIGN(const Block block, read(height));
        for (const Bytes& bytes : block.transactions) {
            const auto transaction = read_transaction(bytes);
            if (!transaction)
                return fail(ErrorKind::kVerification,
                            "block " + std::to_string(height) + " holds bytes that are no transaction");
            replay.apply(transaction->id, transaction->body);
        }
    }
    ASSAY_TRY(dispute::check_thread());
    check_end(replay, report);
    return report;
}

std::optional<Hash256> ending_transaction(const Block& block, const DisputeName& name) {
    for (const Bytes& bytes : block.transactions) {
        const auto transaction = read_transaction(bytes);
        if (transaction && ends(transaction->body, name)) return transaction->id;
    }
    return std::nullopt;
}

}  // namespace assay::ledger
