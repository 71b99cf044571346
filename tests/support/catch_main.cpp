// SPDX-License-Identifier: Apache-2.0
#ifdef ASSAY_CATCH2_V2
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

#include "contracts/base/sign.hpp"

int main(int argc, char** argv) {
    if (!assay::base::start_crypto()) return 1;
    return Catch::Session().run(argc, argv);
}
