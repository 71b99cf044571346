// SPDX-License-Identifier: Apache-2.0
// golden_steps                    prints what tests/vectors/golden_steps.txt holds, by the reference machine
// golden_steps FILE               compares this build on this machine with FILE
// golden_steps FILE TARGET…       the same, and fails unless the machine has exactly these targets
#include <cstdio>
#include <string>
#include <vector>

#include "tests/portability/golden.hpp"
#include "trainer/host/targets.hpp"

int main(int count, char** words) {
    using namespace assay;
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.empty()) {
        for (const program::JobSpec& spec : portability::golden_jobs()) {
            for (const std::string& line : portability::reference_lines(spec))
                std::printf("%s\n", line.c_str());
        }
        return 0;
    }
    std::string targets;
    for (const std::string& word : trainer::machine_targets()) targets += (targets.empty() ? "" : " ") + word;
    std::string wanted;
    for (std::size_t i = 1; i < arguments.size(); ++i) wanted += (wanted.empty() ? "" : " ") + arguments[i];
    std::printf("targets of this machine: %s\n", targets.c_str());
    if (!wanted.empty() && wanted != targets) {
        std::printf("expected: %s\n", wanted.c_str());
        return 1;
    }
    return portability::check(portability::read_lines(arguments.front()), nullptr) ? 0 : 1;
}
