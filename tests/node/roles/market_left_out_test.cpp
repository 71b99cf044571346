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
    std::size_t drawn_for = 0;  ///< how many slots

    RefusedSlot(frames::RefusalReason reason, bool begun, MarketOptions options = {}) {
        options.rounds = 1;
        for (options.luck = 0; market == nullptr; ++options.luck) {
            REQUIRE(options.luck < 20);
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
            drawn_for = drawn.size();
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

/// Vera's posting in the panel of round 0; nothing before it is called.
std::optional<contracts::AuditPosting> posting_of_vera(Market& market) {
    return contracts::read_audit(market.state(), market.job()->id, 0, contracts::Stage::kPanel,
                                 market.party("vera").node.public_key());
}

/// What vera's audits ended with: the refused slot alone cost it anything, and once.
void check_lines(RefusedSlot& world) {
    const auto lines = audits_by(*world.market, "vera");
    REQUIRE(lines.size() == world.drawn_for);
    for (const auto& [slot, line] : lines) {
        CAPTURE(slot);
        const bool refused = slot == world.slot;
        CHECK(line.reason == (refused ? Reason::kAuditSilent : Reason::kPaidAudit));
        CHECK(line.lost.is_zero() == !refused);
    }
}

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
        check_lines(world);
        for (const auto& claim : market.claims("vera", 0)) CHECK(claim.slot != world.slot);
        for (std::uint32_t i = 0; i < market.spec().slots; ++i)
            CHECK(market.slot(0, i).verdict == Reason::kPaid);
        CHECK_FALSE(market.party("vera").ended);
    }
}

TEST_CASE("what is computed is sealed an eighth of the window before its end, 20 heights at the most") {
    for (const auto& [window, kept] :
         {std::pair<std::uint64_t, std::uint64_t>{4, 1}, {16, 2}, {20, 2}, {40, 5}, {160, 20}, {400, 20}}) {
        CAPTURE(window, kept);
        MarketOptions options;
        options.audit_window = window;
        RefusedSlot world(frames::RefusalReason::kCancelled, false, options);
        Market& market = *world.market;
        REQUIRE(market.turn_until([&] { return market.at_phase(0, contracts::RoundPhase::kAuditSeal); }));
        const std::uint64_t deadline = market.round(0).phase_deadline;
        REQUIRE(deadline - posting_of_vera(market)->called_at == window);
        REQUIRE(market.turn_until([&] { return market.settled(0); }, 1'000));
        const auto posting = posting_of_vera(market);
        REQUIRE(posting->sealed);
        // The block behind the height at which so many are left has the seal.
        CHECK(posting->sealed_at == deadline - kept + 1);
        check_lines(world);
    }
}

TEST_CASE(
    "a verifier that is started again at any height of an audit with a refused slot seals the others, once") {
    constexpr std::uint64_t kHeights = 20;  // beyond the seal and its opening
    std::size_t before_seal = 0;
    std::size_t behind_seal = 0;
    for (std::uint64_t later = 0; later < kHeights; later += 2) {
        CAPTURE(later);
        RefusedSlot world(frames::RefusalReason::kCancelled, false);
        Market& market = *world.market;
        REQUIRE(market.turn_until([&] { return market.at_phase(0, contracts::RoundPhase::kAuditSeal); }));
        for (std::uint64_t i = 0; i < later; ++i) market.turn();
        std::optional<base::Hash256> seal;
        if (const auto posting = posting_of_vera(market); posting && posting->sealed) seal = posting->seal;
        ++(seal ? behind_seal : before_seal);
        market.restart_verifier("vera");
        REQUIRE(market.turn_until([&] { return market.settled(0); }));
        const auto posting = posting_of_vera(market);
        CHECK(posting->opened);
        if (seal) CHECK(posting->seal == *seal);
        check_lines(world);
        for (std::uint32_t i = 0; i < market.spec().slots; ++i)
            CHECK(market.slot(0, i).verdict == Reason::kPaid);
        CHECK_FALSE(market.party("vera").ended);
    }
    CHECK(before_seal > 1);
    CHECK(behind_seal > 1);
}

}  // namespace assay::node
