// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/documents.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "contracts/base/bytes.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint64_t kMaxText = std::uint64_t{8} << 30;

base::Failed<base::Error> bad_text(const std::filesystem::path& path, const std::string& what,
                                   std::string fix) {
    return base::fail(base::ErrorKind::kUsage, path.string() + " " + what, std::move(fix));
}

void add_plain(std::string_view text, std::string_view separator, std::vector<std::string>& out) {
    while (!text.empty()) {
        const std::size_t end = separator.empty() ? std::string_view::npos : text.find(separator);
        const std::string_view document = text.substr(0, end);
        if (!document.empty()) out.emplace_back(document);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + separator.size());
    }
}

base::Outcome<void> add_jsonl(const std::filesystem::path& path, std::string_view text,
                              std::vector<std::string>& out) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
        const std::string where = path.string() + ":" + std::to_string(number);
        ASSAY_ASSIGN(const nlohmann::json row, parse_json(line, where));
        if (!row.is_object() || !row.contains("text") || !row["text"].is_string()) {
            return base::fail(base::ErrorKind::kUsage, where + " has no \"text\" that is a text",
                              "write one JSON object per line, such as {\"text\": \"…\"}");
        }
        auto document = row["text"].get<std::string>();
        if (document.find('\0') != std::string::npos) {
            return base::fail(base::ErrorKind::kUsage, where + " holds a zero character", "remove it");
        }
        if (!document.empty()) out.push_back(std::move(document));
    }
    return {};
}

/// Where to end a block that would best end at `at`: after the line end before it, else between characters.
std::size_t cut_before(std::string_view text, std::size_t from, std::size_t at) {
    // Looks no further back than the block: a text without line ends would be read again for each block.
    const std::size_t line = text.substr(from, at - from).rfind('\n');
    if (line != std::string_view::npos) return from + line + 1;
    while (at > from + 1 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
    if ((static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U) return at;
    do {  // a block smaller than a character: to the end of that character
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U);
    return at;
}

}  // namespace

base::Outcome<std::vector<std::string>> read_documents(const PackOptions& options) {
    if (options.texts.empty()) {
        return base::fail(base::ErrorKind::kUsage, "no text was named", "name at least one UTF-8 text file");
    }
    std::vector<std::string> documents;
    for (const std::filesystem::path& path : options.texts) {
        ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxText));
        const std::string_view text = base::as_text(file);
        if (text.empty()) return bad_text(path, "is empty", "name a file that holds text");
        if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
            return bad_text(path, "is not text: byte " + std::to_string(zero) + " is zero",
                            "name a plain text file in UTF-8, not a binary one");
        }
        if (!base::is_utf8(text)) {
            return bad_text(path, "is not UTF-8", "convert it, for example with `iconv -f LATIN1 -t UTF-8`");
        }
        const bool jsonl = options.form == TextForm::kJsonl ||
                           (options.form == TextForm::kByName && path.extension() == ".jsonl");
        if (jsonl) {
            ASSAY_TRY(add_jsonl(path, text, documents));
        } else {
            add_plain(text, options.separator, documents);
        }
    }
    std::uint64_t bytes = 0;
    for (const std::string& document : documents) bytes += document.size();
    if (bytes < kMinimumText) {
        return bad_text(options.texts.front(),
                        "is too short: the text has " + std::to_string(bytes) + " bytes and at least " +
                            std::to_string(kMinimumText) + " are needed",
                        "use a longer text, or name several files");
    }
    return documents;
}

SplitTexts split_documents(const std::vector<std::string>& documents, std::uint32_t permille) {
    std::uint64_t total = 0;
    for (const std::string& document : documents) total += document.size();
    SplitTexts out;
    // Small texts get blocks small enough for about eight held-out ones.
    out.block_bytes = std::clamp<std::uint64_t>(total * permille / 8000, 256, 65536);
    const auto held_out = [permille](std::uint64_t block) {
        return ((block + 1) * permille + 500) / 1000 != (block * permille + 500) / 1000;
    };
    std::uint64_t before = 0;  // bytes of the documents before this one
    for (const std::string& document : documents) {
        const std::string_view text = document;
        std::size_t at = 0;
        std::size_t run = 0;  // start of the run that the next block may continue
        while (at < text.size()) {
            const std::uint64_t block = (before + at) / out.block_bytes;
            const std::uint64_t border = (block + 1) * out.block_bytes - before;
            const std::size_t end =
                border >= text.size() ? text.size() : cut_before(text, at, static_cast<std::size_t>(border));
            const bool kept = held_out(block);
            const bool same_next = end < text.size() && held_out((before + end) / out.block_bytes) == kept;
            if (!same_next) {
                (kept ? out.held_out : out.train).push_back(text.substr(run, end - run));
                run = end;
            }
            at = end;
        }
        before += text.size();
    }
    return out;
}

}  // namespace assay::trainer
