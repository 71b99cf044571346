// SPDX-License-Identifier: Apache-2.0
// The one place where Catch2 2 (Debian 12) and 3 (Ubuntu 24.04) differ.
#pragma once

#ifdef ASSAY_CATCH2_V2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
#endif
