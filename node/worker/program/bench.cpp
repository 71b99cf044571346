// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/bench.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/step/device_failure.hpp"

namespace assay::verifier {

using trainer::GemmKind;

namespace {

using Words = std::vector<std::string_view>;

/// Runs before the first that counts: they take the memory and warm caches and threads.
constexpr int kWarmUps = 2;
constexpr std::uint64_t kMostRuns = 100'000;

Words split(std::string_view line) {
    Words words;
    while (true) {
        const std::size_t start = line.find_first_not_of(" \n");
        if (start == std::string_view::npos) return words;
        line.remove_prefix(start);
        const std::size_t end = std::min(line.find_first_of(" \n"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

base::Failed<base::Error> refuse(std::string what) {
    return base::fail(base::ErrorKind::kUsage, std::move(what));
}

/// The words from `first` on as numbers above 0; `count` of them.
base::Outcome<std::vector<std::uint32_t>> numbers(const Words& words, std::size_t first, std::size_t count) {
    if (words.size() != first + count) return refuse("another number of words");
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view text = words[first + i];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), values[i]);
        if (error != std::errc() || end != text.data() + text.size() || values[i] == 0) {
            return refuse(std::string(text) + " is not a number above 0");
        }
    }
    return values;
}

std::string seconds_text(double seconds) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9f", seconds);
    return number;
}

class Bench {
public:
    explicit Bench(const BenchCases& cases) : cases_(cases) {}

    base::Outcome<std::string> answer(const Words& words) {
        if (words.empty()) return refuse("an empty line");
        if (words[0] == "name") return "name " + cases_.name;
        if (words[0] == "run") return run(words);
        if (words[0] == "peak") return peak();
        if (words[0] == "parts") return parts(words);
        if (words[0] == "gemm" || words[0] == "step" || words[0] == "state") {
            work_ = nullptr;  // two cases need not fit into memory at once
            ASSAY_ASSIGN(work_, words[0] == "gemm"   ? gemm(words)
                                : words[0] == "step" ? step(words)
                                                     : state(words));
            for (int i = 0; i < kWarmUps; ++i) work_();
            return std::string("ready");
        }
        return refuse("no line begins with " + std::string(words[0]));
    }

private:
    [[nodiscard]] base::Outcome<TimedWork> gemm(const Words& words) const {
        ASSAY_ASSIGN(const auto sizes, numbers(words, 3, 3));
        GemmKind kind = GemmKind::kForward;
        if (words[2] == "input") {
            kind = GemmKind::kInputGradient;
        } else if (words[2] == "weight") {
            kind = GemmKind::kWeightGradient;
        } else if (words[2] == "head-input") {
            kind = GemmKind::kHeadInputGradient;
        } else if (words[2] == "head-weight") {
            kind = GemmKind::kHeadWeightGradient;
        } else if (words[2] != "forward") {
            return refuse("no product " + std::string(words[2]));
        }
        return cases_.gemm(words[1], {sizes[0], sizes[1], sizes[2]}, kind);
    }

    [[nodiscard]] base::Outcome<TimedWork> step(const Words& words) const {
        ASSAY_ASSIGN(const auto sizes, numbers(words, 2, 6));
        return cases_.step(words[1], model_of(sizes), sizes[5]);
    }

    [[nodiscard]] base::Outcome<std::string> parts(const Words& words) {
        ASSAY_ASSIGN(const auto sizes, numbers(words, 2, 6));
        if (!cases_.parts) return refuse("nothing is known of the parts of a step");
        work_ = nullptr;  // it need not fit beside another case
        ASSAY_ASSIGN(const auto times, cases_.parts(words[1], model_of(sizes), sizes[5]));
        std::string text = "parts";
        for (const trainer::WorkTime& one : times)
            text += " " + one.name + " " + std::to_string(one.count) + " " + seconds_text(one.seconds);
        return text;
    }

    [[nodiscard]] base::Outcome<TimedWork> state(const Words& words) const {
        ASSAY_ASSIGN(const auto sizes, numbers(words, 2, 5));
        if (!cases_.state) return refuse("nothing is known of states");
        return cases_.state(words[1], model_of(sizes));
    }

    static program::ModelConfig model_of(const std::vector<std::uint32_t>& sizes) {
        program::ModelConfig model;
        model.layers = sizes[0];
        model.width = sizes[1];
        model.heads = sizes[2];
        model.context = sizes[3];
        model.vocabulary = sizes[4];
        return model;
    }

    [[nodiscard]] base::Outcome<std::string> run(const Words& words) const {
        ASSAY_ASSIGN(const auto count, numbers(words, 1, 1));
        if (!work_ || count[0] > kMostRuns) return refuse("no case is prepared, or too many runs");
        std::string text = "times";
        for (std::uint32_t i = 0; i < count[0]; ++i) {
            const auto start = std::chrono::steady_clock::now();
            work_();
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
            text += " " + seconds_text(passed.count());
        }
        return text;
    }

    [[nodiscard]] base::Outcome<std::string> peak() const {
        if (cases_.peak) return "peak " + std::to_string(cases_.peak());
        rusage usage{};
        if (::getrusage(RUSAGE_SELF, &usage) != 0) return refuse("the system does not say");
        return "peak " + std::to_string(usage.ru_maxrss * 1024);
    }

    const BenchCases& cases_;
    TimedWork work_;
};

}  // namespace

void serve_bench(std::FILE* in, std::FILE* out, const BenchCases& cases) {
    Bench bench(cases);
    char line[512];
    while (std::fgets(line, sizeof line, in) != nullptr) {
        std::string reply;
        try {
            const auto answer = bench.answer(split(line));
            reply = answer.ok() ? *answer : "error " + answer.error().what;
        } catch (const std::bad_alloc& problem) {
            // A device says itself why it cannot go on.
            const bool of_device = dynamic_cast<const trainer::DeviceFailure*>(&problem) != nullptr;
            reply = std::string("error ") +
                    (of_device ? problem.what() : "there is not enough memory for this case");
        }
        if (std::fprintf(out, "%s\n", reply.c_str()) < 0 || std::fflush(out) != 0) return;
    }
}

}  // namespace assay::verifier
