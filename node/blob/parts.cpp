// SPDX-License-Identifier: Apache-2.0
#include "node/blob/parts.hpp"

#include "contracts/base/check.hpp"

namespace assay::node {

ChunkRange part_of(std::uint64_t chunks, const BlobShare& share) {
    ASSAY_CHECK(share.mine < share.of && chunks <= std::uint64_t{1} << 32);
    return {chunks * share.mine / share.of, chunks * (share.mine + 1) / share.of};
}

}  // namespace assay::node
