// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "node/cli/cli.hpp"

int main(int argc, char** argv) {
    return assay::node::run_cli({argv + 1, argv + argc}, std::cout, std::cerr);
}
