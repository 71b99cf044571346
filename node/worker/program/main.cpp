// SPDX-License-Identifier: Apache-2.0
// assay-worker: trains and replays for the program that started it. No keys, no network, no files of its own.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/sign.hpp"
#include "contracts/worker/self_test.hpp"
#include "node/worker/program/bench_ours.hpp"
#include "node/worker/program/confine.hpp"
#include "node/worker/program/job.hpp"
#include "node/worker/program/pacer.hpp"
#include "node/worker/program/self_test.hpp"
#include "node/worker/program/server.hpp"
#include "trainer/devices/card_ways.hpp"
#include "trainer/devices/cards.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/step/memory_budget.hpp"

namespace {

using namespace assay;

/// The number under which `assay` passes the socket (node/worker).
constexpr int kSocket = 3;

/// `device`: its name.
base::Outcome<verifier::WorkerServerOptions> read_options(const std::string& device) {
    const std::string restriction = trainer::targets_from_environment();
    verifier::WorkerServerOptions options;
    options.runner.device.name = device;
    ASSAY_ASSIGN(options.runner.device.cpu.target, trainer::choose_target(restriction));
    ASSAY_ASSIGN(options.runner.device.threads, trainer::threads_from_environment());
    ASSAY_ASSIGN(options.duty, verifier::duty_from_environment());
    ASSAY_ASSIGN(options.runner.memory, trainer::memory_from_environment());
    ASSAY_ASSIGN(options.runner.device.memory, trainer::device_memory_from_environment());
    ASSAY_ASSIGN(options.runner.device.ways, trainer::card_ways_from_environment());
    ASSAY_ASSIGN(options.runner.device.fault, trainer::device_fault_from_environment(device));
    for (const std::string& target : trainer::machine_targets()) {
        if (restriction.empty() || ("," + restriction + ",").find("," + target + ",") != std::string::npos) {
            options.targets.push_back(target);
        }
    }
    return options;
}

/// A device that is not there, or does not compute as the law says, is refused here.
base::Outcome<verifier::WorkerServerOptions> open_options(const std::string& device) {
    ASSAY_ASSIGN(auto options, read_options(device));
    ASSAY_TRY(trainer::open_device(options.runner.device));
    return options;
}

// The number of a descriptor that is there in any case: nothing else stays open.
constexpr int kNoSocket = STDERR_FILENO;

base::Outcome<worker::Confinement> confine_for(const std::string& device, int socket) {
    // The compiler of a card's driver keeps what it makes in the home, which is not the worker's.
    if (trainer::card_number(device)) static_cast<void>(::setenv("CUDA_CACHE_DISABLE", "1", 1));
    return worker::confine(socket, worker::file_rules(device), worker::call_filter(device));
}

template <class T>
int tell(const base::Outcome<T>& failed) {
    std::fprintf(stderr, "assay-worker: %s\n%s\n", failed.error().what.c_str(), failed.error().fix.c_str());
    return static_cast<int>(failed.error().kind);
}

// A small model's states and their encodings are megabytes that come and go with every segment: kept in the
// heap, they are not zeroed page by page each time. What a large model holds for one answer goes back. Where
// the C library refuses, it only takes longer.
void keep_freed_memory() {
    constexpr int kMiB = 1 << 20;
    if (::mallopt(M_MMAP_THRESHOLD, 32 * kMiB) == 1) ::mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
}

int self_test(const std::string& device) {
    // As a worker that serves: what such a one cannot reach is no device of a miner.
    if (const auto confined = confine_for(device, kNoSocket); !confined.ok()) return tell(confined);
    const auto options = read_options(device);
    if (!options.ok()) return tell(options);
    if (const auto opened = trainer::open_device(verifier::self_test_options(options->runner).device);
        !opened.ok())
        return tell(opened);
    const auto root = verifier::self_test_root(options->runner);
    if (!root.ok()) return tell(root);
    const bool sound = *root == worker::self_test_golden();
    std::printf("%s %s\n", root->hex().c_str(), sound ? "ok" : "differs");
    if (!sound) std::printf("%s\n", verifier::self_test_difference(options->runner).c_str());
    return sound ? 0 : static_cast<int>(base::ErrorKind::kPreflight);
}

// A line for the driver and one for each card, fields between tabs (node/worker/worker_report.hpp reads
// them).
int cards() {
    const trainer::CardSurvey survey = trainer::survey_cards();
    const trainer::CardBuild build = trainer::card_build();
    const auto print = [](std::vector<std::string> fields, const base::Outcome<void>& usable) {
        fields.push_back(usable.ok() ? "" : usable.error().what);
        fields.push_back(usable.ok() ? "" : usable.error().fix);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            // A name is the driver's.
            std::replace_if(
                fields[i].begin(), fields[i].end(), [](unsigned char c) { return c < ' '; }, ' ');
            std::printf("%s%s", i == 0 ? "" : "\t", fields[i].c_str());
        }
        std::printf("\n");
    };
    print({"driver", std::to_string(survey.on_bus), survey.module,
           survey.cuda == 0 ? "" : trainer::cuda_text(survey.cuda), build.kernels ? "kernels" : "none"},
          trainer::check_driver(survey, build));
    for (std::size_t i = 0; i < survey.cards.size(); ++i) {
        const trainer::FoundCard& card = survey.cards[i];
        print({"card", std::to_string(i), card.name,
               std::to_string(card.major) + "." + std::to_string(card.minor), std::to_string(card.memory)},
              trainer::check_card(survey, build, static_cast<int>(i)));
    }
    return 0;
}

// What a worker on this device lacks of its confinement here: a line each, fields between tabs
// (node/worker/worker_report.hpp reads them).
int confinement(const std::string& device) {
    const auto held = confine_for(device, kNoSocket);
    if (!held.ok()) return tell(held);
    for (const base::Error& lack : worker::lacks_of(*held))
        std::printf("%s\t%s\n", lack.what.c_str(), lack.fix.c_str());
    return 0;
}

int bench(const std::string& device) {
    const auto options = open_options(device);
    if (!options.ok()) {
        std::printf("error %s\n", options.error().what.c_str());
        return static_cast<int>(options.error().kind);
    }
    verifier::serve_bench(stdin, stdout, verifier::our_cases(options->runner.device));
    return 0;
}

int serve(const std::string& device) {
    keep_freed_memory();
    worker::Descriptor socket(kSocket);
    const auto refuse = [&](const auto& failed) {
        worker::Channel channel(std::move(socket));
        static_cast<void>(channel.send({0, verifier::to_refusal(failed.error()), {}}));
        return static_cast<int>(failed.error().kind);
    };
    if (const auto confined = confine_for(device, kSocket); !confined.ok()) return refuse(confined);
    const auto options = open_options(device);
    if (!options.ok()) return refuse(options);
    return verifier::serve(std::move(socket), *options);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    // Ctrl-C in a terminal goes to the whole group; the role decides when its worker ends.
    std::signal(SIGINT, SIG_IGN);
    if (!base::start_crypto()) return 1;
    // As nvidia-smi numbers them: by itself the driver begins with the quickest.
    static_cast<void>(::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0));
    const bool names_device = argc == 4 && std::string_view(argv[2]) == "--device";
    const std::string_view word = argc == 2 || names_device ? argv[1] : "";
    const std::string device = names_device ? argv[3] : trainer::device_from_environment();
    if (word == "--self-test") return self_test(device);
    if (word == "--serve") return serve(device);
    if (word == "--bench") return bench(device);
    if (word == "--confinement") return confinement(device);
    if (word == "--cards" && argc == 2) return cards();
    std::fputs(
        "assay-worker is started by assay, which talks to it over a socket. By itself it can do four "
        "things:\n"
        "  assay-worker --cards        list NVIDIA's driver and cards, and what is missing to use them\n"
        "  assay-worker --self-test    compute a tiny training step and compare its bits\n"
        "  assay-worker --bench        time what lines on stdin name; see node/worker/program/bench.hpp\n"
        "  assay-worker --confinement  tell what this machine refuses of a worker's confinement\n"
        "the last three on a device of this machine: --device NAME after it (else ASSAY_TARGETS' one, else "
        "cpu)\n",
        stderr);
    return 2;
}
