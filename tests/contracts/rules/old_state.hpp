// SPDX-License-Identifier: Apache-2.0
// tests/vectors/state_schema_N.txt: a whole state that the last program of schema N wrote. A job that ended,
// one in bidding with a sealed ask, and a running one: in its second round, with the merge sealed by two
// and opened by one, after a first round with a cheat and a withheld link. Chain "test-chain", parameters
// short_windows(). From schema 2 on the script is BusyMarket.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "contracts/rules/state/state.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

/// The file: `height N`, the three jobs by name, then a line `key value` in hexadecimal for each record.
struct OldState {
    MemoryState state;
    std::uint64_t height = 0;
    Hash256 ended;
    Hash256 running;
    Hash256 bidding;

    explicit OldState(int schema = 1) {
        const char* source = std::getenv("ASSAY_SOURCE_DIR");
        REQUIRE(source != nullptr);
        std::ifstream file(std::string(source) + "/tests/vectors/state_schema_" + std::to_string(schema) +
                           ".txt");
        REQUIRE(file.good());
        std::string word;
        file >> word >> height;
        for (Hash256* job : {&ended, &running, &bidding}) {
            file >> word >> word;
            *job = base::hash_from(base::from_hex(word).value());
        }
        std::string value;
        while (file >> word >> value) {
            state.put(base::from_hex(word).value(), value == "-" ? Bytes{} : base::from_hex(value).value());
        }
    }
};

}  // namespace assay::contracts::test
