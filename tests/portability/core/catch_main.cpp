// SPDX-License-Identifier: Apache-2.0
// main of a test binary that links no libsodium (tests/support/catch_main.cpp starts it).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
