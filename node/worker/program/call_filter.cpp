// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/call_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

namespace assay::worker {

namespace {

using When = CallRule::When;

// The program of a filter reads call, architecture and arguments from here.
constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr std::uint32_t kArchitecture = offsetof(seccomp_data, arch);
constexpr std::uint32_t kArguments = offsetof(seccomp_data, args);

#if defined(__x86_64__)
constexpr std::uint32_t kOurs = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kOurs = AUDIT_ARCH_AARCH64;
#endif

// Both architectures have the low half of an argument first.
constexpr std::uint32_t low_half(unsigned argument) {
    return kArguments + argument * static_cast<std::uint32_t>(sizeof(std::uint64_t));
}

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }

// Skips so many instructions where what was loaded is `value`, and so many where it is not.
sock_filter compare(std::uint32_t value, std::uint8_t equal, std::uint8_t other) {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, equal, other);
}

sock_filter refuse() { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM); }

// The number of the call is loaded before and behind them.
void add(std::vector<sock_filter>& program, const CallRule& rule) {
    const auto number = static_cast<std::uint32_t>(rule.number);
    if (rule.when == When::kAlways) {
        program.insert(program.end(), {compare(number, 0, 1), refuse()});
        return;
    }
    const bool refused_if_equal = rule.when == When::kArgumentIs;
    program.insert(program.end(), {compare(number, 0, 4), load(low_half(rule.argument)),
                                   compare(rule.value, refused_if_equal ? 0 : 1, refused_if_equal ? 1 : 0),
                                   refuse(), load(kNumber)});
}

std::vector<sock_filter> program_of(const std::vector<CallRule>& rules) {
    // Of another architecture (a 32-bit call of a 64-bit process) numbers mean other calls: all are refused.
    std::vector<sock_filter> program{load(kArchitecture), compare(kOurs, 1, 0), refuse(), load(kNumber)};
#if defined(__x86_64__)
    // The same calls by the numbers of x32.
    constexpr std::uint32_t kX32 = 0x40000000;
    program.insert(program.end(), {BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1), refuse()});
#endif
    for (const CallRule& rule : rules) add(program, rule);
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return program;
}

// A leak sanitizer stops its own process by ptrace when it ends.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kTracesItself = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kTracesItself = true;
#else
constexpr bool kTracesItself = false;
#endif
#else
constexpr bool kTracesItself = false;
#endif

}  // namespace

std::vector<CallRule> worker_call_rules() {
    std::vector<CallRule> rules;
    const auto never = [&](std::initializer_list<int> numbers) {
        for (const int number : numbers) rules.push_back({number});
    };
    // Sockets. A pair of datagrams' can be sent from to any path, so there is no new one of any kind.
    never({SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4});
    // Rings of input and output do all of this without a call.
    never({SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register});
    never({SYS_execve, SYS_execveat});
    // Memory and descriptors of its user's other processes, and keys that the kernel keeps for a session.
    never({SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_open, SYS_pidfd_getfd,
           SYS_pidfd_send_signal});
    if (!kTracesItself) never({SYS_ptrace});
    never({SYS_add_key, SYS_request_key, SYS_keyctl});
    never({SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd});
    // Signals go to itself alone: abort() and raise() send them to a thread.
    const auto self = static_cast<std::uint32_t>(::getpid());
    for (const int number : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
        rules.push_back({number, When::kArgumentIsNot, 0, self});
    never({SYS_tkill});
    // Input that a terminal takes for typed, and a terminal for itself.
    for (const unsigned request : {unsigned{TIOCSTI}, unsigned{TIOCLINUX}, unsigned{TIOCSCTTY}})
        rules.push_back({SYS_ioctl, When::kArgumentIs, 1, request});
    return rules;
}

int hold_to_calls(const std::vector<CallRule>& rules) {
    std::vector<sock_filter> program = program_of(rules);
    sock_fprog what{static_cast<unsigned short>(program.size()), program.data()};
    // Without this flag kernels before 5.16 forbid speculation, which costs a step time.
    constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &what) == 0 ? 0 : errno;
}

}  // namespace assay::worker
