// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_patience.hpp"

#include <string>
#include <utility>

#include "tests/support/catch.hpp"

using assay::node::WorkerPatience;
using assay::worker::FrameKind;
using namespace std::chrono_literals;

TEST_CASE("a worker that trains may be silent for much longer than ever before in its job") {
    WorkerPatience patience(2min);
    patience.open("1");
    patience.begin(FrameKind::kTrain);
    CHECK(patience.limit(FrameKind::kTrain) == 1h);  // nothing is known of a step
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 10ms);
    CHECK(patience.limit(FrameKind::kTrain) == 2min);  // the floor
    patience.heard(FrameKind::kTrain, FrameKind::kBoundary, 1min);
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 1s);
    CHECK(patience.limit(FrameKind::kTrain) == 32min);
}

TEST_CASE("long silences make a limit of an hour, or of twice their length") {
    WorkerPatience patience(2min);
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 10min);
    CHECK(patience.limit(FrameKind::kTrain) == 1h);
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 45min);
    CHECK(patience.limit(FrameKind::kTrain) == 90min);
}

TEST_CASE("each job has a limit of its own, which is known again when the job is opened again") {
    WorkerPatience patience(2min);
    patience.open("1");
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 10ms);
    patience.open("2");
    CHECK(patience.limit(FrameKind::kTrain) == 1h);
    patience.open("1");
    CHECK(patience.limit(FrameKind::kTrain) == 2min);
    for (int job = 3; job < 100; ++job) {
        patience.open(std::to_string(job));
        patience.heard(FrameKind::kTrain, FrameKind::kProgress, 10ms);
    }
    patience.open("1");  // of so many jobs nobody remembers the first
    CHECK(patience.limit(FrameKind::kTrain) == 1h);
}

TEST_CASE("replays and evaluations have a limit when one with pieces was answered") {
    WorkerPatience patience(2min);
    for (const auto& [request, answer] : {std::pair(FrameKind::kReplay, FrameKind::kReplayed),
                                          std::pair(FrameKind::kEvaluate, FrameKind::kEvaluated)}) {
        patience.begin(request);
        patience.heard(request, FrameKind::kPulse, 30s);  // files were read before
        CHECK(patience.limit(request) == 1h);
        patience.heard(request, FrameKind::kPulse, 1s);
        patience.heard(request, answer, 10s);
        CHECK(patience.limit(request) == 16min);
    }
}

TEST_CASE("what was refused, and a unit without steps, say nothing of how long a replay takes") {
    WorkerPatience patience(2min);
    patience.begin(FrameKind::kReplay);
    patience.heard(FrameKind::kReplay, FrameKind::kPulse, 1ms);
    patience.heard(FrameKind::kReplay, FrameKind::kRefusal, 1ms);
    CHECK(patience.limit(FrameKind::kReplay) == 1h);
    patience.begin(FrameKind::kReplay);
    patience.heard(FrameKind::kReplay, FrameKind::kReplayed, 1ms);
    CHECK(patience.limit(FrameKind::kReplay) == 1h);
}

TEST_CASE("pieces of other requests differ too much: they have an hour each") {
    WorkerPatience patience(2min);
    for (const auto& [request, answer] :
         {std::pair(FrameKind::kInitial, FrameKind::kBaseState),
          std::pair(FrameKind::kMerge, FrameKind::kBaseState),
          std::pair(FrameKind::kRoot, FrameKind::kRooted), std::pair(FrameKind::kSample, FrameKind::kSampled),
          std::pair(FrameKind::kDescend, FrameKind::kDescended),
          std::pair(FrameKind::kDescendArray, FrameKind::kDescended),
          std::pair(FrameKind::kOpenJob, FrameKind::kOpened)}) {
        patience.begin(request);
        patience.heard(request, FrameKind::kPulse, 1s);
        patience.heard(request, answer, 1s);
        CHECK(patience.limit(request) == 1h);
    }
}
