// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_report.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <sstream>

#include "node/runtime/process.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/hang_detector.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::chrono::milliseconds kLook{50};  // at the running child and at the wish to stop
constexpr std::chrono::hours kLongest{1};       // for a child that neither ends nor hangs
constexpr std::size_t kMostOutput = 1U << 20;

struct WorkerRun {
    ExitStatus ended;
    std::string out, err;
};

// What a child writes, in memory.
class WorkerOutput {
public:
    static base::Outcome<WorkerOutput> make() {
        WorkerOutput output;
        output.file_ = frames::Descriptor(::memfd_create("worker-output", MFD_CLOEXEC));
        if (output.file_.valid()) return output;
        return fail(ErrorKind::kFailure,
                    std::string("no memory file for a worker's output: ") + std::strerror(errno));
    }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_.number()); }
    [[nodiscard]] base::Outcome<std::string> text() const {
        ASSAY_ASSIGN(const base::Bytes bytes, frames::read_all(file_, kMostOutput));
        return std::string(bytes.begin(), bytes.end());
    }

private:
    frames::Descriptor file_;
};

base::Outcome<WorkerRun> run_worker(const WorkerOptions& options, std::vector<std::string> arguments,
                                    const std::stop_token& stop, std::chrono::milliseconds patience) {
    ASSAY_ASSIGN(ProcessOptions process, process_of(options, std::move(arguments)));
    ASSAY_ASSIGN(const WorkerOutput out, WorkerOutput::make());
    ASSAY_ASSIGN(const WorkerOutput err, WorkerOutput::make());
    process.stdout_file = out.path();
    process.stderr_file = err.path();
    ASSAY_ASSIGN(auto child, Process::spawn(process));
    HangDetector detector({.most = patience * std::max(1U, options.threads), .idle = patience}, kLook);
    std::optional<ExitStatus> ended;
    std::chrono::nanoseconds used{0};
    std::chrono::milliseconds waited{0};
    while (!(ended = child.wait(kLook))) {
        if (stop.stop_requested()) return fail(ErrorKind::kInterrupted, "the self-check was stopped", "");
        used = child.processor_time().value_or(used);
        if (detector.hangs(used))
            return fail(ErrorKind::kPreflight, "the worker does not end", "look at the device it hangs on");
        if ((waited += kLook) >= kLongest)
            return fail(ErrorKind::kFailure, "the worker did not end within an hour",
                        "look at what else this machine computes, and at the device");
    }
    WorkerRun run{*ended, {}, {}};
    ASSAY_ASSIGN(run.out, out.text());
    ASSAY_ASSIGN(run.err, err.text());
    return run;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t from = 0;
    for (std::size_t tab; (tab = line.find('\t', from)) != std::string::npos; from = tab + 1)
        fields.push_back(line.substr(from, tab - from));
    fields.push_back(line.substr(from));
    return fields;
}

template <class Number>
bool read_number(const std::string& text, Number& number) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::optional<base::Error> missing_of(const std::string& what, const std::string& fix) {
    if (what.empty()) return std::nullopt;
    return base::Error{ErrorKind::kPreflight, what, fix};
}

base::Failed<base::Error> other_words(const std::string& what) {
    return fail(ErrorKind::kFailure, "the worker lists " + what + " in other words than this program reads",
                "assay and assay-worker must come from the same build");
}

/// The error that a worker told before it ended; nothing when it told none.
std::optional<base::Error> told_by(const WorkerRun& run) {
    constexpr std::string_view kBegin = "assay-worker: ";
    std::istringstream err(run.err);
    std::string what, fix;
    std::getline(err, what);
    std::getline(err, fix);
    if (run.ended.signal != 0 || !what.starts_with(kBegin)) return std::nullopt;
    return base::Error{error_kind(run.ended), what.substr(kBegin.size()), fix};
}

}  // namespace

base::Outcome<CardReport> parse_cards(const std::string& lines) {
    const auto wrong = [] { return other_words("cards"); };
    std::istringstream text(lines);
    std::string line;
    CardReport report;
    if (!std::getline(text, line)) return wrong();
    const auto driver = fields_of(line);
    if (driver.size() != 7 || driver[0] != "driver" || !read_number(driver[1], report.on_bus)) return wrong();
    report.driver = driver[2];
    report.cuda = driver[3];
    report.kernels = driver[4] == "kernels";
    report.missing = missing_of(driver[5], driver[6]);
    while (std::getline(text, line)) {
        const auto card = fields_of(line);
        ListedCard listed;
        if (card.size() != 7 || card[0] != "card" || card[1] != std::to_string(report.cards.size()) ||
            !read_number(card[4], listed.memory)) {
            return wrong();
        }
        listed.device = "cuda:" + card[1];
        listed.name = card[2];
        listed.capability = card[3];
        listed.missing = missing_of(card[5], card[6]);
        report.cards.push_back(std::move(listed));
    }
    return report;
}

base::Outcome<CardReport> list_cards(const WorkerOptions& options) {
    WorkerOptions whole = options;
    whole.device.clear();
    whole.targets.clear();
    ASSAY_ASSIGN(const WorkerRun run, run_worker(whole, {"--cards"}, {}, kSelfTestPatience));
    if (run.ended.success()) return parse_cards(run.out);
    return fail(ErrorKind::kPreflight, "listing NVIDIA's cards ends with " + to_text(run.ended),
                "look at the driver with nvidia-smi");
}

base::Outcome<std::vector<base::Error>> list_lacks(const WorkerOptions& options) {
    ASSAY_ASSIGN(const WorkerRun run, run_worker(options, {"--confinement"}, {}, kSelfTestPatience));
    if (auto told = told_by(run)) return base::failed(*std::move(told));
    std::vector<base::Error> lacks;
    std::istringstream text(run.out);
    for (std::string line; run.ended.success() && std::getline(text, line);) {
        const auto fields = fields_of(line);
        if (fields.size() != 2) return other_words("what it lacks of its confinement");
        lacks.push_back({ErrorKind::kPreflight, fields[0], fields[1]});
    }
    if (run.ended.success()) return lacks;
    return fail(ErrorKind::kPreflight,
                "the worker ends with " + to_text(run.ended) + " as it confines itself",
                "assay and assay-worker must come from the same build");
}

base::Outcome<SelfTestReport> run_self_test(const WorkerOptions& options, const std::stop_token& stop,
                                            std::chrono::milliseconds patience) {
    ASSAY_ASSIGN(const WorkerRun run, run_worker(options, {"--self-test"}, stop, patience));
    std::istringstream out(run.out);
    SelfTestReport report;
    std::string verdict;
    out >> report.root >> verdict;
    if (run.ended.success() && verdict == "ok") {
        report.sound = true;
        return report;
    }
    if (run.ended.code == static_cast<int>(ErrorKind::kPreflight) && verdict == "differs") {
        std::getline(out >> std::ws, report.differs);
        return report;
    }
    if (auto told = told_by(run)) return base::failed(*std::move(told));
    return fail(ErrorKind::kPreflight, "the worker's self-test ends with " + to_text(run.ended),
                "test this machine's memory and processor, and the device's driver");
}

}  // namespace assay::node
