// SPDX-License-Identifier: Apache-2.0
// The memory that a process can have: its control groups' limits, as both versions of Linux's hierarchy write
// them.
#include "node/runtime/machine_memory.hpp"

#include <map>

#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

/// Files that are there, by path.
struct Files {
    std::map<std::string, std::string> texts;
    std::optional<std::uint64_t> least(std::string_view groups, std::string_view mounts) const {
        return least_group_limit(groups, mounts, [this](const std::string& path) {
            const auto found = texts.find(path);
            return found == texts.end() ? std::nullopt : std::optional(found->second);
        });
    }
};

constexpr const char* kUnifiedMount =
    "25 30 0:23 / /proc rw,nosuid - proc proc rw\n"
    "31 30 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

}  // namespace

TEST_CASE("the least limit of a process's group and of all above it holds, version 2") {
    Files files;
    files.texts = {{"/sys/fs/cgroup/memory.max", "max\n"},
                   {"/sys/fs/cgroup/user.slice/memory.max", "2147483648\n"},
                   {"/sys/fs/cgroup/user.slice/miner.scope/memory.max", "4294967296\n"}};
    CHECK(files.least("0::/user.slice/miner.scope\n", kUnifiedMount) == 2147483648U);
    CHECK(files.least("0::/user.slice\n", kUnifiedMount) == 2147483648U);
    CHECK_FALSE(files.least("0::/\n", kUnifiedMount).has_value());
    CHECK_FALSE(files.least("0::/elsewhere\n", kUnifiedMount).has_value());
}

TEST_CASE("the same, version 1, where memory has a hierarchy of its own") {
    const std::string mounts =
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    Files files;
    files.texts = {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n"},
                   {"/sys/fs/cgroup/cpu/box/memory.limit_in_bytes", "1\n"}};
    CHECK(files.least("9:cpu:/box\n4:memory:/box/inner\n0::/\n", mounts) == 1073741824U);
    CHECK(files.least("4:hugetlb,memory:/box\n", mounts) == 1073741824U);
    CHECK(files.least("4:memory:/\n", mounts) == 9223372036854771712U);
}

TEST_CASE("a container that sees only its own group reads that group's limit") {
    // Docker without a namespace for control groups: the path is the host's, and the group itself is mounted.
    const std::string mounts = "35 31 0:32 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    Files files;
    files.texts = {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912"},
                   {"/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "268435456"}};
    CHECK(files.least("4:memory:/docker/ab12\n", mounts) == 536870912U);
    CHECK(files.least("4:memory:/docker/ab12/inner\n", mounts) == 268435456U);
    // Another group whose name begins the same, and one above what is mounted.
    CHECK(files.least("4:memory:/docker/ab123\n", mounts) == 536870912U);
    CHECK(files.least("4:memory:/../other\n", mounts) == 536870912U);
}

TEST_CASE("text that is no list of groups or mounts gives no limit") {
    Files files;
    files.texts = {{"/sys/fs/cgroup/memory.max", "much\n"}};
    for (const char* groups : {"", "\n\n", "::", "0::", "0:", "0::box", "memory", "0::/\n"}) {
        CAPTURE(groups);
        CHECK_FALSE(files.least(groups, kUnifiedMount).has_value());
    }
    for (const char* mounts :
         {"", "-", " - cgroup2 cgroup2 rw", "31 30 0:26 / /sys/fs/cgroup rw - cgroup2"}) {
        CAPTURE(mounts);
        CHECK_FALSE(files.least("0::/", mounts).has_value());
    }
}

TEST_CASE("this machine's memory is known") { CHECK(memory_of_machine() > (std::uint64_t{64} << 20U)); }

}  // namespace assay::node
