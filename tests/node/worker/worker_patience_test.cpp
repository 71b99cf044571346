// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_patience.hpp"

#include "tests/support/catch.hpp"

using assay::node::WorkerPatience;
using assay::worker::FrameKind;
using namespace std::chrono_literals;

TEST_CASE(
    "a worker that trains may be silent for much longer than ever before, and never for less than the "
    "floor") {
    WorkerPatience patience(2min);
    patience.begin(FrameKind::kTrain);
    CHECK(patience.limit(FrameKind::kTrain) == 1h);  // nothing is known of a step
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 10ms);
    CHECK(patience.limit(FrameKind::kTrain) == 2min);
    patience.heard(FrameKind::kTrain, FrameKind::kBoundary, 1min);
    patience.heard(FrameKind::kTrain, FrameKind::kProgress, 1s);
    CHECK(patience.limit(FrameKind::kTrain) == 32min);
    patience.forget();
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
    patience.forget();
    CHECK(patience.limit(FrameKind::kReplay) == 1h);
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

TEST_CASE("pieces of other requests differ too much: they have an hour, each") {
    WorkerPatience patience(2min);
    for (const FrameKind request :
         {FrameKind::kInitial, FrameKind::kMerge, FrameKind::kRoot, FrameKind::kSample, FrameKind::kDescend,
          FrameKind::kDescendArray, FrameKind::kOpenJob}) {
        patience.begin(request);
        patience.heard(request, FrameKind::kPulse, 1s);
        patience.heard(request, FrameKind::kBaseState, 1s);
        CHECK(patience.limit(request) == 1h);
    }
}
