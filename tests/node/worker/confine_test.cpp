// SPDX-License-Identifier: Apache-2.0
// What a confined worker may still open, connect to and call: tried in a child that confines itself as a
// worker does.
#include "node/worker/program/confine.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "node/worker/program/call_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::worker {

namespace {

constexpr int kAnySocket = 3;

bool opens(const std::filesystem::path& path, int how) {
    const int file = ::open(path.c_str(), how | O_CLOEXEC);
    if (file >= 0) ::close(file);
    return file >= 0;
}

/// The answers of `ask`, one bit each, from a child.
unsigned in_child(const std::function<unsigned()>& ask) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(static_cast<int>(ask()));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return static_cast<unsigned>(WEXITSTATUS(status));
}

/// The same from a child that is confined as a worker on this device first.
unsigned confined(const char* device, const std::vector<FileRule>& rules,
                  const std::function<unsigned()>& ask) {
    constexpr unsigned kNotConfined = 0x80;
    return in_child(
        [&] { return confine(kAnySocket, rules, call_filter(device)).ok() ? ask() : kNotConfined; });
}

/// As Docker's own filter does.
bool refuse_namespaces() {
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && hold_to_calls({{SYS_unshare}}) == 0;
}

/// Whom a worker must not reach: a service of this machine, and one that has a path.
class Listeners {
public:
    Listeners() : path_((folder_.path() / "agent").string()) {
        in_.sin_family = AF_INET;
        in_.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        un_.sun_family = AF_UNIX;
        REQUIRE(path_.size() < sizeof un_.sun_path);
        std::memcpy(un_.sun_path, path_.data(), path_.size());
        socklen_t length = sizeof in_;
        REQUIRE(::bind(tcp_, address(in_), length) == 0);
        REQUIRE(::getsockname(tcp_, reinterpret_cast<sockaddr*>(&in_), &length) == 0);
        REQUIRE(::bind(unix_, address(un_), sizeof un_) == 0);
        REQUIRE(::listen(tcp_, kWaiting) == 0);
        REQUIRE(::listen(unix_, kWaiting) == 0);
    }
    ~Listeners() {
        ::close(tcp_);
        ::close(unix_);
    }
    Listeners(const Listeners&) = delete;
    Listeners& operator=(const Listeners&) = delete;

    [[nodiscard]] bool reached_by_tcp() const { return reached(AF_INET, address(in_), sizeof in_); }
    [[nodiscard]] bool reached_by_path() const { return reached(AF_UNIX, address(un_), sizeof un_); }

private:
    static constexpr int kWaiting = 16;  // nobody accepts: a full queue would make a caller wait

    template <class Address>
    static const sockaddr* address(const Address& given) {
        return reinterpret_cast<const sockaddr*>(&given);
    }
    static bool reached(int family, const sockaddr* to, socklen_t length) {
        const int socket = ::socket(family, SOCK_STREAM, 0);
        const bool yes = socket >= 0 && ::connect(socket, to, length) == 0;
        if (socket >= 0) ::close(socket);
        return yes;
    }

    test::TemporaryFolder folder_;
    std::string path_;
    sockaddr_in in_{};
    sockaddr_un un_{};
    int tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int unix_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

/// A folder of device nodes as a machine with two cards has them, but plain files.
class DeviceFolder {
public:
    DeviceFolder() {
        for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                 "nvidia-modeset", "nvidia-caps", "sda", "nvidiaX"}) {
            std::ofstream(folder_.path() / name) << "x";
        }
    }
    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

private:
    test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("the rules of a card add the nodes of NVIDIA's driver and nothing else") {
    const DeviceFolder dev;
    ::unsetenv("LD_LIBRARY_PATH");
    const std::vector<FileRule> cpu = file_rules("cpu", dev.path());
    for (const char* device : {"reference", "cuda-host", "cuda", ""}) {
        INFO(device);
        CHECK(file_rules(device, dev.path()) == cpu);
    }
    const auto reads = [](const char* path) { return FileRule{path, FileRule::Use::kRead}; };
    const auto asks = [](const std::filesystem::path& path) {
        return FileRule{path, FileRule::Use::kDevice};
    };
    CHECK(cpu == std::vector<FileRule>{reads("/proc"), reads("/sys"), reads("/usr"), reads("/lib"),
                                       reads("/lib64"), reads("/etc/ld.so.cache"), reads("/dev/urandom"),
                                       asks("/dev/null")});
    const std::vector<FileRule> card = file_rules("cuda:1", dev.path());
    REQUIRE(card.size() > cpu.size());
    CHECK(std::vector(card.begin(), card.begin() + static_cast<std::ptrdiff_t>(cpu.size())) == cpu);
    CHECK(std::vector(card.begin() + static_cast<std::ptrdiff_t>(cpu.size()), card.end()) ==
          std::vector<FileRule>{asks(dev.path() / "nvidiactl"), asks(dev.path() / "nvidia-uvm"),
                                asks(dev.path() / "nvidia-uvm-tools"), asks(dev.path() / "nvidia0"),
                                asks(dev.path() / "nvidia1"),
                                FileRule{"/proc/self", FileRule::Use::kOwnProcess}});
    ::setenv("LD_LIBRARY_PATH", "/opt/cuda/lib::relative:/run/driver", 1);
    const std::vector<FileRule> with_folders = file_rules("cuda:0", dev.path());
    CHECK(file_rules("cpu", dev.path()) == cpu);
    ::unsetenv("LD_LIBRARY_PATH");
    REQUIRE(with_folders.size() == card.size() + 2);
    CHECK(with_folders[card.size()] == reads("/opt/cuda/lib"));
    CHECK(with_folders.back() == reads("/run/driver"));
}

TEST_CASE("a confined worker opens nothing of its user's, runs nothing, and no card that it was not given") {
    const DeviceFolder dev;
    const auto ask = [&] {
        unsigned bits = 0;
        const auto note = [&](unsigned bit, bool yes) { bits |= yes ? 1U << bit : 0U; };
        note(0, opens("/proc/self/status", O_RDONLY));
        note(1, opens("/dev/null", O_RDWR));
        const std::filesystem::path own = "/proc/self/task/" + std::to_string(::getpid()) + "/comm";
        note(2, opens(dev.path() / "nvidia0", O_RDWR) && opens(dev.path() / "nvidiactl", O_RDWR) &&
                    opens(own, O_WRONLY | O_TRUNC));
        const std::filesystem::path others = "/proc/" + std::to_string(::getppid()) + "/comm";
        note(3, opens(dev.path() / "sda", O_RDONLY) || opens(dev.path() / "nvidia-modeset", O_RDONLY) ||
                    opens(others, O_WRONLY) || opens("/proc/sys/kernel/core_pattern", O_WRONLY));
        note(4, opens("/etc/passwd", O_RDONLY) || opens("/tmp", O_RDONLY | O_DIRECTORY));
        note(5, opens(dev.path() / "new", O_RDWR | O_CREAT));
        if (::fork() == 0) {
            ::execl("/bin/true", "true", nullptr);
            ::_exit(1);
        }
        int status = 0;
        ::wait(&status);
        note(6, WIFEXITED(status) && WEXITSTATUS(status) == 0);
        return bits;
    };
    if (!has_file_rules()) {
        WARN("this kernel has no Landlock: a worker is held to no file rules here");
        CHECK(confined("cpu", file_rules("cpu", dev.path()), ask) == 0b0111111);
        return;
    }
    CHECK(confined("cpu", file_rules("cpu", dev.path()), ask) == 0b0000011);
    CHECK(confined("cuda:0", file_rules("cuda:0", dev.path()), ask) == 0b0000111);
}

TEST_CASE(
    "a confined worker connects to no service of its machine and to no socket with a path, whether or not it "
    "gets a network namespace") {
    const Listeners others;
    const auto ask = [&] {
        return (others.reached_by_tcp() ? 1U : 0U) | (others.reached_by_path() ? 2U : 0U);
    };
    REQUIRE(in_child(ask) == 0b11);
    CHECK(confined("cpu", file_rules("cpu"), ask) == 0);
    const auto without_namespaces = [&] {
        if (!refuse_namespaces()) return 0x40U;
        const auto held = confine(kAnySocket, file_rules("cpu"), call_filter("cpu"));
        if (!held.ok() || held->network_refused != EPERM || held->filter_refused != 0) return 0x80U;
        return ask();
    };
    CHECK(in_child(without_namespaces) == 0);
}

TEST_CASE("a worker whose filter the kernel refuses is confined by the rest, and knows it") {
    const auto ask = [] {
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || hold_to_calls({{SYS_seccomp}}) != 0)
            return 0x40U;
        const auto held = confine(kAnySocket, file_rules("cpu"), call_filter("cpu"));
        return held.ok() && held->filter_refused == EPERM ? 1U : 0U;
    };
    CHECK(in_child(ask) == 1);
}

TEST_CASE(
    "a confined worker types into no terminal, and neither makes sockets nor traces or ends others, but may "
    "end itself") {
    const pid_t parent = ::getpid();
    const auto ask = [&] {
        unsigned bits = 0;
        const auto refused = [&](unsigned bit, long answer) {
            bits |= answer == -1 && errno == EPERM ? 1U << bit : 0U;
        };
        int ends[2];
        char key = 'x';
        refused(0, ::ioctl(STDERR_FILENO, TIOCSTI, &key));
        refused(1, ::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
        refused(2, ::ptrace(PTRACE_SEIZE, parent, nullptr, nullptr));
        refused(3, ::kill(parent, 0));
        refused(4, ::syscall(SYS_io_uring_setup, 0, nullptr));
        refused(5, ::execl("/bin/true", "true", nullptr));
        bits |= ::kill(::getpid(), 0) == 0 && ::raise(SIGCHLD) == 0 ? 1U << 6 : 0U;
        return bits;
    };
    // A file is no terminal: what is asked of it says whether the filter refuses the call.
    const auto on_a_file = [&] {
        const int file = ::open("/dev/null", O_RDWR);
        if (::dup2(file, STDERR_FILENO) < 0) return 0x80U;
        return confine(kAnySocket, file_rules("cpu"), call_filter("cpu")).ok() ? ask() : 0x80U;
    };
    CHECK(in_child(on_a_file) == 0b1111111);
    for (const char* device : {"cpu", "reference", "cuda-host", ""})
        CHECK(call_filter(device) == CallFilter::kWorker);
    CHECK(call_filter("cuda:0") == CallFilter::kNone);
}

TEST_CASE(
    "what the kernel refused of a confinement is told, but not a namespace that the filter makes up for") {
    Confinement held;
    held.filter = CallFilter::kWorker;
    held.has_file_rules = true;
    CHECK(lacks_of(held).empty());
    held.network_refused = EPERM;
    CHECK(lacks_of(held).empty());
    held.filter_refused = EINVAL;
    const auto both = lacks_of(held);
    REQUIRE(both.size() == 2);
    CHECK(
        both[0].what.find("reaches the network: the kernel refuses it a network namespace (Operation not") !=
        std::string::npos);
    CHECK(both[1].what.find("reaches sockets that have a path") != std::string::npos);
    held.filter_refused = 0;
    held.filter = CallFilter::kNone;  // a card's worker
    CHECK(lacks_of(held).size() == 1);
    held = {};
    const auto files = lacks_of(held);
    REQUIRE(files.size() == 1);
    CHECK(files[0].what.find("this kernel has no Landlock") != std::string::npos);
    CHECK_FALSE(files[0].fix.empty());
}

}  // namespace assay::worker
