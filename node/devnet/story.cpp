// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/story.hpp"

#include <bit>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/rules/tables.hpp"
#include "node/roles/job_note.hpp"
#include "node/views/dispute_view.hpp"

namespace assay::node {

using contracts::EventKind;
using contracts::Reason;
using contracts::RoundPhase;

std::string loss_text(std::uint32_t bits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", static_cast<double>(std::bit_cast<float>(bits)));
    return text;
}

FindingText finding_of(const Devnet& net, const base::Hash256& job, std::uint32_t round, std::uint32_t slot,
                       std::uint32_t unit) {
    const std::string file = job_note("finding", job, {round, slot, unit});
    for (const Participant& verifier : net.verifiers) {
        std::ifstream stream(verifier.home.jobs() / file);
        const auto json = nlohmann::json::parse(stream, nullptr, false);
        if (json.is_object() && json.contains("difference")) return json["difference"].get<std::string>();
    }
    return {};
}

Story::Story(const Devnet& net, std::ostream& out) : net_(net), out_(out) {
    names_[net.sequencer.node] = net.sequencer.name;
    names_[net.buyer.node] = net.buyer.name;
    for (const Participant& miner : net.miners) names_[miner.node] = miner.name;
    for (const Participant& verifier : net.verifiers) names_[verifier.node] = verifier.name;
}

std::string Story::name_of(const base::PublicKey& node) const {
    const auto found = names_.find(node);
    return found == names_.end() ? node.brief() : found->second;
}

void Story::tell(const contracts::StateView& state, const contracts::Event& event) {
    switch (event.kind) {
        case EventKind::kJobSubmitted:
            out_ << "job " << event.job.brief() << " submitted; " << base::to_text(event.amount)
                 << " locked in escrow; miners seal their asks\n";
            break;
        case EventKind::kAuctionCleared: tell_auction(state, event); break;
        case EventKind::kRoundStarted: {
            out_ << "round " << event.round << "  dealt:";
            for (const auto& slot : contracts::list_slots(state, event.job, event.round)) {
                if (slot.assigned) out_ << "  slot " << slot.slot << " " << name_of(slot.miner);
            }
            out_ << "\n";
            break;
        }
        case EventKind::kRoundPhase: tell_phase(state, event); break;
        case EventKind::kBeaconDrawn:
            out_ << "         beacon open after the commits: " << event.number << " units drawn\n";
            break;
        case EventKind::kRedrawn:
            out_ << "         slot " << event.slot
                 << (static_cast<contracts::Stage>(event.number) == contracts::Stage::kConfirm
                         ? ": all who sealed say that open starts were not served; one more verifier is "
                           "drawn\n"
                         : ": nobody recomputed all that was drawn; one more verifier is drawn\n");
            break;
        case EventKind::kVerdict: tell_verdict(state, event); break;
        case EventKind::kDisputeOpened:
            out_ << "         " << name_of(event.node) << " opens dispute " << event.number << " about slot "
                 << event.slot << " of round " << event.round << "\n";
            break;
        case EventKind::kDisputeEnded: tell_dispute(state, event); break;
        case EventKind::kMerged: tell_merge(state, event); break;
        case EventKind::kLost:
            out_ << "         " << name_of(event.node) << " loses " << base::to_text(event.amount) << ": "
                 << contracts::to_text(event.reason) << "\n";
            break;
        case EventKind::kDropped:
            out_ << "         " << name_of(event.node)
                 << " is off the job: " << contracts::to_text(event.reason) << "\n";
            break;
        case EventKind::kJobEnded: out_ << "job ended: " << contracts::explain(event.reason) << "\n"; break;
        case EventKind::kRefunded:
            out_ << "refunded " << base::to_text(event.amount) << " to the buyer\n";
            break;
        default: break;
    }
    out_.flush();
}

void Story::tell_phase(const contracts::StateView&, const contracts::Event& event) {
    switch (static_cast<RoundPhase>(event.number)) {
        case RoundPhase::kBeacon: out_ << "         all commits in; beacon links open\n"; break;
        case RoundPhase::kAuditSeal: out_ << "         starts served; verifiers recompute\n"; break;
        case RoundPhase::kReveal: out_ << "         every finding sealed and opened; traces open\n"; break;
        case RoundPhase::kStore: out_ << "         verifiers store the updates\n"; break;
        case RoundPhase::kMergeSeal: out_ << "         verdicts in; verifiers merge\n"; break;
        default: break;
    }
}

void Story::tell_auction(const contracts::StateView& state, const contracts::Event& event) {
    const auto job = contracts::read_job(state, event.job);
    out_ << "auction  " << job->auction.asks_revealed << " asks opened, " << event.number
         << " win, all are paid " << event.amount.units() << "u per work unit ("
         << (job->auction.first_rejected ? "the first rejected ask" : "the cap: no ask was rejected")
         << ")\n";
    for (const auto& entry : job->roster) {
        out_ << "         " << name_of(entry.node) << " asked " << entry.ask.units() << "u\n";
    }
}

void Story::tell_verdict(const contracts::StateView& state, const contracts::Event& event) {
    const bool accused = event.reason == Reason::kPaidAccused;
    if (contracts::consequence(event.reason) == contracts::Consequence::kPaid && !accused) return;
    out_ << "         slot " << event.slot << " " << name_of(event.node) << ": "
         << contracts::explain(event.reason) << "\n";
    if (!accused) return;
    const auto slot = contracts::read_slot(state, event.job, event.round, event.slot);
    if (!slot) return;
    out_ << "         unit " << slot->fault_unit << ": claimed " << slot->fault_claimed.brief()
         << "…, recomputed " << slot->fault_found.brief() << "…\n";
    const FindingText finding = finding_of(net_, event.job, event.round, event.slot, slot->fault_unit);
    if (!finding.empty()) out_ << "         " << finding << "\n";
}

void Story::tell_dispute(const contracts::StateView& state, const contracts::Event& event) {
    const auto game = contracts::read_game(state, event.job, static_cast<std::uint32_t>(event.number));
    const auto job = contracts::read_job(state, event.job);
    if (!game || !job) return;
    const DisputeRow row = dispute_row(state, *job, *game, {});
    out_ << "         dispute " << event.number << " has ended after " << game->moves << " moves";
    if (row.loser) out_ << ": " << name_of(*row.loser) << " loses " << base::to_text(game->lost);
    if (row.claimed && row.computed)
        out_ << "; claimed " << *row.claimed << ", the operands give " << *row.computed;
    out_ << "\n";
}

void Story::tell_merge(const contracts::StateView& state, const contracts::Event& event) {
    const auto round = contracts::read_round(state, event.job, event.round);
    out_ << "         merged " << event.number << " slots; loss on the training stream "
         << (round->train_steps > 0 ? loss_text(round->train_loss) : "not audited") << ", on held-out text "
         << loss_text(round->result.held_out_loss) << "\n";
}

}  // namespace assay::node
