// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/confine.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "node/worker/program/call_filter.hpp"

namespace assay::worker {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

void close_all_but(int socket) {
    DIR* folder = ::opendir("/proc/self/fd");
    if (folder == nullptr) return;
    std::vector<int> numbers;
    while (const dirent* entry = ::readdir(folder)) {
        const int number = std::atoi(entry->d_name);
        if (number > 2 && number != socket && number != ::dirfd(folder)) numbers.push_back(number);
    }
    ::closedir(folder);
    for (const int number : numbers) ::close(number);
}

// Landlock's rights by the version that brought them; headers of older kernels do not name the later ones.
constexpr std::uint64_t kFirstRights = (1ULL << 13) - 1;
constexpr std::uint64_t kRefer = 1ULL << 13;
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kDeviceIoctl = 1ULL << 15;
constexpr int kTruncateVersion = 3;
constexpr int kNetworkVersion = 4;
constexpr int kIoctlVersion = 5;
constexpr int kScopeVersion = 6;
// TCP's bind and connect; abstract Unix sockets and signals of processes outside.
constexpr std::uint64_t kNetworkRights = (1ULL << 2) - 1;
constexpr std::uint64_t kScopes = (1ULL << 2) - 1;

// landlock_ruleset_attr as the latest of these versions has it. An older kernel takes it while what it does
// not know is zero.
struct LandlockRights {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scopes = 0;
};

int landlock_version() {
    return static_cast<int>(
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

// All of them: what no rule grants is refused.
LandlockRights rights_of(int version) {
    LandlockRights rights{kFirstRights, 0, 0};
    if (version >= 2) rights.files |= kRefer;
    if (version >= kTruncateVersion) rights.files |= kTruncate;
    if (version >= kNetworkVersion) rights.network = kNetworkRights;
    if (version >= kIoctlVersion) rights.files |= kDeviceIoctl;
    if (version >= kScopeVersion) rights.scopes = kScopes;
    return rights;
}

// What the kernel refused, with its number in errno; empty: nothing. A path that is not there needs no rule.
std::string add_rule(int rules, std::uint64_t rights, const FileRule& rule) {
    const int file = ::open(rule.path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return {};
    struct stat info {};
    const bool folder = ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
    if (folder) beneath.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
    if (rule.use == FileRule::Use::kDevice)
        beneath.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE | (kDeviceIoctl & rights);
    if (rule.use == FileRule::Use::kOwnProcess)
        beneath.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE | (kTruncate & rights);
    beneath.parent_fd = file;
    const long added = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    const int why = errno;
    // A rule holds for a folder of /proc as long as the kernel remembers it: while somebody has it open.
    if (rule.use != FileRule::Use::kOwnProcess) ::close(file);
    errno = why;
    return added == 0 ? "" : "a rule of Landlock for " + rule.path.string();
}

// The same of all rules. A kernel without Landlock, or one that was started without it, holds to no rule: as
// with namespaces.
std::string hold_to(const std::vector<FileRule>& files) {
    const int version = landlock_version();
    if (version < 1) return {};
    const LandlockRights rights = rights_of(version);
    const int rules = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rights, sizeof rights, 0));
    if (rules < 0) return "a set of rules of Landlock";
    std::string refused;
    for (const FileRule& rule : files) {
        if (refused.empty()) refused = add_rule(rules, rights.files, rule);
    }
    if (refused.empty() && ::syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        refused = "Landlock's restriction of this process";
    const int why = errno;
    ::close(rules);
    errno = why;
    return refused;
}

// "nvidia0": the node of a card.
bool is_card_node(const std::string& name) {
    constexpr std::string_view kCard = "nvidia";
    return name.size() > kCard.size() && name.starts_with(kCard) &&
           name.find_first_not_of("0123456789", kCard.size()) == std::string::npos;
}

void add_driver(std::vector<FileRule>& rules, const std::filesystem::path& dev) {
    for (const char* node : {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"})
        rules.push_back({dev / node, FileRule::Use::kDevice});
    std::vector<std::filesystem::path> cards;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(dev, error)) {
        if (is_card_node(entry.path().filename())) cards.push_back(entry.path());
    }
    std::sort(cards.begin(), cards.end());
    for (const auto& card : cards) rules.push_back({card, FileRule::Use::kDevice});
    // It names its threads: cuInit fails with CUDA_ERROR_OPERATING_SYSTEM where it cannot (driver 580).
    rules.push_back({"/proc/self", FileRule::Use::kOwnProcess});
    const char* const folders = std::getenv("LD_LIBRARY_PATH");
    std::istringstream list(folders == nullptr ? "" : folders);
    for (std::string folder; std::getline(list, folder, ':');) {
        if (folder.starts_with("/")) rules.push_back({folder, FileRule::Use::kRead});
    }
}

}  // namespace

std::vector<FileRule> file_rules(std::string_view device, const std::filesystem::path& dev) {
    std::vector<FileRule> rules;
    for (const char* path : {"/proc", "/sys", "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom"})
        rules.push_back({path, FileRule::Use::kRead});
    rules.push_back({"/dev/null", FileRule::Use::kDevice});
    if (device.starts_with("cuda:")) add_driver(rules, dev);
    return rules;
}

CallFilter call_filter(std::string_view device) {
    return device.starts_with("cuda:") ? CallFilter::kNone : CallFilter::kWorker;
}

bool has_file_rules() { return landlock_version() >= 1; }

Outcome<Confinement> confine(int socket, const std::vector<FileRule>& files, CallFilter filter) {
    const auto refused = [](const std::string& what) {
        return fail(
            ErrorKind::kFailure,
            "the worker cannot confine itself: the kernel refuses " + what + ": " + std::strerror(errno),
            "start it outside of whatever sandbox refuses that (a filter of system calls, or more than "
            "16 of Landlock's restrictions one in another)");
    };
    Confinement held;
    held.filter = filter;
    held.has_file_rules = has_file_rules();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("PR_SET_NO_NEW_PRIVS");
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_CORE, &none) != 0) return refused("RLIMIT_CORE");
    close_all_but(socket);
    // Containers often forbid user namespaces; the worker has no use for the network either way.
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) held.network_refused = errno;
    if (const std::string what = hold_to(files); !what.empty()) return refused(what);
    // Behind these: a change of credentials clears it, and the filter refuses what they need.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return refused("PR_SET_PDEATHSIG");
    if (filter == CallFilter::kWorker) held.filter_refused = hold_to_calls(worker_call_rules());
    return held;
}

std::vector<base::Error> lacks_of(const Confinement& held) {
    std::vector<base::Error> lacks;
    const auto lack = [&](const std::string& what, const std::string& fix) {
        lacks.push_back({ErrorKind::kPreflight, what, fix});
    };
    const bool filtered = held.filter == CallFilter::kWorker && held.filter_refused == 0;
    const auto why = [](int number) { return " (" + std::string(std::strerror(number)) + ")"; };
    if (held.network_refused != 0 && !filtered)
        lack("a worker that is taken over reaches the network: the kernel refuses it a network namespace" +
                 why(held.network_refused),
             "let ordinary processes have user namespaces; a container's filter of calls must allow unshare");
    if (held.filter_refused != 0)
        lack(
            "a worker that is taken over reaches sockets that have a path, such as ssh-agent's and Docker's: "
            "the kernel refuses it a filter of calls" +
                why(held.filter_refused),
            "use a kernel with CONFIG_SECCOMP_FILTER, and a sandbox that allows seccomp");
    if (!held.has_file_rules)
        lack("a worker that is taken over opens its user's files: this kernel has no Landlock",
             "use Linux 5.13 or later with landlock among its security modules (lsm=), and a sandbox that "
             "allows its calls");
    return lacks;
}

}  // namespace assay::worker
