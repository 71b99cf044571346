// SPDX-License-Identifier: Apache-2.0
#include "node/worker/hang_detector.hpp"

#include "tests/support/catch.hpp"

using namespace assay::node;
using namespace std::chrono_literals;

TEST_CASE("a process hangs that uses the limit of processor time, however long that takes it") {
    HangDetector quick({.most = 5min, .idle = 5min}, 50ms);
    CHECK_FALSE(quick.hangs(4min));
    CHECK(quick.hangs(5min));

    HangDetector starved({.most = 5min, .idle = 5min}, 50ms);
    HangDetector::Duration used = 0ms;
    for (int look = 0; look < 100'000; ++look) CHECK_FALSE(starved.hangs(used += 1ms));
    CHECK(starved.hangs(5min));
}

TEST_CASE("a process hangs that uses no processor time at looks that make up the limit") {
    // A worker of 32 threads may use 32 s. Threads that all wait are seen after one.
    HangDetector detector({.most = 32s, .idle = 1s}, 100ms);
    CHECK_FALSE(detector.hangs(30s));
    for (int look = 1; look < 10; ++look) CHECK_FALSE(detector.hangs(30s));
    CHECK(detector.hangs(30s));
}

TEST_CASE("the least processor time begins the wait again") {
    HangDetector detector({.most = 1s, .idle = 1s}, 100ms);
    for (int look = 1; look < 10; ++look) CHECK_FALSE(detector.hangs(0ms));
    CHECK_FALSE(detector.hangs(1ns));
    for (int look = 1; look < 10; ++look) CHECK_FALSE(detector.hangs(1ns));
    CHECK(detector.hangs(1ns));
}
