// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/clock.hpp"

#include <chrono>

namespace assay::ledger {

namespace {
template <class C>
std::uint64_t now_ms() {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    return static_cast<std::uint64_t>(duration_cast<milliseconds>(C::now().time_since_epoch()).count());
}
}  // namespace

std::uint64_t SystemEngineClock::monotonic_ms() { return now_ms<std::chrono::steady_clock>(); }
std::uint64_t SystemEngineClock::wall_ms() { return now_ms<std::chrono::system_clock>(); }

}  // namespace assay::ledger
