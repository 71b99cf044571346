// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/codec.hpp"

namespace assay::base {

std::string_view to_text(DecodeError error) {
    switch (error) {
        case DecodeError::kTruncated: return "the bytes end inside a field";
        case DecodeError::kTrailingBytes: return "bytes are left after the last field";
        case DecodeError::kBadBool: return "a flag is neither 0 nor 1";
        case DecodeError::kBadEnum: return "an enumerator does not exist";
        case DecodeError::kTooLong: return "a length exceeds what follows";
        case DecodeError::kNotUtf8: return "a string is not UTF-8";
        case DecodeError::kUnsortedKeys: return "map keys are not strictly ascending";
        case DecodeError::kAmountTooLarge: return "an amount is above the maximum";
        case DecodeError::kBadVariant: return "the kind does not exist";
    }
    return "unknown decode error";
}

}  // namespace assay::base
