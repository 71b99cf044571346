// SPDX-License-Identifier: Apache-2.0
// What is found and said of NVIDIA's cards, with a driver's library that is loaded as the real one is.
#include "trainer/devices/cards.hpp"
#include "trainer/devices/card_ways.hpp"

#include <cstdlib>
#include <fstream>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/trainer/devices/fake_cuda.hpp"
#include "trainer/cuda/card_budget.hpp"
#include "trainer/devices/devices.hpp"

namespace assay::trainer {

namespace {

constexpr CardBuild kWithKernels{.kernels = true, .runtime = 13000};

/// A machine with a bus, and perhaps a kernel module and the fake driver.
class FakeMachine {
public:
    /// `says`: as FAKE_CUDA has it; null: there is no library.
    explicit FakeMachine(const char* says) {
        std::filesystem::create_directories(places_.bus);
        if (says == nullptr) {
            places_.library = (folder_.path() / "libcuda.so.1").string();
        } else {
            ::setenv("FAKE_CUDA", says, 1);
        }
    }
    ~FakeMachine() { ::unsetenv("FAKE_CUDA"); }

    FakeMachine& plugged(const std::string& slot, const std::string& vendor, const std::string& kind) {
        std::filesystem::create_directories(places_.bus / slot);
        std::ofstream(places_.bus / slot / "vendor") << vendor << "\n";
        std::ofstream(places_.bus / slot / "class") << kind << "\n";
        return *this;
    }
    FakeMachine& with_module(const std::string& line) {
        std::ofstream(places_.module) << line << "\n";
        return *this;
    }
    [[nodiscard]] CardSurvey survey() const { return survey_cards(places_); }

private:
    test::TemporaryFolder folder_;
    CardPlaces places_{.library = (test::fake_cuda_folder() / "libcuda.so.1").string(),
                       .bus = folder_.path() / "bus",
                       .module = folder_.path() / "version"};
};

template <class Found>
std::string text_of(const base::Outcome<Found>& outcome) {
    REQUIRE_FALSE(outcome.ok());
    CHECK(outcome.error().kind == base::ErrorKind::kPreflight);
    CHECK_FALSE(outcome.error().fix.empty());
    return outcome.error().what + " | " + outcome.error().fix;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a machine without card and driver has neither, and says so of any card", "[trainer][cards]") {
    const FakeMachine machine(nullptr);
    const CardSurvey survey = machine.survey();
    CHECK(survey.on_bus == 0);
    CHECK_FALSE(survey.library);
    CHECK(survey.cards.empty());
    const std::string text = text_of(check_card(survey, kWithKernels, 0));
    CHECK(has(text, "cuda:0 is not there: this machine has no NVIDIA card on its PCI bus, and no driver"));
}

TEST_CASE("a card on the bus without a driver is counted, and the driver is what is missing",
          "[trainer][cards]") {
    FakeMachine machine(nullptr);
    machine.plugged("0000:01:00.0", "0x10de", "0x030000").plugged("0000:01:00.1", "0x10de", "0x040300");
    machine.plugged("0000:02:00.0", "0x10de", "0x030200").plugged("0000:00:02.0", "0x8086", "0x030000");
    const CardSurvey survey = machine.survey();
    CHECK(survey.on_bus == 2);  // not the sound of one, and not another maker's
    const std::string text = text_of(check_driver(survey, kWithKernels));
    CHECK(has(text, "NVIDIA's driver is missing: 2 cards on the PCI bus, since libcuda.so.1 is not there"));
    CHECK(has(text, "install NVIDIA's driver for CUDA 13.0 or newer"));
}

TEST_CASE("two cards are listed with what the driver says of them", "[trainer][cards]") {
    FakeMachine machine(test::kTwoCards.c_str());
    machine.with_module("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed Aug 27 2025");
    const CardSurvey survey = machine.survey();
    CHECK(survey.module == "580.82.07");
    CHECK(survey.cuda == 13000);
    CHECK(survey.start.empty());
    REQUIRE(survey.cards.size() == 2);
    CHECK(survey.cards[0].name == "NVIDIA H100 PCIe");
    CHECK(survey.cards[0].major == 9);
    CHECK(survey.cards[0].memory == std::uint64_t{81559} << 20);
    CHECK(survey.cards[1].minor == 5);
    for (const int number : {0, 1}) CHECK(check_card(survey, kWithKernels, number).ok());
}

TEST_CASE("a card that is not there is refused with the numbers that are", "[trainer][cards]") {
    const FakeMachine one(test::kOneCard.c_str());
    const std::string text = text_of(check_card(one.survey(), kWithKernels, 7));
    CHECK(has(text, "cuda:7 is not there: this machine has 1 card | use cuda:0"));
    const FakeMachine two(test::kTwoCards.c_str());
    CHECK(has(text_of(check_card(two.survey(), kWithKernels, 2)), "has 2 cards | use cuda:0 to cuda:1"));
}

TEST_CASE("a driver that runs an older CUDA than the build's is too old", "[trainer][cards]") {
    FakeMachine machine(test::kOldDriver.c_str());
    machine.with_module("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 2024");
    const std::string text = text_of(check_card(machine.survey(), kWithKernels, 0));
    CHECK(has(text,
              "NVIDIA's driver is too old: it runs CUDA up to 11.4 (driver 470.256.02), and this build "
              "needs 13.0"));
    CHECK(has(text, "install NVIDIA's driver for CUDA 13.0 or newer, or build with the older nvcc"));
    // Within one major version every driver runs every runtime.
    const FakeMachine minor("13000;0;NVIDIA H100 PCIe,9,0,81559");
    CHECK(check_card(minor.survey(), {.kernels = true, .runtime = 13010}, 0).ok());
}

TEST_CASE("a driver that does not start, or finds nothing, is told by its own word", "[trainer][cards]") {
    const FakeMachine unknown("13000;999");
    CHECK(has(text_of(check_driver(unknown.survey(), kWithKernels)),
              "NVIDIA's driver does not start: CUDA_ERROR_UNKNOWN | load its kernel module"));
    const FakeMachine unnamed("13000;46");
    CHECK(has(text_of(check_driver(unnamed.survey(), kWithKernels)), "does not start: CUDA error 46"));
    const FakeMachine empty("13000;100");  // CUDA_ERROR_NO_DEVICE
    CHECK(has(text_of(check_driver(empty.survey(), kWithKernels)), "NVIDIA's driver finds no card"));
}

TEST_CASE("a card without the instruction is refused by its compute capability", "[trainer][cards]") {
    const FakeMachine machine(test::kOldCard.c_str());
    const std::string text = text_of(check_card(machine.survey(), kWithKernels, 0));
    CHECK(has(text, "cuda:0 (Tesla V100-SXM2-16GB) has compute capability 7.0, and the kernels need 7.5"));
}

TEST_CASE("a card that a build has no machine code for needs a driver that can compile the kernels",
          "[trainer][cards]") {
    const auto check = [](const char* card, std::string_view architectures) {
        const FakeMachine machine((std::string("13000;0;NVIDIA RTX,") + card + ",32607").c_str());
        return check_card(machine.survey(),
                          {.kernels = true, .runtime = 13050, .architectures = architectures}, 0);
    };
    constexpr std::string_view kAll = "75 80 90a 100 120";
    for (const char* card : {"7,5", "8,0", "8,6", "8,9", "9,0", "10,0", "10,3", "12,0"}) {
        INFO(card);
        CHECK(check(card, kAll).ok());
    }
    CHECK(
        has(text_of(check("12,0", "75 80 90a 100")),
            "cuda:0 (NVIDIA RTX) has compute capability 12.0, for which this build has no machine code; the "
            "driver would have to compile the kernels, and runs CUDA up to 13.0, where they need 13.5 | "
            "install NVIDIA's driver for CUDA 13.5 or newer, or build with -DASSAY_CUDA_ARCHITECTURES=120"));
    CHECK(has(text_of(check("8,0", "90a")), "compute capability 8.0, for which this build has no kernels"));
    CHECK(has(text_of(check("9,0", "100")), "build with -DASSAY_CUDA_ARCHITECTURES=90a"));
    // A driver as new as the compiler compiles PTX, where there is some.
    const FakeMachine newer("13050;0;NVIDIA RTX,12,0,32607");
    const auto with = [&](std::string_view architectures) {
        return check_card(newer.survey(), {.kernels = true, .runtime = 13050, .architectures = architectures},
                          0);
    };
    CHECK(with("80").ok());
    CHECK_FALSE(with("75 90a").ok());
}

TEST_CASE("a build without kernels for cards says so once everything else is there", "[trainer][cards]") {
    const FakeMachine machine(test::kOneCard.c_str());
    const std::string text = text_of(check_card(machine.survey(), {}, 0));
    CHECK(has(text, "cuda:0: this build has no kernels for cards | build with cmake -DASSAY_CUDA=ON"));
}

TEST_CASE("what a card does without is named by a list of known words", "[trainer][cards]") {
    const auto ways = [](std::string_view list) { return parse_card_without(list).value(); };
    CHECK((ways("").fused_attention && ways("").cut_products));
    CHECK((!ways("fused-attention").fused_attention && ways("fused-attention").cut_products));
    CHECK((ways("cut-products").fused_attention && !ways("cut-products").cut_products));
    CHECK((!ways("cut-products,fused-attention").fused_attention &&
           !ways("fused-attention,cut-products").cut_products));
    for (const char* list :
         {"fused", "fused-attention, cut-products", ",", "cut-products,,fused-attention"}) {
        INFO(list);
        REQUIRE_FALSE(parse_card_without(list).ok());
        CHECK(parse_card_without(list).error().kind == base::ErrorKind::kUsage);
    }
}

TEST_CASE("a card's device is called by a number and nothing else", "[trainer][cards]") {
    CHECK(card_number("cuda:0") == 0);
    CHECK(card_number("cuda:17") == 17);
    for (const char* word :
         {"cuda", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "cuda: 1", "cuda:12345", "CUDA:0"}) {
        INFO(word);
        CHECK_FALSE(card_number(word).has_value());
    }
    CHECK(cuda_text(13000) == "13.0");
    CHECK(cuda_text(11040) == "11.4");
}

TEST_CASE("opening a card that cannot be used gives what is missing on this machine", "[trainer][cards]") {
    const CardSurvey survey = survey_cards();
    const auto opened = open_device({.name = "cuda:9999"});
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().what == check_card(survey, card_build(), 9999).error().what);
}

TEST_CASE("a card's budget is what its owner gave, or what is free, and never what it has not",
          "[trainer][cards]") {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    const auto budget = [](std::uint64_t given, std::uint64_t free) {
        return cuda::card_budget("cuda:0", given * kGiB, free * kGiB, 16 * kGiB);
    };
    CHECK(budget(0, 12).value() == 11 * kGiB);
    CHECK(budget(12, 12).value() == 12 * kGiB);
    CHECK(text_of(budget(13, 12)) ==
          "cuda:0 has 12.0 GiB free, of 16.0 GiB, less than the 13.0 GiB given | end what else uses the "
          "card, or "
          "lower --device-memory");
    CHECK(text_of(budget(17, 12)) ==
          "cuda:0 has 16.0 GiB, less than the 17.0 GiB given | lower --device-memory");
    CHECK(has(text_of(budget(0, 1)), "cuda:0 has 1.0 GiB free, of 16.0 GiB | "));
}

}  // namespace assay::trainer
