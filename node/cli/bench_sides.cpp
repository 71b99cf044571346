// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_sides.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "node/runtime/process.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/host/targets.hpp"

namespace assay::node {

using base::Outcome;

namespace {

constexpr const char* kTorchStamp = "installed-requirements";

std::vector<std::string> allowed_targets(const std::string& restriction) {
    std::vector<std::string> targets = trainer::machine_targets();
    std::erase_if(targets, [&](const std::string& target) {
        return !restriction.empty() &&
               ("," + restriction + ",").find("," + target + ",") == std::string::npos;
    });
    return targets;
}

/// OpenBLAS and ATen each choose by processor unless they are told.
std::vector<std::pair<std::string, std::string>> instruction_set(const std::string& target) {
    if (target == "avx2" || target == "avxvnni") {
        return {{"OPENBLAS_CORETYPE", "Haswell"}, {"ATEN_CPU_CAPABILITY", "avx2"}};
    }
    if (target == "avx512" || target == "vnni" || target == "amx") {
        return {{"OPENBLAS_CORETYPE", "SkylakeX"}, {"ATEN_CPU_CAPABILITY", "avx512"}};
    }
    return {};
}

}  // namespace

std::filesystem::path peer_python(const std::filesystem::path& own, const std::string& stamp) {
    std::error_code error;
    if (const char* named = std::getenv("ASSAY_PEER_PYTHON"); named != nullptr && *named != '\0')
        return named;
    const std::filesystem::path venv = own.parent_path().parent_path().parent_path() / ".venv";
    if (!std::filesystem::exists(venv / stamp, error)) return {};
    return venv / "bin" / "python";
}

Outcome<BenchSides> BenchSides::of_this_machine() {
    BenchSides sides;
    const std::string restriction = trainer::targets_from_environment();
    ASSAY_TRY(trainer::choose_target(restriction));
    ASSAY_ASSIGN(sides.worker_, find_worker_program({}));
    ASSAY_ASSIGN(const auto own, own_program());
    sides.python_ = peer_python(own, kTorchStamp);
    const auto libtorch = own.parent_path() / "assay-libtorch-peer";
    std::error_code absent;
    if (std::filesystem::exists(libtorch, absent)) sides.libtorch_ = libtorch;
    sides.script_ = own.parent_path() / "assay-torch-peer.py";
    for (const std::string& target : allowed_targets(restriction)) {
        if (target != "scalar") sides.i16_.push_back({"i16", target});
        if (target == "avx512" || target == "avx2" || target == "neon") sides.f32_.push_back({"f32", target});
    }
    if (sides.f32_.empty()) {
        ASSAY_ASSIGN(const auto best, trainer::choose_target(restriction));
        sides.f32_.push_back({"f32", std::string(trainer::to_text(best))});
    }
    ASSAY_ASSIGN(const int threads, trainer::threads_from_environment());
    const bool named = std::getenv("ASSAY_THREADS") != nullptr;
    sides.threads_ = {static_cast<unsigned>(threads)};
    if (!named && std::thread::hardware_concurrency() >= 2) sides.threads_.push_back(2);
    return sides;
}

Outcome<BenchSides> BenchSides::of_device(const std::string& device, const std::string& memory) {
    BenchSides sides;
    ASSAY_ASSIGN(sides.worker_, find_worker_program({}));
    ASSAY_ASSIGN(const auto own, own_program());
    sides.python_ = peer_python(own, kTorchStamp);
    sides.script_ = own.parent_path() / "assay-torch-peer.py";
    sides.f32_ = {{"f32", device}};
    sides.i16_ = {{"i16", device}};
    sides.device_ = device;
    if (!memory.empty()) sides.device_environment_.emplace_back("ASSAY_DEVICE_MEMORY", memory);
    ASSAY_ASSIGN(const int threads, trainer::threads_from_environment());
    sides.threads_ = {static_cast<unsigned>(threads)};
    // Before anything is measured: a card that is not there has no rows.
    ASSAY_ASSIGN(
        auto child,
        BenchChild::start({sides.worker_, {"--bench", "--device", device}, sides.device_environment_}));
    if (const auto answered = child.ask("name", "name"); !answered.ok()) {
        return base::fail(base::ErrorKind::kPreflight,
                          "device " + device + " cannot be measured: " + answered.error().what,
                          "docs/gpu.md says what a card needs; without --device the processor is measured");
    }
    return sides;
}

BenchSide BenchSides::ours(const OurSide& side, unsigned threads, const std::string& verb,
                           const std::string& work) const {
    BenchSide one;
    one.key = side.profile + " " + side.target + " " + std::to_string(threads);
    one.program = {worker_, {"--bench"}, tuned_environment(threads)};
    if (device_.empty()) {
        one.program.environment.emplace_back("ASSAY_TARGETS", side.target);
    } else {
        one.program.arguments = {"--bench", "--device", device_};
        one.program.environment.insert(one.program.environment.end(), device_environment_.begin(),
                                       device_environment_.end());
    }
    one.line = verb + " " + side.profile + " " + work;
    return one;
}

BenchSide BenchSides::libtorch(const std::string& target, unsigned threads, const std::string& verb,
                               const std::string& work) const {
    BenchSide one;
    one.key = "LibTorch fp32, " + target + " " + std::to_string(threads);
    one.line = verb + " peer " + work;
    if (libtorch_.empty()) return one;  // a build without LibTorch
    one.program = {libtorch_, {}, tuned_environment(threads)};
    const auto more = instruction_set(target);
    one.program.environment.insert(one.program.environment.end(), more.begin(), more.end());
    return one;
}

BenchSide BenchSides::pytorch(const std::string& mode, unsigned threads, const std::string& verb,
                              const std::string& work) const {
    BenchSide one;
    one.key = "PyTorch " + mode + " " + std::to_string(threads);
    if (!python_.empty()) one.program = {python_, {script_.string()}, tuned_environment(threads)};
    if (!device_.empty()) {
        one.program.environment.emplace_back("ASSAY_PEER_DEVICE", device_);
        // As assay-worker numbers cards.
        if (std::getenv("CUDA_DEVICE_ORDER") == nullptr)
            one.program.environment.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    one.line = verb + " " + mode + " " + work;
    return one;
}

}  // namespace assay::node
