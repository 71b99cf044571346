// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/exact/cpu/kernels.hpp"

namespace assay::trainer {

/// The definitions themselves.
const Kernels& scalar_kernels();

}  // namespace assay::trainer
