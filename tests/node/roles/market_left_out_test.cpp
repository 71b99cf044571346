// SPDX-License-Identifier: Apache-2.0
// A verifier that cannot compute one of its slots seals the others, and pays for the one.
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::LineKind;
using contracts::Reason;

/// Lines of the audits by `name` in round 0, by slot.
std::map<std::uint32_t, contracts::SettlementLine> audits_by(Market& market, const std::string& name) {
    std::map<std::uint32_t, contracts::SettlementLine> lines;
    for (const auto& line : contracts::list_settlement(market.state(), market.job()->id, 0)) {
        if (line.kind == LineKind::kAudit && line.node == market.party(name).node.public_key())
            lines[line.slot] = line;
    }
    return lines;
}

/// A market with one miner and several slots in which `vera` was drawn for at least two, and whose worker
/// refuses the first of them: every unit, or all but the first.
struct RefusedSlot {
    std::unique_ptr<Market> market;
    std::uint32_t slot = 0;

    RefusedSlot(frames::RefusalReason reason, bool begun) {
        for (std::uint64_t luck = 0; market == nullptr; ++luck) {
            REQUIRE(luck < 20);
            MarketOptions options;
            options.rounds = 1;
            options.luck = luck;
            auto one = std::make_unique<Market>(options);
            one->start();
            REQUIRE(one->turn_until([&] { return one->at_phase(0, contracts::RoundPhase::kServe); }));
            std::vector<std::uint32_t> drawn;
            for (std::uint32_t i = 0; i < one->spec().slots; ++i) {
                const auto& who = one->slot(0, i).verifiers;
                if (std::count(who.begin(), who.end(), one->party("vera").node.public_key()) > 0)
                    drawn.push_back(i);
            }
            if (drawn.size() < 2) continue;
            slot = drawn.front();
            one->party("vera").worker.falsify = [this, reason, begun](const frames::Message& request,
                                                                      WorkerAnswered& answer) {
                const auto* replay = std::get_if<frames::Replay>(&request);
                if (replay == nullptr || replay->slot != slot || (begun && replay->unit == 0)) return;
                answer.message = frames::Refusal{reason, "not today", {}};
                answer.bulk.clear();
            };
            market = std::move(one);
        }
    }
};

}  // namespace

TEST_CASE("a slot that the worker refuses is left out of the seal; the others are sealed and paid") {
    using frames::RefusalReason;
    // The first for ever, the others time and again, one of them behind a unit that is computed.
    for (const auto& [reason, begun] : {std::pair{RefusalReason::kBadRequest, false},
                                        {RefusalReason::kCancelled, false},
                                        {RefusalReason::kCancelled, true}}) {
        CAPTURE(static_cast<int>(reason), begun);
        RefusedSlot world(reason, begun);
        Market& market = *world.market;
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        INFO(market.party("vera").log.text());
        CHECK(market.party("vera").log.lines_with("is left out of our audit") == 1);
        const auto lines = audits_by(market, "vera");
        REQUIRE(lines.size() >= 2);
        for (const auto& [slot, line] : lines) {
            CAPTURE(slot);
            const bool refused = slot == world.slot;
            CHECK(line.reason == (refused ? Reason::kAuditSilent : Reason::kPaidAudit));
            CHECK(line.lost.is_zero() == !refused);
        }
        for (const auto& claim : market.claims("vera", 0)) CHECK(claim.slot != world.slot);
        for (std::uint32_t i = 0; i < market.spec().slots; ++i)
            CHECK(market.slot(0, i).verdict == Reason::kPaid);
        CHECK_FALSE(market.party("vera").ended);
    }
}

}  // namespace assay::node
