// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sodium.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "node/key/key_file.hpp"
#include "node/key/key_file_disk.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

constexpr std::size_t kPassphraseBytesMax = 1024;

void wipe(std::string& text) {
    if (!text.empty()) sodium_memzero(text.data(), text.size());
    text.clear();
}

Outcome<Passphrase> too_long(const std::string& from) {
    return fail(ErrorKind::kKey, "the passphrase from " + from + " is longer than 1024 bytes",
                "choose a shorter one");
}

Outcome<Passphrase> interrupted() {
    return fail(ErrorKind::kInterrupted, "interrupted at the prompt for a passphrase",
                "run the command again");
}

// One byte at a time, so that what follows the line stays in the pipe for its next reader. A byte of
// `interrupts` ends the question.
Outcome<Passphrase> read_line(int fd, const std::string& from, std::string_view interrupts = {}) {
    std::string line;
    line.reserve(kPassphraseBytesMax + 1);  // never moved: no copies are left behind
    while (line.size() <= kPassphraseBytesMax) {
        char c = 0;
        const ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            wipe(line);
            return fail(ErrorKind::kKey, "cannot read a passphrase from " + from,
                        "check that it is open for reading");
        }
        if (got > 0 && interrupts.find(c) != std::string_view::npos) {
            wipe(line);
            return interrupted();
        }
        if (got == 0 || c == '\n') break;
        if (c != '\r') line.push_back(c);
    }
    if (line.size() > kPassphraseBytesMax) {
        wipe(line);
        return too_long(from);
    }
    if (line.empty()) {
        return fail(ErrorKind::kKey, "the passphrase from " + from + " is empty", "choose a passphrase");
    }
    Passphrase passphrase(line);
    wipe(line);
    return passphrase;
}

/// Does not show what is typed. Ctrl-C and the quit key arrive as characters: a signal would end the process
/// before the terminal is as it was, or would be kept from it where the process blocks signals.
class Terminal {
public:
    Terminal() : fd_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
        if (fd_ < 0 || tcgetattr(fd_, &before_) != 0) return;
        termios silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        constexpr std::array kSignals = {std::pair(VINTR, VEOL), std::pair(VQUIT, VEOL2)};
        for (const auto& [signal, line_end] : kSignals) {
            cc_t& key = silent.c_cc[signal];
            if (key == _POSIX_VDISABLE) continue;
            interrupts_.push_back(static_cast<char>(key));
            silent.c_cc[line_end] = std::exchange(key, static_cast<cc_t>(_POSIX_VDISABLE));
        }
        ok_ = tcsetattr(fd_, TCSAFLUSH, &silent) == 0;
    }
    ~Terminal() {
        if (ok_) tcsetattr(fd_, TCSAFLUSH, &before_);
        if (fd_ >= 0) close(fd_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    [[nodiscard]] bool ok() const { return ok_; }

    Outcome<Passphrase> ask(std::string_view prompt) {
        say(prompt);
        auto line = read_line(fd_, "the terminal", interrupts_);
        say("\n");  // the one the user typed was not echoed
        return line;
    }

private:
    void say(std::string_view text) const {
        [[maybe_unused]] const auto put = write(fd_, text.data(), text.size());
    }

    int fd_;
    termios before_{};
    std::string interrupts_;  ///< the characters of Ctrl-C and the quit key here
    bool ok_ = false;
};

Outcome<Passphrase> ask_silently(PromptKind kind) {
    Terminal terminal;
    if (!terminal.ok()) {
        return fail(ErrorKind::kKey, "a passphrase is needed and there is no terminal to ask on",
                    "give --passphrase-file FILE (mode 0600) or --passphrase-fd N");
    }
    ASSAY_ASSIGN(Passphrase first, terminal.ask("Passphrase: "));
    if (kind == PromptKind::kCreate) {
        ASSAY_ASSIGN(const Passphrase second, terminal.ask("Again: "));
        if (first.text() != second.text()) {
            return fail(ErrorKind::kKey, "the two passphrases differ", "try again");
        }
    }
    return first;
}

Outcome<Passphrase> ask_on_terminal(PromptKind kind) {
    auto asked = ask_silently(kind);
    // The terminal is as it was. What it would have done with the key is done now: all processes in front of
    // it hear of it, as a script that runs this one.
    if (!asked.ok() && asked.error().kind == ErrorKind::kInterrupted) kill(0, SIGINT);
    return asked;
}

}  // namespace

Passphrase::Passphrase(std::string text) : text_(std::move(text)) {}
Passphrase::Passphrase(Passphrase&& other) noexcept : text_(other.text_) { wipe(other.text_); }
Passphrase& Passphrase::operator=(Passphrase&& other) noexcept {
    if (this != &other) {
        wipe(text_);
        text_ = other.text_;
        wipe(other.text_);
    }
    return *this;
}
Passphrase::~Passphrase() { wipe(text_); }

Outcome<Passphrase> read_passphrase(const PassphraseSource& source, PromptKind kind) {
    if (source.read) return Passphrase(source.read->text());
    if (source.fd && source.file) {
        return fail(ErrorKind::kUsage, "two sources of a passphrase are given",
                    "give a descriptor or a file, not both");
    }
    if (source.fd) return read_line(*source.fd, "descriptor " + std::to_string(*source.fd));
    if (!source.file) return ask_on_terminal(kind);
    ASSAY_ASSIGN(base::Bytes content, read_secret_file(*source.file, SecretKind::kPassphraseFile));
    std::string line(base::as_text(content));
    sodium_memzero(content.data(), content.size());
    line.resize(std::min(line.find_first_of("\r\n"), line.size()));
    if (line.empty()) {
        return fail(ErrorKind::kKey,
                    "the passphrase file " + source.file->string() + " has an empty first line",
                    "write the passphrase on its first line");
    }
    if (line.size() > kPassphraseBytesMax) {
        wipe(line);
        return too_long("the file " + source.file->string());
    }
    return Passphrase(std::move(line));
}

}  // namespace assay::node
