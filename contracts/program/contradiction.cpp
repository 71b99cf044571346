// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/contradiction.hpp"

namespace assay::program {

Hash256 misplaced_unit_root(const Hash256& boundary) {
    return base::hash("assay/unit/misplaced", boundary.view());
}

Hash256 misnamed_unit_root(const Hash256& right_blob) {
    return base::hash("assay/unit/misnamed", right_blob.view());
}

}  // namespace assay::program
