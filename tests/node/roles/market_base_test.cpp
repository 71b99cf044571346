// SPDX-License-Identifier: Apache-2.0
// The base state of a round on a verifier's own disk, which holds it for as long as the round lasts.
#include "contracts/program/round_plan.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {

using namespace test_market;

TEST_CASE("a verifier whose base changes on its disk has it again from elsewhere, and accuses nobody") {
    const std::uint32_t round = GENERATE(0U, 1U);  // made from the seed, and merged
    const bool truncated = GENERATE(false, true);
    CAPTURE(round, truncated);
    Market market;
    market.start();
    Party& vera = market.party("vera");
    std::optional<BlobId> initial;
    bool changed = false;
    vera.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        if (std::holds_alternative<frames::Initial>(request) && !answer.bulk.empty())
            initial = base::blob_id(bytes_of_file(answer.bulk.front()));
        const auto* replay = std::get_if<frames::Replay>(&request);
        if (changed || replay == nullptr || replay->round != round || replay->unit != 0) return;
        // Behind the first unit of a slot: its update is computed from the base as well.
        changed = true;
        REQUIRE(initial.has_value());
        const BlobId base = round == 0 ? *initial : market.job()->base_blob;
        change_on_disk(vera, base);
        if (truncated) std::filesystem::resize_file(vera.store->path(base).value(), 100);
    };
    check_all_paid(market);
    CHECK(changed);
    CHECK(vera.log.lines_with("has changed on our disk") == 1);
    CHECK(vera.worker.asked.at(frames::FrameKind::kInitial) == (round == 0 ? 2 : 1));
}

TEST_CASE("a verifier whose base changes behind its last audit merges as the others do") {
    Market market;
    market.start();
    Party& vera = market.party("vera");
    const program::RoundPlan plan(market.spec());
    std::ptrdiff_t changes = 0;
    vera.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* replay = std::get_if<frames::Replay>(&request);
        if (replay == nullptr || replay->round != 1 || !plan.is_finalise(replay->unit) || !answer.last)
            return;
        ++changes;  // the last change is behind its last audit of the round
        change_on_disk(vera, market.job()->base_blob);
    };
    check_all_paid(market);
    CHECK(changes > 0);
    CHECK(vera.log.lines_with("has changed on our disk") == changes);
    CHECK(vera.log.lines_with("we merged the same slots to") == 0);
}

TEST_CASE("a miner whose base has changed trains again from the right one, and commits") {
    const bool truncated = GENERATE(false, true);
    MarketOptions options;
    options.miners = {"mia"};
    Market market(options);
    market.start();
    Party& mia = market.party("mia");
    bool changed = false;
    mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = std::get_if<frames::Train>(&request);
        if (changed || train == nullptr || train->round != 1 || !answer.last) return;
        changed = true;  // behind the first of its slots
        change_on_disk(mia, market.job()->base_blob);
        if (truncated) std::filesystem::resize_file(mia.store->path(market.job()->base_blob).value(), 100);
    };
    check_all_paid(market);
    CHECK(changed);
    CHECK(mia.log.lines_with("has changed on our disk") == 1);
    CHECK(mia.log.lines_with("is trained again from its start: its trace does not begin with") ==
          (truncated ? 0 : 1));
}

TEST_CASE("who computes settled slots again, and whose base changes on its disk, challenges nobody") {
    MarketOptions options;
    options.challenges["bea"] = 1;
    Market market(options);
    market.start();
    Party& bea = market.party("bea");
    bool changed = false;
    bea.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = std::get_if<frames::Train>(&request);
        if (changed || train == nullptr || train->round != 1 || !answer.last) return;
        changed = true;  // behind the first slot that it computes in this round
        change_on_disk(bea, market.round(1).base_blob);
    };
    check_all_paid(market);
    REQUIRE(market.turn_until([&] { return bea.ended; }, 800));
    CHECK(changed);
    CHECK(bea.log.lines_with("has changed on our disk") == 1);
    CHECK(bea.log.lines_with("is what it claims to be") == market.spec().rounds * market.spec().slots);
    CHECK(bea.log.lines_with("is false") == 0);
}

}  // namespace assay::node
