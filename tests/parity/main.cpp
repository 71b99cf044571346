// SPDX-License-Identifier: Apache-2.0
// assay_parity train|dump|text KEY=VALUE…: one training run of ours as a curve, what a peer needs for the
// same, or the hash of the text's token files.
//
// A curve is JSON lines: {"run": …}, then {"step": n, "train": loss, "norm": gradient norm} for every step,
// {"step": n, "held_out": loss} before the first step and after every `every` steps, and at the end
// {"done": n, "seconds": s, "loss_bits": …}. A file without that last line is an unfinished run.
//
// state=FILE keeps where the run is, every `save` steps (0: as often as held-out losses); a run that finds
// the file goes on from there, to the same curve and root. until=STEP stops after that step; device= names
// what computes, as --device of `assay` does.
#include <cstdio>
#include <string_view>

#include "contracts/base/sign.hpp"
#include "tests/parity/dump.hpp"
#include "tests/parity/parity_job.hpp"
#include "tests/parity/training.hpp"

namespace assay::parity {
namespace {

base::Outcome<void> run(std::string_view verb, std::span<char* const> words) {
    ASSAY_ASSIGN(const ParityJob job, parse_job(words));
    if (verb == "text") {
        std::printf("%s\n", job.text.hex().c_str());
        return {};
    }
    if (job.out.empty()) {
        return base::fail(base::ErrorKind::kUsage, "parity: out=PATH is needed", "name a file, or a folder");
    }
    if (verb == "dump") return dump(job);
    return train(job);
}

}  // namespace
}  // namespace assay::parity

int main(int argc, char** argv) {
    const std::string_view verb = argc >= 2 ? argv[1] : "";
    if (!assay::base::start_crypto() || (verb != "train" && verb != "dump" && verb != "text")) {
        std::fprintf(stderr, "usage: assay_parity train|dump|text KEY=VALUE…\n  %s\n",
                     assay::parity::describe_words().c_str());
        return 2;
    }
    const auto done = assay::parity::run(verb, {argv + 2, static_cast<std::size_t>(argc - 2)});
    if (done.ok()) return 0;
    std::fprintf(stderr, "assay_parity: %s\n%s\n", done.error().what.c_str(), done.error().fix.c_str());
    return static_cast<int>(done.error().kind);
}
