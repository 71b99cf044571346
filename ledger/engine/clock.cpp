// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/clock.hpp"

#include <chrono>
#include <ctime>

namespace assay::ledger {

// Not the steady clock, which stands still while a machine is suspended: the wall clock would seem to jump.
std::uint64_t SystemEngineClock::monotonic_ms() {
    timespec now{};
    (void)::clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000 +
           static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

std::uint64_t SystemEngineClock::wall_ms() {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    return unix_ms(duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace assay::ledger
