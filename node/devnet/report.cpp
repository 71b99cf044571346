// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/report.hpp"

#include <cstdio>

#include "node/devnet/story.hpp"

namespace assay::node {

namespace {

base::Amount sum(base::Amount a, base::Amount b) {
    const auto total = a.plus(b);
    ASSAY_CHECK(total.has_value());
    return *total;
}

base::Amount less(base::Amount a, base::Amount b) {
    const auto rest = a.minus(b);
    ASSAY_CHECK(rest.has_value());
    return *rest;
}

/// What the miner's claims lost in games: the bond, and the pay that a line had promised.
void note_games(MinerReport& report, const Devnet& net, const contracts::StateView& state,
                const contracts::Job& job) {
    for (const contracts::Game& game : contracts::list_games(state, job.id)) {
        if (game.claimant != report.node || !game.claimant_lost || game.called) continue;
        report.paid = less(report.paid, game.returned);
        report.forfeited = sum(report.forfeited, game.lost);
        report.reason = contracts::to_text(contracts::reason_of(game));
        if (report.caught_round) continue;
        report.caught_round = game.round;
        const auto slot = contracts::read_slot(state, job.id, game.round, game.claim);
        if (slot) report.finding = finding_of(net, job.id, game.round, game.claim, slot->fault_unit);
    }
}

MinerReport miner_report(const Devnet& net, std::size_t index, const contracts::StateView& state,
                         const contracts::Job& job) {
    const Participant& who = net.miners[index];
    const MinerPlan& plan = net.plan.miners[index];
    const bool sabotaged = plan.behaviour == Behaviour::kHonest && !plan.drills.empty();
    MinerReport report{.name = who.name,
                       .node = who.node,
                       .behaviour = sabotaged ? "sabotaged" : std::string(to_text(plan.behaviour))};
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        for (const auto& line : contracts::list_settlement(state, job.id, round)) {
            if (line.node != who.node || line.kind != contracts::LineKind::kSlot) continue;
            report.paid = sum(report.paid, line.paid);
            report.forfeited = sum(report.forfeited, line.lost);
            report.reason = contracts::to_text(line.reason);
            const auto slot = contracts::read_slot(state, job.id, round, line.slot);
            if (slot) report.drawn += static_cast<std::uint32_t>(slot->drawn_units.size());
        }
    }
    note_games(report, net, state, job);
    if (report.reason.empty()) report.reason = contracts::to_text(contracts::Reason::kNotAssigned);
    return report;
}

}  // namespace

void fill_parties(DemoReport& report, const Devnet& net, const contracts::StateView& state,
                  const contracts::Job& job) {
    for (std::size_t i = 0; i < net.miners.size(); ++i) {
        report.miners.push_back(miner_report(net, i, state, job));
    }
    for (const Participant& who : net.verifiers) {
        VerifierReport verifier{.name = who.name, .node = who.node};
        for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
            for (const auto& line : contracts::list_settlement(state, job.id, round)) {
                if (line.node != who.node) continue;
                verifier.paid = sum(verifier.paid, line.paid);
                verifier.forfeited = sum(verifier.forfeited, line.lost);
            }
        }
        for (const contracts::Game& game : contracts::list_games(state, job.id)) {
            const bool own = game.claimant_lost ? game.claimant == who.node : game.challenger == who.node;
            if (own) verifier.forfeited = sum(verifier.forfeited, game.lost);
            if (game.challenger == who.node && game.claimant_lost)
                verifier.paid = sum(verifier.paid, game.to_winner);
        }
        if (const auto record = contracts::read_verifier(state, who.node)) {
            verifier.recomputed = record->audited_units;
        }
        report.verifiers.push_back(verifier);
    }
    report.buyer = {.escrowed = job.whole_budget(), .spent = job.spent, .refunded = job.refunded};
}

void print_tables(const DemoReport& report, std::ostream& out) {
    char row[256];
    const auto line = [&](const char* a, const char* b, const std::string& c, const std::string& d,
                          const std::string& e) {
        std::snprintf(row, sizeof row, "%-12s %-10s %20s %20s  %s\n", a, b, c.c_str(), d.c_str(), e.c_str());
        out << row;
    };
    line("party", "behaviour", "paid", "forfeited", "why");
    for (const MinerReport& miner : report.miners) {
        line(miner.name.c_str(), miner.behaviour.c_str(), base::to_text(miner.paid),
             base::to_text(miner.forfeited),
             miner.caught_round ? "caught in round " + std::to_string(*miner.caught_round) : miner.reason);
    }
    for (const VerifierReport& verifier : report.verifiers) {
        line(verifier.name.c_str(), "verifier", base::to_text(verifier.paid),
             base::to_text(verifier.forfeited), std::to_string(verifier.recomputed) + " units recomputed");
    }
    out << "escrow       locked " << base::to_text(report.buyer.escrowed) << " = spent "
        << base::to_text(report.buyer.spent) << " + refunded " << base::to_text(report.buyer.refunded)
        << "; money made or lost: " << report.audit.supply_delta << "\n";
    std::snprintf(row, sizeof row,
                  "checking     %.2f of the training steps recomputed, %.0f %% of the rounds' time\n",
                  report.verification.recomputed_share, 100 * report.verification.seconds_share);
    out << row;
    out << "loss         training " << loss_text(report.loss.train_first) << " -> "
        << loss_text(report.loss.train_last) << ", held-out " << loss_text(report.loss.held_out_first)
        << " -> " << loss_text(report.loss.held_out_last) << "\n";
    for (const DisputeRow& dispute : report.disputes) {
        if (dispute.end != contracts::GameEnd::kJudged && dispute.end != contracts::GameEnd::kConceded)
            continue;
        for (const std::string& sentence : sentences(dispute)) out << "dispute      " << sentence << "\n";
    }
    for (const MinerReport& miner : report.miners) {
        if (!miner.finding.empty()) out << "found        " << miner.name << ": " << miner.finding << "\n";
    }
    out << "before       " << report.sample.before << "\nafter        " << report.sample.after << "\n";
}

}  // namespace assay::node
