// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "node/key/key_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
constexpr KeyFileOptions kPlay{.role = KeyRole::kNode, .protection = KeyProtection::kInteractive};

void damage(const fs::path& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
}

TEST_CASE("a key comes back out of its file, which only its owner can read") {
    const test::TemporaryFolder folder;
    const auto path = folder / "node.key";
    const Passphrase passphrase("correct horse");
    const auto made = create_key_file(path, passphrase, kPlay).value();
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    REQUIRE((status.st_mode & 0777U) == 0600);
    REQUIRE(open_key_file(path, passphrase, KeyRole::kNode)->public_key() == made.public_key());
    REQUIRE(inspect_key_file(path)->public_key == made.public_key());
    REQUIRE(create_key_file(path, passphrase, kPlay).error().kind ==
            base::ErrorKind::kKey);  // never overwritten
    REQUIRE(open_key_file(path, passphrase)->public_key() == made.public_key());
    const auto wrong_role = open_key_file(path, passphrase, KeyRole::kOwner);
    REQUIRE(wrong_role.error().what.find("role 'node'") != std::string::npos);
}

TEST_CASE("every fault of a key file is named, with a fix") {
    struct Row {
        const char* name;
        std::function<void(const fs::path&)> spoil;
        base::ErrorKind kind;
        const char* says;
    };
    const std::vector<Row> rows = {
        {"missing", [](const fs::path& p) { fs::remove(p); }, base::ErrorKind::kNotFound,
         "there is no key file"},
        {"group may read", [](const fs::path& p) { chmod(p.c_str(), 0640); }, base::ErrorKind::kKey,
         "group or others"},
        {"others may read", [](const fs::path& p) { chmod(p.c_str(), 0604); }, base::ErrorKind::kKey,
         "group or others"},
        {"symbolic link",
         [](const fs::path& p) {
             fs::rename(p, p.string() + ".real");
             fs::create_symlink(p.string() + ".real", p);
         },
         base::ErrorKind::kKey, "symbolic link"},
        {"a folder",
         [](const fs::path& p) {
             fs::remove(p);
             fs::create_directory(p);
         },
         base::ErrorKind::kKey, "not a regular file"},
        {"empty", [](const fs::path& p) { fs::resize_file(p, 0); }, base::ErrorKind::kKey, "not a key file"},
        {"cut short", [](const fs::path& p) { fs::resize_file(p, 80); }, base::ErrorKind::kKey, "damaged"},
        {"longer", [](const fs::path& p) { fs::resize_file(p, 500); }, base::ErrorKind::kKey, "damaged"},
        {"another format", [](const fs::path& p) { damage(p, 0); }, base::ErrorKind::kKey, "not a key file"},
        {"another version", [](const fs::path& p) { damage(p, 6); }, base::ErrorKind::kKey, "version 0"},
        {"unknown cost", [](const fs::path& p) { damage(p, 9); }, base::ErrorKind::kKey, "damaged"},
        {"salt changed", [](const fs::path& p) { damage(p, 30); }, base::ErrorKind::kKey, "wrong passphrase"},
        {"public key changed", [](const fs::path& p) { damage(p, 70); }, base::ErrorKind::kKey,
         "wrong passphrase"},
        {"ciphertext changed", [](const fs::path& p) { damage(p, 110); }, base::ErrorKind::kKey,
         "wrong passphrase"},
    };
    const test::TemporaryFolder folder;
    const Passphrase passphrase("p");
    int number = 0;
    for (const Row& row : rows) {
        INFO(row.name);
        const auto path = folder / ("key" + std::to_string(number++));
        REQUIRE(create_key_file(path, passphrase, kPlay).ok());
        row.spoil(path);
        const auto opened = open_key_file(path, passphrase);
        REQUIRE_FALSE(opened.ok());
        CHECK(opened.error().kind == row.kind);
        CHECK(opened.error().what.find(row.says) != std::string::npos);
        CHECK_FALSE(opened.error().fix.empty());
    }
}

TEST_CASE("a wrong passphrase opens nothing") {
    const test::TemporaryFolder folder;
    const auto path = folder / "k";
    REQUIRE(create_key_file(path, Passphrase("right"), kPlay).ok());
    REQUIRE(open_key_file(path, Passphrase("wrong")).error().kind == base::ErrorKind::kKey);
}

TEST_CASE("a passphrase is the first line of a file or a descriptor") {
    const test::TemporaryFolder folder;
    const auto file = folder / "pass";
    std::ofstream(file) << "first line\nsecond\n";
    chmod(file.c_str(), 0600);
    REQUIRE(read_passphrase({.fd = {}, .file = file}, PromptKind::kOpen)->text() == "first line");
    chmod(file.c_str(), 0644);
    REQUIRE(read_passphrase({.fd = {}, .file = file}, PromptKind::kOpen).error().kind ==
            base::ErrorKind::kKey);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], "from fd\nrest", 12) == 12);
    REQUIRE(read_passphrase({.fd = ends[0], .file = {}}, PromptKind::kOpen)->text() == "from fd");
    close(ends[1]);
    REQUIRE(read_passphrase({.fd = ends[0], .file = {}}, PromptKind::kOpen)->text() == "rest");
    REQUIRE_FALSE(read_passphrase({.fd = ends[0], .file = {}}, PromptKind::kOpen).ok());  // empty
    close(ends[0]);
}

TEST_CASE("a passphrase has 1024 bytes at most, wherever it comes from") {
    const test::TemporaryFolder folder;
    const auto file = folder / "pass";
    for (const std::size_t size : {std::size_t{1024}, std::size_t{1025}}) {
        INFO(size << " bytes");
        const std::string words(size, 'x');
        std::ofstream(file) << words << "\n";
        chmod(file.c_str(), 0600);
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(ends[1], words.data(), size) == static_cast<ssize_t>(size));
        close(ends[1]);
        for (const PassphraseSource& source :
             {PassphraseSource{.fd = {}, .file = file}, PassphraseSource{.fd = ends[0], .file = {}}}) {
            const auto read = read_passphrase(source, PromptKind::kOpen);
            REQUIRE(read.ok() == (size == 1024));
            if (read.ok()) REQUIRE(read->text() == words);
            if (!read.ok()) REQUIRE(read.error().kind == base::ErrorKind::kKey);
        }
        close(ends[0]);
    }
}

}  // namespace
}  // namespace assay::node
