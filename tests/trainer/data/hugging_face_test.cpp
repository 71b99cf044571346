// SPDX-License-Identifier: Apache-2.0
// Tokenizers that Hugging Face `tokenizers` made, read, used and written here, with that library as the judge
// (tests/tools/tokenizers_check.py).
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/venv_python.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/tokenizer_file.hpp"

using namespace assay;
using namespace assay::trainer;
namespace fs = std::filesystem;

namespace {

int run_check(const std::string& mode, const std::string& folder) {
    const std::string script =
        std::string(std::getenv("ASSAY_SOURCE_DIR")) + "/tests/tools/tokenizers_check.py";
    const std::string python = test::venv_python().string();
    return std::system(
        ("PYTHONDONTWRITEBYTECODE=1 '" + python + "' '" + script + "' " + mode + " '" + folder + "'")
            .c_str());
}

/// What stands where the ids first differ; empty when they are the same. Texts have thousands of ids.
std::string first_difference(const Tokenizer& tokenizer, const std::vector<std::uint32_t>& ours,
                             const std::vector<std::uint32_t>& theirs) {
    const auto [a, b] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
    if (a == ours.end() && b == theirs.end()) return {};
    const auto around = [&](const std::vector<std::uint32_t>& ids, auto at) {
        const auto begin = at - std::min<std::ptrdiff_t>(at - ids.begin(), 8);
        const auto end = at + std::min<std::ptrdiff_t>(ids.end() - at, 8);
        std::string text;
        for (const std::uint32_t id : std::vector<std::uint32_t>(begin, end)) {
            text += (text.empty() ? "" : "|") + *tokenizer.decode(std::vector<std::uint32_t>{id});
        }
        return text;
    };
    return "ours " + around(ours, a) + ", theirs " + around(theirs, b);
}

std::string hex(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    return out;
}

void check_cases(const Tokenizer& tokenizer, const fs::path& file) {
    std::ifstream stream(file);
    const nlohmann::json cases = nlohmann::json::parse(stream);
    REQUIRE(cases.size() > 30);
    for (const auto& row : cases) {
        const auto text = row["text"].get<std::string>();
        INFO(file << ": " << text.substr(0, 200));
        const auto ids = tokenizer.encode(text, SpecialText::kRecognised);
        const auto plain = tokenizer.encode(text, SpecialText::kOrdinary);
        REQUIRE((ids.ok() && plain.ok()));
        const auto wanted = row["ids"].get<std::vector<std::uint32_t>>();
        const auto wanted_plain = row["plain_ids"].get<std::vector<std::uint32_t>>();
        CHECK(first_difference(tokenizer, *ids, wanted) == "");
        CHECK(first_difference(tokenizer, *plain, wanted_plain) == "");
        const auto decoded = tokenizer.decode(*ids);
        REQUIRE(decoded.ok());
        CHECK((hex(*decoded) == row["decoded"].get<std::string>()));
    }
}

void check_sweep(const Tokenizer& tokenizer, const fs::path& file) {
    std::ifstream stream(file);
    const nlohmann::json rows = nlohmann::json::parse(stream);
    REQUIRE(rows.size() > 40);
    for (const auto& row : rows) {
        const auto ids = tokenizer.encode(row[0].get_ref<const std::string&>());
        REQUIRE(ids.ok());
        CHECK(first_difference(tokenizer, *ids, row[1].get<std::vector<std::uint32_t>>()) == "");
    }
}

}  // namespace

TEST_CASE(
    "every kind of tokenizer gives the ids and the text of Hugging Face tokenizers, and is written back") {
    const test::TemporaryFolder folder;
    const fs::path root = fs::path(folder / "kinds");
    fs::create_directories(root);
    REQUIRE(run_check("make", root.string()) == 0);
    std::set<std::string> kinds;
    int swept = 0;
    for (const auto& entry : fs::directory_iterator(root)) {
        const fs::path kind = entry.path();
        kinds.insert(kind.filename().string());
        INFO(kind);
        const auto tokenizer = read_tokenizer(kind / "tokenizer.json");
        if (!tokenizer.ok()) FAIL(tokenizer.error().what);
        check_cases(*tokenizer, kind / "cases.json");
        if (fs::exists(kind / "sweep.json")) {
            check_sweep(*tokenizer, kind / "sweep.json");
            ++swept;
        }
        const std::string ours = tokenizer_to_json(*tokenizer);
        REQUIRE(write_file(kind / "ours.json", base::as_bytes(ours)).ok());
        const auto back = tokenizer_from_json(ours);
        REQUIRE(back.ok());
        CHECK(back->tables() == tokenizer->tables());
    }
    CHECK(kinds.size() == 6);
    CHECK(swept == 2);
    CHECK(run_check("check", root.string()) == 0);
}
