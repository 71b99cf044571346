// SPDX-License-Identifier: Apache-2.0
// Reads the documents of texts and divides them into a training and a held-out part, for packing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "trainer/data/pack.hpp"

namespace assay::trainer {

/// Reads and checks every text of `options`; no document is empty. Errors as pack().
base::Outcome<std::vector<std::string>> read_documents(const PackOptions& options);

/// A run of text without a gap, from one document; views live as long as the documents.
struct SplitTexts {
    std::vector<std::string_view> train;
    std::vector<std::string_view> held_out;
    std::uint64_t block_bytes = 0;  ///< size at which blocks are cut
};

/// Cuts documents into blocks, at line ends (within a long line, between characters) near multiples of
/// block_bytes of the whole text. Of every 1000 blocks, `permille` are held out, at even distances.
/// Neighbouring blocks of the same part and document become one run.
SplitTexts split_documents(const std::vector<std::string>& documents, std::uint32_t permille);

}  // namespace assay::trainer
