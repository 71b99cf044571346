// SPDX-License-Identifier: Apache-2.0
// The limits that a miner's owner sets: the hours in which it takes on work, and the cost of power. The pace
// that it measures is kept over restarts.
#include <algorithm>
#include <utility>

#include "contracts/rules/round/prices.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kNsInMs = 1'000'000;

std::string hours_text(std::uint64_t ms) {
    const std::uint64_t minutes = ms / 60'000;
    return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}
}  // namespace

bool MinerRole::takes_on_work() {
    if (!orders_.takes_on_work()) return false;
    const bool open = options_.hours.left_ms(parts().seams.clock.local_ms()) != 0;
    if (std::exchange(in_hours_, open) != open) {
        log().info(open ? "the hours of work have begun: asks for jobs"
                        : "outside of the hours of work (" + options_.hours.text() +
                              "): asks for nothing, and goes on with what it has");
    }
    return open;
}

bool MinerRole::takes_on(const contracts::Job& job) {
    if (!takes_on_work()) return false;
    const auto left = options_.hours.left_ms(parts().seams.clock.local_ms());
    const auto slot_ns = time_of(pace_for(pace_note(), job), job.slot_work);
    if (!left || !slot_ns || *slot_ns / kNsInMs <= *left) return true;
    if (too_long_.insert(job.id).second) {
        log().info("job " + job.id.brief() + " is not asked for a slot: one takes about " +
                   hours_text(*slot_ns / kNsInMs) + " here, and of the hours of work (" +
                   options_.hours.text() + ") " + hours_text(*left) + " are left");
    }
    return false;
}

MinerPace& MinerRole::pace_note() {
    if (own_pace_) return *own_pace_;
    auto kept = read_pace(parts().seams.disk);
    if (!kept.ok()) log().warn(kept.error().what + "; " + kept.error().fix);
    own_pace_ = kept.ok() ? std::move(kept).value() : MinerPace{};
    return *own_pace_;
}

void MinerRole::note_terms() {
    if (std::exchange(terms_noted_, true)) return;
    MinerPace& pace = pace_note();
    const auto power = options_.power ? options_.power : pace.power;
    if (pace.ask == options_.ask && pace.power == power) return;
    pace.ask = options_.ask;
    pace.power = power;
    keep_pace();
}

void MinerRole::keep_pace() {
    const auto written = write_pace(parts().seams.disk, pace_note());
    // No work depends on it.
    if (!written.ok()) log().warn("what was measured is not kept: " + written.error().what);
}

void MinerRole::measure_slot(const SlotWork& work, std::uint64_t ns) {
    const auto job = contracts::read_job(state(), work.job);
    if (!job) return;
    // With several devices at work the machine does as many slots in that time.
    add_slot(pace_note(), *job, ns / std::max<std::size_t>(1, parts().seams.worker.width()));
    keep_pace();
    say_what_it_brings(*job, contracts::price_of_slot(state(), *job, work.round, work.slot));
}

void MinerRole::say_what_it_brings(const contracts::Job& job, base::Amount price) {
    const auto hour = hour_of_work(pace_for(pace_note(), job), price, pace_note().power);
    if (!hour || !priced_.insert(job.id).second) return;
    std::string text = "job " + job.id.brief() + ": " + std::to_string(hour->units) +
                       " work units an hour bring " + base::to_text(hour->earned);
    if (hour->power) text += ", and their power costs " + base::to_text(*hour->power);
    if (hour->pays()) return log().info(text);
    log().warn(text + "; ask for more with --ask, or see whether --power-watts and --power-price are right");
}

}  // namespace assay::node
