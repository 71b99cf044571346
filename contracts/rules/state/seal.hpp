// SPDX-License-Identifier: Apache-2.0
// The hash of every seal, for the subjects of the rules: H(tag, chain, fields…). Each part has its canonical
// encoding and so an unambiguous length. Internal to the rules.
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"

namespace assay::contracts {

template <class... Fields>
base::Hash256 seal_of(std::string_view tag, std::string_view chain, const Fields&... fields) {
    base::Encoder encoder;
    encoder(std::string(chain), fields...);
    return base::hash(tag, std::move(encoder).take());
}

}  // namespace assay::contracts
