// SPDX-License-Identifier: Apache-2.0
// The bytes that a job moves between real processes: counted at the sockets, told apart by purpose, and
// quoted beforehand.
#include <numeric>

#include "contracts/program/blob_sizes.hpp"
#include "node/audit/job_plan.hpp"
#include "node/config/job_file.hpp"
#include "node/devnet/traffic_run.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/scenarios/small_text.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/pack.hpp"

#include <fstream>
#include <iostream>

namespace assay::tests {

namespace {

struct MeasuredJob {
    node::StrategyTraffic traffic;
    node::PlannedBytes planned;

    [[nodiscard]] std::uint64_t of(const std::string& purpose) const {
        for (const node::TrafficRow& row : traffic.rows) {
            if (row.purpose == purpose) return row.bytes;
        }
        FAIL("no row " + purpose);
        return 0;
    }
};

MeasuredJob measure(program::Strategy strategy, program::InnerState inner_state) {
    const test::TemporaryFolder folder;
    std::ofstream(folder / "text.txt") << small_text(7);
    program::JobSpec spec = small_plan().job;
    trainer::PackOptions packing;
    packing.texts = {folder / "text.txt"};
    packing.out = folder / "data";
    packing.form = trainer::TextForm::kPlain;
    packing.vocabulary = spec.model.vocabulary;
    (void)must(trainer::pack(packing));
    spec.slots = 3;
    spec.rounds = 3;
    spec.strategy = strategy;
    spec.inner_state = inner_state;
    spec.security.audit_threshold = UINT64_MAX / 4;
    const node::TrafficJob job{.home = folder / "net",
                               .spec = spec,
                               .manifest = folder / "data" / "manifest.json",
                               .program = built_program("assay"),
                               .params = with_patience(node::devnet_params())};
    MeasuredJob measured{must(node::measure_traffic(job, std::cout, {})), {}};
    const node::JobFile written = must(node::read_job_file(folder / "net" / "job.toml"));
    measured.planned = must(node::plan_job(written.spec, contracts::Params{})).bytes;
    return measured;
}

void check(const MeasuredJob& measured) {
    const node::StrategyTraffic& traffic = measured.traffic;
    const node::PlannedBytes& planned = measured.planned;
    CHECK(traffic.rounds == 3);
    CHECK(traffic.tokens == 3 * 3 * 4 * 2 * 32);
    // The file that a slot handed in is as long as the plan said.
    CHECK(traffic.coded_bytes == planned.files.update);
    CHECK(traffic.uncoded_bytes == 4 * traffic.parameters * 4);
    const std::uint64_t sum =
        std::accumulate(traffic.rows.begin(), traffic.rows.end(), std::uint64_t{0},
                        [](std::uint64_t bytes, const node::TrafficRow& row) { return bytes + row.bytes; });
    CHECK(sum == traffic.socket_bytes);
    // Three miners and three verifiers fetch the data once each.
    CHECK(measured.of("data") >= 6 * planned.data);
    CHECK(measured.of("data") < 6 * planned.data + 6 * 2 * 4096);
    CHECK(measured.of("ledger") > 10'000);
    CHECK(measured.of("update") + measured.of("base") > 0);
    CHECK(traffic.worker_bytes > 0);
    CHECK(traffic.connections >= 6);
    CHECK(measured.of("framing") < traffic.socket_bytes / 2);
}

}  // namespace

TEST_CASE("the bytes on all sockets are those of each purpose and of framing, and plan quotes an update") {
    using program::InnerState;
    using program::Strategy;
    const MeasuredJob whole = measure(Strategy::kDiloco, InnerState::kReset);
    const MeasuredJob half = measure(Strategy::kDilocoHalf, InnerState::kCarried);
    check(whole);
    check(half);
    CHECK(whole.of("carried") == 0);
    CHECK(whole.traffic.coded_bytes == 8 + 8 * whole.traffic.parameters);
    CHECK(half.traffic.coded_bytes == 8 + 2 * half.traffic.parameters);
    const auto merging = [](const MeasuredJob& one) { return one.of("update") + one.of("base"); };
    CHECK(merging(half) < merging(whole));
}

}  // namespace assay::tests
