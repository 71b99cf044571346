// SPDX-License-Identifier: Apache-2.0
#include "node/roles/miner_power.hpp"

#include "tests/node/roles/quiet_ports.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;
using assay::test::MemoryDisk;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

contracts::JobTerms job_of(std::uint64_t slot_work) {
    contracts::JobTerms terms;
    terms.spec = tests::tiny_job().spec;
    terms.slot_work = slot_work;
    return terms;
}

}  // namespace

TEST_CASE("an hour of work brings its price, and costs what the power of an hour costs") {
    MinerPace pace;
    add_slot(pace, job_of(100), 10 * kSecond);
    REQUIRE(pace.classes.size() == 1);
    const auto free = hour_of_work(pace.classes[0], base::units(2), std::nullopt);
    REQUIRE(free.has_value());
    CHECK(free->units == 36'000);
    CHECK(free->earned == base::units(72'000));
    CHECK_FALSE(free->power.has_value());
    CHECK(free->pays());
    // 500 W for an hour at 0.30 ASY a kilowatt-hour.
    const PowerTerms power{.watts = 500, .price = base::units(300'000)};
    const auto hour = hour_of_work(pace.classes[0], base::units(2), power);
    CHECK(hour->power == base::units(150'000));
    CHECK_FALSE(hour->pays());
    CHECK(hour_of_work(pace.classes[0], base::units(5), power)->pays());
    CHECK_FALSE(hour_of_work(ClassPace{}, base::units(5), power).has_value());
}

TEST_CASE("what work costs in power goes by its time, and is rounded up") {
    MinerPace pace;
    add_slot(pace, job_of(100), 36 * kSecond);
    const ClassPace& own = pace.classes[0];
    CHECK(time_of(own, 50) == 18 * kSecond);
    const PowerTerms power{.watts = 1'000, .price = base::units(1'000'000)};
    CHECK(power_cost(power, own, 100) == base::units(10'000));
    CHECK(power_cost(power, own, 0) == base::units(0));
    CHECK(power_cost({.watts = 1, .price = base::units(1)}, own, 1) == base::units(1));
    CHECK_FALSE(power_cost(power, ClassPace{}, 100).has_value());
    // Neither product nor sum leaves its range.
    const ClassPace slow{.units = 1, .ns = UINT64_MAX};
    CHECK(time_of(slow, UINT64_MAX) == UINT64_MAX);
    const PowerTerms most{.watts = UINT32_MAX, .price = base::Amount::of(base::kAmountMax).value()};
    CHECK(power_cost(most, slow, UINT64_MAX) == base::Amount::of(base::kAmountMax).value());
}

TEST_CASE("a pace is that of the last hours, and each class has its own") {
    MinerPace pace;
    for (int i = 0; i < 50; ++i) add_slot(pace, job_of(100), 600 * kSecond);
    // The machine is twice as fast from now on.
    for (int i = 0; i < 200; ++i) add_slot(pace, job_of(100), 300 * kSecond);
    REQUIRE(pace.classes.size() == 1);
    const auto ns = time_of(pace.classes[0], 100);
    CHECK((*ns >= 300 * kSecond && *ns <= 310 * kSecond));
    add_slot(pace, job_of(10), kSecond);
    add_slot(pace, job_of(1'000), kSecond);
    REQUIRE(pace.classes.size() == 3);
    CHECK(pace_for(pace, job_of(12)).units == 10);
    CHECK_FALSE(pace_for(pace, job_of(1'000'000)).known());
    add_slot(pace, job_of(0), kSecond);
    add_slot(pace, job_of(10), 0);
    CHECK(pace.classes.size() == 3);
}

TEST_CASE("what a miner measured is read back, and other bytes are refused") {
    MinerPace pace{.ask = base::units(7), .power = PowerTerms{.watts = 3, .price = base::units(4)}};
    for (const std::uint64_t work : {10ULL, 100ULL, 1'000ULL}) add_slot(pace, job_of(work), kSecond);
    MemoryDisk notes;
    CHECK(read_pace(notes)->classes.empty());
    REQUIRE(write_pace(notes, pace).ok());
    const auto read = read_pace(notes);
    REQUIRE(read.ok());
    CHECK(base::encode(*read) == base::encode(pace));
    const base::Bytes whole = notes.files.at(std::string(kPaceNote));
    // No part of it is one, nor it with more, nor with classes in another order.
    for (std::size_t size = 0; size <= whole.size() + 1; ++size) {
        base::Bytes other = whole;
        other.resize(size);
        notes.files[std::string(kPaceNote)] = other;
        CHECK(read_pace(notes).ok() == (size == whole.size()));
    }
    std::swap(pace.classes[0], pace.classes[1]);
    notes.files[std::string(kPaceNote)] = base::encode(pace);
    const auto refused = read_pace(notes);
    REQUIRE_FALSE(refused.ok());
    CHECK_FALSE(refused.error().fix.empty());
    // Whatever is read is written the same again.
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned flip : {1U, 2U, 128U}) {
            base::Bytes other = whole;
            other[at] = static_cast<std::uint8_t>(other[at] ^ flip);
            notes.files[std::string(kPaceNote)] = other;
            if (const auto taken = read_pace(notes); taken.ok()) CHECK(base::encode(*taken) == other);
        }
    }
}
