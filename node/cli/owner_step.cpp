// SPDX-License-Identifier: Apache-2.0
#include "node/cli/owner_step.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "node/cli/owner_session.hpp"
#include "node/key/passphrase_pipe.hpp"
#include "node/processes/connect.hpp"
#include "node/runtime/process.hpp"
#include "node/views/printed_error.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

/// Opening two key files costs seconds, on a slow and busy machine some more.
constexpr std::chrono::seconds kOpeningKeys{40};
static_assert(OwnerStep::kLimit >
              2 * kNodePatience + kOpeningKeys + OwnerLimits::kSession + OwnerLimits::kRead);

constexpr int kPassphraseFd = 3;
constexpr std::size_t kTextBytesMax = 1 << 20;  ///< of what a step says

base::Failed<base::Error> cannot_start() {
    return fail(ErrorKind::kFailure, "no descriptor for the owner's step", "end other programs");
}

base::Outcome<OwnedFd> memory_file(const char* name) {
    OwnedFd made(::memfd_create(name, MFD_CLOEXEC));
    if (made.get() < 0) return cannot_start();
    return made;
}

std::string text_of(const OwnedFd& file) {
    std::string text(kTextBytesMax, '\0');
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
}

/// The error that the step ended with.
base::Error error_in(const Context& context, const std::string& name, const ExitStatus& status,
                     const std::string& said) {
    base::Error error{ErrorKind::kFailure, "`" + name + "` ended with " + to_text(status),
                      "run it by itself to see more"};
    const auto printed = printed_error(said);
    if (status.signal != 0 || !printed) return error;
    error.kind = error_kind(status);
    error.what = printed->message;
    error.fix = printed->fix;
    if (printed->reason != 0) {
        SubmitReply reply;
        reply.reason = printed->reason;
        reply.reason_text = printed->reason_name;
        context.refused = refusal_in(reply);
    }
    return error;
}

}  // namespace

base::Outcome<std::string> run_owner_step(const Context& context, const OwnerStep& step,
                                          const Passphrase& passphrase, const std::stop_token& stop) {
    const std::string name = "assay " + step.words.at(0) + " " + step.words.at(1);
    ASSAY_ASSIGN(const OwnedFd secret, passphrase_pipe(passphrase));
    ASSAY_ASSIGN(const OwnedFd out, memory_file("out"));
    ASSAY_ASSIGN(const OwnedFd err, memory_file("err"));
    ProcessOptions options;
    ASSAY_ASSIGN(options.program, own_program());
    options.arguments = step.words;
    const std::vector<std::string> node = context.node_words();
    options.arguments.insert(options.arguments.end(), node.begin(), node.end());
    options.arguments.insert(options.arguments.end(),
                             {"--home", context.home().root.string(), "--passphrase-fd",
                              std::to_string(kPassphraseFd), "--output", "json"});
    options.descriptors = {
        {out.get(), STDOUT_FILENO}, {err.get(), STDERR_FILENO}, {secret.get(), kPassphraseFd}};
    ASSAY_ASSIGN(Process process, Process::spawn(options));
    const auto until = std::chrono::steady_clock::now() + OwnerStep::kLimit;
    std::optional<ExitStatus> ended;
    while (!(ended = process.wait(std::chrono::milliseconds(50)))) {
        if (stop.stop_requested()) {
            (void)process.terminate();
            return fail(ErrorKind::kInterrupted, "stopped before `" + name + "` was done",
                        "run the same command again");
        }
        if (std::chrono::steady_clock::now() > until) {
            (void)process.kill();
            return fail(
                ErrorKind::kUnreachable,
                "`" + name + "` was not done within " + std::to_string(OwnerStep::kLimit.count()) + " s",
                "run it by itself to see what it waits for");
        }
    }
    const std::string said = text_of(err);
    if (!ended->success()) return base::failed(error_in(context, name, *ended, said));
    context.err << said;
    return text_of(out);
}

base::Outcome<base::Hash256> hash_in(const std::string& said, const std::string& member) {
    const auto object = nlohmann::json::parse(said, nullptr, false);
    const auto hash =
        object.is_object() ? base::parse_hash(object.value(member, std::string())) : std::nullopt;
    if (!hash)
        return fail(ErrorKind::kFailure, "the owner's step names no " + member,
                    "it is another version of the program: install all of one build");
    return *hash;
}

base::Outcome<base::Amount> amount_in(const std::string& said, const std::string& member) {
    const auto object = nlohmann::json::parse(said, nullptr, false);
    const std::string text = object.is_object() ? object.value(member, std::string()) : std::string();
    std::uint64_t units = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), units);
    const auto amount = text.empty() || end.ec != std::errc{} || end.ptr != text.data() + text.size()
                            ? std::nullopt
                            : base::Amount::of(units);
    if (!amount)
        return fail(ErrorKind::kFailure, "the owner's step names no " + member,
                    "it is another version of the program: install all of one build");
    return *amount;
}

}  // namespace assay::node
