// SPDX-License-Identifier: Apache-2.0
// What a confined worker may still open: tried in a child that confines itself as a worker does.
#include "node/worker/program/confine.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

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

/// The answers of `ask`, one bit each, from a child that is confined by these rules first.
unsigned confined(const std::vector<FileRule>& rules, const std::function<unsigned()>& ask) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        constexpr int kNotConfined = 0x80;
        ::_exit(confine(kAnySocket, rules).ok() ? static_cast<int>(ask()) : kNotConfined);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return static_cast<unsigned>(WEXITSTATUS(status));
}

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
        CHECK(confined(file_rules("cpu", dev.path()), ask) == 0b1111111);
        return;
    }
    CHECK(confined(file_rules("cpu", dev.path()), ask) == 0b0000011);
    CHECK(confined(file_rules("cuda:0", dev.path()), ask) == 0b0000111);
}

}  // namespace assay::worker
