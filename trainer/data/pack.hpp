// SPDX-License-Identifier: Apache-2.0
// Packs texts into token files and their manifest, for `assay data pack`. The same texts and options give the
// same bytes on every machine with the same Unicode tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/data/manifest.hpp"

namespace assay::trainer {

/// How texts are cut into documents.
enum class TextForm : std::uint8_t {
    kByName,  ///< JSONL when the name ends in .jsonl, plain otherwise
    kPlain,   ///< each file is one document, or several at `separator`
    kJsonl,   ///< one JSON object per line; its "text" field is the document
};

/// The fewest bytes of text that pack() accepts: less gives no useful held-out part.
inline constexpr std::uint64_t kMinimumText = 16384;

struct PackOptions {
    std::vector<std::filesystem::path> texts;  ///< in the order in which they are packed
    std::filesystem::path out;                 ///< folder for the four files; created when missing
    TextForm form = TextForm::kByName;
    std::string separator;                 ///< plain text: where a document ends; empty: never
    std::uint32_t vocabulary = 2048;       ///< tokens of the tokenizer to train, [257, 65536]
    std::filesystem::path tokenizer;       ///< a tokenizer.json to use as it is; empty: train one
    std::uint32_t held_out_permille = 50;  ///< share of the text kept for evaluation, [1, 500]
    std::string source;                    ///< empty: the file names
    std::string licence = "unknown";
};

/// Writes train.bin, held_out.bin, tokenizer.json and, last, manifest.json.
///
/// Split: the text is cut at line ends into blocks of at most 64 KiB (smaller for small texts), and blocks at
/// even distances are held out, so that both parts come from everywhere in the text. (A contiguous tail would
/// test on the last chapter.) The tokenizer is trained on the training part only, or read from a file. In
/// each stream Tokenizer::begin_of_document() precedes every document and every place where a block is
/// missing.
///
/// Errors, all before anything is written: kNotFound (no such file), kUsage (empty, binary, not UTF-8, too
/// short, too large, bad JSONL line, option out of range, a tokenizer that is not supported or has
/// no token that begins a document); then kFailure when the disk refuses.
base::Outcome<Manifest> pack(const PackOptions& options);

}  // namespace assay::trainer
