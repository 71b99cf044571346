// SPDX-License-Identifier: Apache-2.0
// Losses of pilots, from what commands print, and predictions that stay with a job.
#include "node/config/pilot_file.hpp"

#include <fstream>

#include "contracts/program/tensors.hpp"
#include "node/config/prediction_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace assay;
using namespace assay::node;

namespace {

program::JobSpec spec() {
    program::JobSpec spec;
    spec.slots = 4;
    spec.rounds = 10;
    spec.model = {.layers = 1, .width = 32, .heads = 2, .context = 16, .vocabulary = 300};
    spec.train.inner_steps = 20;
    spec.train.batch = 2;
    spec.train.warmup_steps = 20;
    return spec;
}

constexpr const char* kTrained = R"({"schema": "assay.model.train/v1", "model_root": "ab", "parameters": 5000,
 "slots": 2, "inner_steps": 10, "steps": 60, "tokens": 3000, "loss": [
 {"step": 0, "train": null, "held_out": 5.7}, {"step": 10, "train": 5.0, "held_out": 5.1},
 {"step": 20, "train": 4.5, "held_out": 4.6}, {"step": 30, "train": 4.1, "held_out": 4.2}]})";

std::string reason_of(std::string_view text) {
    const auto read = parse_pilot(text, "pilot.json", spec());
    return read.ok() ? "" : read.error().what;
}

}  // namespace

TEST_CASE("a pilot of model train says by itself what was trained") {
    const auto points = parse_pilot(kTrained, "pilot.json", spec()).value();
    // Step 0 is no loss of training, and step 10 lies in the warm-up.
    REQUIRE(points.size() == 2);
    CHECK(points[0].parameters == 5000);
    CHECK(points[0].tokens == 2000);
    CHECK(points[0].loss == 4.6);
    CHECK(points[0].shape.slots == 2);
    CHECK(points[0].shape.inner_steps == 10);
    CHECK(points[0].shape.rounds == 2);
    CHECK(points[1].tokens == 3000);
}

TEST_CASE("a pilot of a job on a ledger has the job's model, steps and slots") {
    const std::string shown = R"({"schema": "assay.job.show/v1", "merged_rounds": [
      {"round": 0, "slots": 4, "held_out_loss": 5.0}, {"round": 1, "slots": 3, "held_out_loss": 4.5}]})";
    const auto points = parse_pilot(shown, "show.json", spec()).value();
    REQUIRE(points.size() == 2);
    CHECK(points[1].tokens == (4 + 3) * 20 * 2 * 16);
    CHECK(points[1].parameters == static_cast<double>(program::parameter_count(spec().model)));
    CHECK(points[1].shape.slots == 4);
    CHECK(points[1].shape.rounds == 2);

    const std::string watched =
        "{\"schema\": \"assay.job.watch/v1\", \"event\": \"round_started\", \"round\": 0}\n"
        "{\"schema\": \"assay.job.watch/v1\", \"event\": \"merged\", \"round\": 0, \"held_out_loss\": 5.0}\n"
        "\n"
        "{\"schema\": \"assay.job.watch/v1\", \"event\": \"merged\", \"round\": 1, \"held_out_loss\": 4.5}\n";
    const auto lines = parse_pilot(watched, "watch.jsonl", spec()).value();
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].tokens == 2 * 4 * 20 * 2 * 16);
    CHECK(lines[1].loss == 4.5);
}

TEST_CASE("what is no pilot is refused with a reason") {
    CHECK(reason_of("{\"schema\": \"assay.version/v1\"}").find("knows losses") != std::string::npos);
    CHECK(reason_of("[1, 2]").find("knows losses") != std::string::npos);
    CHECK_FALSE(reason_of("not JSON").empty());
    CHECK(reason_of("").find("no held-out loss") != std::string::npos);
    CHECK(reason_of("{\"schema\": \"assay.model.train/v1\"}").find("no held-out loss") != std::string::npos);
    // Numbers that no command prints.
    for (const char* loss : {"-1", "0", "\"4\"", "null", "1e999"}) {
        const std::string text = R"({"schema": "assay.job.show/v1", "merged_rounds": [
          {"round": 0, "slots": 4, "held_out_loss": )" +
                                 std::string(loss) + "}]}";
        INFO(loss);
        CHECK_FALSE(reason_of(text).empty());
    }
    CHECK(reason_of(R"({"schema": "assay.model.train/v1", "parameters": 5, "slots": 1, "inner_steps": 0,
                        "tokens": 10, "loss": [{"step": 30, "held_out": 4}]})")
              .find("no held-out loss") != std::string::npos);
    CHECK_FALSE(read_pilot("/no/such/pilot.json", spec()).ok());
}

TEST_CASE("a prediction is read back as it was written, and nothing else is one") {
    const test::TemporaryFolder folder;
    const auto path = folder / "plans/job.json";
    CHECK_FALSE(read_prediction(path).value().has_value());
    JobPrediction prediction{.prior_only = false,
                             .pilot_points = 8,
                             .ledger_prices = 3,
                             .speeds = 2,
                             .rounds = {{.rounds = 1,
                                         .tokens = 100,
                                         .spend = {1, 2, 3},
                                         .heights = std::nullopt,
                                         .loss = {4.1, 4.25, 4.5}},
                                        {.rounds = 4,
                                         .tokens = 400,
                                         .spend = {4, 8, 12},
                                         .heights = Interval80{10, 20, 30},
                                         .loss = {3.1, 3.25, 3.5}}}};
    REQUIRE(write_prediction(path, prediction).ok());
    const JobPrediction read = read_prediction(path).value().value();
    CHECK_FALSE(read.prior_only);
    CHECK(read.pilot_points == 8);
    CHECK(read.speeds == 2);
    REQUIRE(read.rounds.size() == 2);
    CHECK_FALSE(read.rounds[0].heights.has_value());
    CHECK(read.rounds[1].heights->high == 30);
    CHECK(read.rounds[1].loss.median == 3.25);
    CHECK(read.up_to(0) == nullptr);
    CHECK(read.up_to(3) == &read.rounds[0]);
    CHECK(read.up_to(9) == &read.rounds[1]);
    for (const char* text : {"", "{}", "[]", "{\"schema\": \"assay.prediction/v1\"}",
                             R"({"schema": "assay.prediction/v1", "prior_only": 1, "pilot_points": 0,
                                 "ledger_prices": 0, "speeds": 0, "rounds": []})",
                             R"({"schema": "assay.prediction/v1", "prior_only": true, "pilot_points": 0,
                                 "ledger_prices": 0, "speeds": 0, "rounds": [{"rounds": 0}]})"}) {
        std::ofstream(path) << text;
        INFO(text);
        CHECK_FALSE(read_prediction(path).ok());
    }
}

TEST_CASE("an outcome says whether it was within, and how far off the median") {
    const ForetoldNumber within = compare({8, 10, 12}, 11);
    CHECK(within.within);
    CHECK(within.off == Approx(0.1));
    const ForetoldNumber outside = compare({8, 10, 12}, 5);
    CHECK_FALSE(outside.within);
    CHECK(outside.off == Approx(-0.5));
}
