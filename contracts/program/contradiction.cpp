// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/contradiction.hpp"

namespace assay::program {

Hash256 misplaced_unit_root(const Hash256& boundary) {
    return base::hash("assay/unit/misplaced", boundary.view());
}

}  // namespace assay::program
