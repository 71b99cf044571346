// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/model_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "contracts/program/tensors.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/tokenizer_file.hpp"

using namespace assay;
using namespace assay::trainer;
namespace fs = std::filesystem;

namespace {

struct Fixture {
    fs::path path = fs::temp_directory_path() / ("assay-model-" + std::to_string(::getpid()));
    ModelFolderOptions options;
    std::vector<float> parameters;
    Fixture() {
        fs::create_directories(path);
        const std::string_view none[] = {std::string_view()};
        options.config = {.layers = 1, .width = 8, .heads = 2, .context = 4, .vocabulary = 257};
        options.tokenizer_json = tokenizer_to_json(*train_tokenizer(none, 257));
        options.provenance = {"demo", "", "a text", "CC0-1.0", 2, 128};
        parameters.resize(program::parameter_count(options.config));
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = static_cast<float>(i) * 0.001F;
    }
    ~Fixture() { fs::remove_all(path); }
};

base::Bytes bytes_of(const fs::path& path) { return *read_file(path, 1 << 24); }

}  // namespace

TEST_CASE("a model folder reads back and is the same bytes twice") {
    const Fixture f;
    const auto root = write_model_folder(f.path / "m", f.options, f.parameters);
    REQUIRE(root.ok());
    REQUIRE(write_model_folder(f.path / "n", f.options, f.parameters).ok());
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());  // replaces its own kind
    const auto back = read_model_folder(f.path / "m");
    REQUIRE(back.ok());
    CHECK(back->parameters == f.parameters);
    CHECK(back->config == f.options.config);
    CHECK(back->provenance == f.options.provenance);
    CHECK(back->parameters_root == *root);
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(f.path / "m")) {
        CHECK(bytes_of(entry.path()) == bytes_of(f.path / "n" / entry.path().filename()));
        ++files;
    }
    CHECK(files == 8);
}

TEST_CASE("a job's name names a folder here, and no other") {
    CHECK(folder_of_job("first").value() == "first-model");
    CHECK(folder_of_job("my job 2.0").value() == "my job 2.0-model");
    for (const char* name : {"", "/srv/prod", "../prod", "a/b", "..", ".hidden", "--out"}) {
        INFO(name);
        const auto refused = folder_of_job(name);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().fix == "name the folder with --out");
    }
}

TEST_CASE("a folder of somebody's that lies where the old model would is not touched") {
    const Fixture f;
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    fs::create_directories(f.path / "m.old");
    std::ofstream(f.path / "m.old" / "notes") << "mine";
    const auto refused = write_model_folder(f.path / "m", f.options, f.parameters);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(refused.error().what.find("m.old exists and is not a model folder") != std::string::npos);
    CHECK(fs::exists(f.path / "m.old" / "notes"));
    CHECK(read_model_folder(f.path / "m").ok());
    // What a killed process of ours left there is.
    fs::remove_all(f.path / "m.old");
    fs::rename(f.path / "m", f.path / "m.old");
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    CHECK(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    CHECK_FALSE(fs::exists(f.path / "m.old"));
}

TEST_CASE("provenance names the parameters root; a folder with a root of an earlier law is refused as such") {
    const Fixture f;
    const auto root = write_model_folder(f.path / "m", f.options, f.parameters);
    REQUIRE(root.ok());
    const fs::path file = f.path / "m" / "assay.json";
    std::string text(base::as_text(bytes_of(file)));
    const auto replace = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        std::ofstream(file) << text;
    };
    CHECK(text.find("\"parameters_root\": \"" + root->hex() + "\"") != std::string::npos);
    CHECK(text.find("model_root") == std::string::npos);
    const std::string card(base::as_text(bytes_of(f.path / "m" / "README.md")));
    CHECK(card.find("parameters root") != std::string::npos);
    CHECK(card.find("model root") == std::string::npos);
    for (const auto& [from, to] : {std::pair("v3", "v2"), std::pair("v2", "v1")}) {
        replace(std::string("assay.model/") + from, std::string("assay.model/") + to);
        const auto refused = read_model_folder(f.path / "m");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find("its root is of an earlier law") != std::string::npos);
    }
    fs::remove(file);  // as the reason says
    const auto elsewhere = read_model_folder(f.path / "m");
    REQUIRE(elsewhere.ok());
    CHECK(elsewhere->parameters == f.parameters);
}

TEST_CASE("a folder says from which weights its job started, and nothing of the kind when from a seed") {
    Fixture f;
    const auto provenance = [&] { return bytes_of(f.path / "m" / "assay.json"); };
    const auto says_so = [&] {
        return base::as_text(provenance()).find("initial_blob") != std::string::npos;
    };
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    CHECK_FALSE(says_so());
    f.options.provenance.initial_blob = base::hash("assay/test", base::as_bytes("weights")).hex();
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    CHECK(says_so());
    CHECK(read_model_folder(f.path / "m")->provenance == f.options.provenance);
}

TEST_CASE("a pipe in the place of a file is refused at once, not waited for") {
    const Fixture f;
    for (const char* name : {"config.json", "tokenizer.json", "model.safetensors", "assay.json"}) {
        CAPTURE(name);
        const fs::path folder = f.path / "m";
        REQUIRE(write_model_folder(folder, f.options, f.parameters).ok());
        fs::remove(folder / name);
        REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
        const auto read = read_model_folder(folder);
        REQUIRE_FALSE(read.ok());
        CAPTURE(read.error().what);
        CHECK(read.error().kind == base::ErrorKind::kUsage);
        CHECK(read.error().what.find(std::string(name) + " is not a file") != std::string::npos);
        fs::remove_all(folder);
    }
}

TEST_CASE("a changed weight, a missing file and a stranger's folder are told apart") {
    const Fixture f;
    REQUIRE(write_model_folder(f.path / "m", f.options, f.parameters).ok());
    base::Bytes weights = bytes_of(f.path / "m" / "model.safetensors");
    weights.back() = static_cast<std::uint8_t>(weights.back() ^ 1U);
    REQUIRE(write_file(f.path / "m" / "model.safetensors", weights).ok());
    const auto changed = read_model_folder(f.path / "m");
    REQUIRE_FALSE(changed.ok());
    CHECK(changed.error().kind == base::ErrorKind::kVerification);
    fs::remove(f.path / "m" / "model.safetensors");
    CHECK(read_model_folder(f.path / "m").error().kind == base::ErrorKind::kNotFound);
    CHECK(read_model_folder(f.path / "none").error().kind == base::ErrorKind::kNotFound);
    fs::create_directories(f.path / "mine");
    REQUIRE(write_file(f.path / "mine" / "letter.txt", base::as_bytes("dear")).ok());
    const auto refused = write_model_folder(f.path / "mine", f.options, f.parameters);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(fs::exists(f.path / "mine" / "letter.txt"));
}
