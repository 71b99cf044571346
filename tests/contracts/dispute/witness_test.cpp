// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/dispute/game.hpp"
#include "tests/support/catch.hpp"
