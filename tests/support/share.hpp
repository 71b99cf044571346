// SPDX-License-Identifier: Apache-2.0
// A sample of a property test, for emulated processors in `make test` (tests/portability; the whole is in
// `make portability`). The same cases each time: which ones follows from ASSAY_TEST_SHARE alone.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace assay::test {

/// One case in how many is tried: ASSAY_TEST_SHARE; 1, that is all of them, where it is not set or no number.
inline std::size_t share() {
    const char* text = std::getenv("ASSAY_TEST_SHARE");
    const unsigned long value = text == nullptr ? 1 : std::strtoul(text, nullptr, 10);
    return value == 0 ? 1 : value;
}

inline bool is_sample() { return share() > 1; }

/// Whether case `number` of a list is tried; the first always is.
inline bool is_tried(std::size_t number) { return number % share() == 0; }

/// Random repeats that are made of `all`, at least one.
inline int repeats(int all) {
    const int some = all / static_cast<int>(share());
    return some == 0 ? 1 : some;
}

}  // namespace assay::test
