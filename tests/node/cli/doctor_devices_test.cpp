// SPDX-License-Identifier: Apache-2.0
// What doctor says of cards and devices, as a person runs it: the driver is a library that the tests build,
// the device with other bits is cuda-host with a planted fault.
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/support/run_program.hpp"
#include "tests/trainer/devices/fake_cuda.hpp"

namespace assay::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Examined {
    int code = 0;
    nlohmann::json report;

    /// The check of this name.
    [[nodiscard]] nlohmann::json check(const std::string& name) const {
        for (const auto& one : report.at("checks")) {
            if (one.at("name") == name) return one;
        }
        FAIL("no check is called " << name << ": " << report.dump());
        return {};
    }
    [[nodiscard]] std::string found(const std::string& name) const { return check(name).at("found"); }
};

Examined examine(const std::vector<std::string>& words, const Environment& environment) {
    const Cli cli;
    std::vector<std::string> all{"doctor", "--home", cli.home().string(), "-o", "json"};
    all.insert(all.end(), words.begin(), words.end());
    const ProgramRun run = run_program(built_program_path("assay"), all, environment);
    INFO(run.out << run.err);
    return {run.code, nlohmann::json::parse(run.out)};
}

/// A machine whose driver says this.
Examined with_driver(const std::string& says, const std::vector<std::string>& words = {}) {
    return examine(words, {{"LD_LIBRARY_PATH", fake_cuda_folder().string()}, {"FAKE_CUDA", says}});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("doctor lists every card with its name, compute capability and memory") {
    const Examined two = with_driver(kTwoCards);
    const auto& cards = two.report.at("cards");
    REQUIRE(cards.size() == 2);
    CHECK(cards[0].at("device") == "cuda:0");
    CHECK(cards[0].at("name") == "NVIDIA H100 PCIe");
    CHECK(cards[0].at("compute_capability") == "9.0");
    CHECK(cards[0].at("memory_mib") == 81559);
    CHECK(cards[1].at("name") == "NVIDIA GeForce RTX 2080");
    CHECK(has(two.found("driver"), "CUDA up to 13.0") != has(two.found("driver"), "driver of CUDA 13.0"));
    // No card computes behind such a driver, in whatever build.
    for (const char* device : {"cuda:0", "cuda:1"}) {
        CHECK_FALSE(two.check(device).at("fix").get<std::string>().empty());
        CHECK(has(two.found(device), "compute capability "));
    }
    for (const auto& card : cards) CHECK(card.at("usable") == false);
}

TEST_CASE("cards have nvidia-smi's numbers, unless their owner wants the driver's own order") {
    const auto first = [](Environment more) {
        more.emplace_back("LD_LIBRARY_PATH", fake_cuda_folder().string());
        more.emplace_back("FAKE_CUDA", kTwoCards);
        more.emplace_back("FAKE_CUDA_QUICKEST_LAST", "1");
        return examine({}, more).report.at("cards")[0].at("name").get<std::string>();
    };
    CHECK(first({}) == "NVIDIA H100 PCIe");
    CHECK(first({{"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}}) == "NVIDIA GeForce RTX 2080");
}

TEST_CASE("a device that doctor is asked for and that is not there is a problem with a fix") {
    const Examined seven = with_driver(kOneCard, {"--device", "cuda:7"});
    CHECK(seven.code == 8);
    CHECK(seven.check("cuda:7").at("ok") == false);
    CHECK(seven.found("cuda:7") == "cuda:7 is not there: this machine has 1 card");
    CHECK(seven.check("cuda:7").at("fix") == "use cuda:0");
    const Examined old_card = with_driver(kOldCard, {"--device", "all"});
    CHECK(old_card.code == 8);
    CHECK(old_card.check("cuda:0").at("ok") == false);
    CHECK(has(old_card.found("cuda:0"), "compute capability 7.0, and the kernels need 7.5"));
    const Examined old_driver = with_driver(kOldDriver, {"--device", "cuda"});
    CHECK(old_driver.code == 8);
    CHECK(old_driver.check("driver").at("ok") == false);
    CHECK(has(old_driver.found("driver"), "NVIDIA's driver is too old: it runs CUDA up to 11.4"));
}

TEST_CASE("a machine that only has a processor is not told to have a card") {
    const Examined stuck = with_driver("13000;100");  // CUDA_ERROR_NO_DEVICE
    CHECK(stuck.report.at("cards").empty());
    if (!has(stuck.found("driver"), "on the PCI bus")) CHECK(stuck.check("driver").at("ok") == true);
}

TEST_CASE("doctor says what this machine refuses of a worker's confinement") {
    const Examined here = examine({}, {});
    CHECK(here.check("confinement").at("ok") == true);
    CHECK(has(here.found("confinement"), "the kernel refuses nothing of a worker's confinement") ==
          here.check("confinement").at("fix").get<std::string>().empty());
}

TEST_CASE("doctor names the operator in which a device leaves the law") {
    const std::vector<std::string> words{"--device", "cuda-host"};
    const Examined sound = examine(words, {});
    CHECK(sound.check("cuda-host").at("ok") == true);
    CHECK(has(sound.found("cuda-host"), "self-test gives the known bits, "));
    const Examined wrong = examine(words, {{"ASSAY_DEVICE_FAULT", "cuda-host wrong 17"}});
    CHECK(wrong.code == 8);
    CHECK(wrong.check("cuda-host").at("ok") == false);
    CHECK(has(wrong.found("cuda-host"), "operator h.1.attn.c_attn.forward of a step of gpt2 in f32 differs"));
    const Cli cli;
    CHECK(run_program(built_program_path("assay"),
                      {"doctor", "--home", cli.home().string(), "--device", "cpu,cpu"})
              .code == 2);
}

}  // namespace assay::test
