// SPDX-License-Identifier: Apache-2.0
#include "node/worker/bench_child.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "node/runtime/process.hpp"
#include "node/wire/channel.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {
base::Failed<base::Error> unreadable(const std::string& what) {
    return fail(ErrorKind::kFailure, "a measuring process told " + what + " what cannot be read");
}

/// Exactly `count` numbers.
Outcome<std::vector<double>> numbers_of(const std::string& text, std::size_t count, const std::string& what) {
    std::istringstream words(text);
    std::vector<double> numbers;
    for (double one = 0; words >> one;) numbers.push_back(one);
    if (!words.eof() || numbers.size() != count) return unreadable(what);
    return numbers;
}
}  // namespace

/// The child's stdin and stdout are one end of a socket; the other end is ours.
class BenchChild::Impl {
public:
    Impl(Process process, worker::Descriptor socket)
        : process_(std::move(process)), socket_(std::move(socket)) {}

    Outcome<std::string> ask(const std::string& line, const std::string& expected) {
        const std::string text = line + "\n";
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t now =
                ::send(socket_.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (now <= 0) return ended();
            sent += static_cast<std::size_t>(now);
        }
        ASSAY_ASSIGN(const std::string reply, read_line());
        const std::size_t space = std::min(reply.find(' '), reply.size());
        const std::string rest = reply.substr(std::min(space + 1, reply.size()));
        if (reply.compare(0, space, expected) == 0) return rest;
        return fail(ErrorKind::kFailure, "'" + line + "' was answered by: " + reply);
    }

private:
    Outcome<std::string> read_line() {
        while (true) {
            const std::size_t end = buffer_.find('\n');
            if (end != std::string::npos) {
                std::string line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return line;
            }
            char part[4096];
            const ssize_t got = ::recv(socket_.number(), part, sizeof part, 0);
            if (got <= 0) return ended();
            buffer_.append(part, static_cast<std::size_t>(got));
        }
    }

    base::Failed<base::Error> ended() {
        return fail(ErrorKind::kFailure, "a measuring process ended: " + to_text(process_.kill()));
    }

    Process process_;
    worker::Descriptor socket_;
    std::string buffer_;
};

BenchChild::BenchChild(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BenchChild::BenchChild(BenchChild&&) noexcept = default;
BenchChild& BenchChild::operator=(BenchChild&&) noexcept = default;
BenchChild::~BenchChild() = default;

Outcome<BenchChild> BenchChild::start(const BenchProgram& program) {
    ASSAY_ASSIGN(auto ends, worker::socket_pair());
    ProcessOptions options;
    options.program = program.program;
    options.arguments = program.arguments;
    options.environment = program.environment;
    options.descriptors = {{ends.second.number(), STDIN_FILENO}, {ends.second.number(), STDOUT_FILENO}};
    options.stderr_file = "/dev/null";  // a peer's warnings would tear the table apart
    ASSAY_ASSIGN(auto process, Process::spawn(options));
    return BenchChild(std::make_unique<Impl>(std::move(process), std::move(ends.first)));
}

Outcome<std::string> BenchChild::ask(const std::string& line, const std::string& expected) {
    return impl_->ask(line, expected);
}

Outcome<void> BenchChild::prepare(const std::string& line) {
    ASSAY_TRY(ask(line, "ready"));
    return {};
}

Outcome<std::vector<double>> BenchChild::run(unsigned count) {
    ASSAY_ASSIGN(const std::string text, ask("run " + std::to_string(count), "times"));
    return numbers_of(text, count, "of times");
}

Outcome<std::vector<BenchPart>> BenchChild::parts(const std::string& line) {
    ASSAY_ASSIGN(const std::string text, ask(line, "parts"));
    std::istringstream words(text);
    std::vector<BenchPart> parts;
    for (BenchPart one; words >> one.name; parts.push_back(one)) {
        if (!(words >> one.count >> one.seconds)) return unreadable("of parts");
    }
    return parts;
}

Outcome<double> BenchChild::peak() {
    ASSAY_ASSIGN(const std::string text, ask("peak", "peak"));
    ASSAY_ASSIGN(const auto numbers, numbers_of(text, 1, "of its memory"));
    return numbers.front();
}

std::vector<std::pair<std::string, std::string>> tuned_environment(unsigned threads) {
    const std::string count = std::to_string(threads);
    return {{"ASSAY_THREADS", count},
            {"OMP_NUM_THREADS", count},
            {"MALLOC_MMAP_THRESHOLD_", "4294967296"},
            {"MALLOC_TRIM_THRESHOLD_", "17179869184"}};
}

}  // namespace assay::node
