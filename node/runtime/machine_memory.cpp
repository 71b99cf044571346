// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/machine_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace assay::node {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream{std::string(text)};
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(std::move(part));
    return parts;
}

bool names(const std::string& list, std::string_view controller) {
    const std::vector<std::string> words = split(list, ',');
    return std::find(words.begin(), words.end(), controller) != words.end();
}

/// A mounted hierarchy of control groups that can limit memory.
struct Hierarchy {
    bool unified = false;     ///< version 2
    std::string root;         ///< the group that is mounted
    std::string mount_point;  ///< where
};

// A line of mountinfo: id, parent, device, root, mount point, options, optional fields, "-", type, source,
// options of the file system.
std::optional<Hierarchy> hierarchy_of(const std::string& line) {
    constexpr std::size_t kRoot = 3, kMountPoint = 4, kType = 1, kOptions = 3;
    const std::vector<std::string> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    const auto before = static_cast<std::size_t>(dash - fields.begin());
    if (before <= kMountPoint || fields.size() <= before + kOptions) return std::nullopt;
    const std::string& type = fields[before + kType];
    const bool unified = type == "cgroup2";
    if (!unified && (type != "cgroup" || !names(fields[before + kOptions], "memory"))) return std::nullopt;
    return Hierarchy{.unified = unified, .root = fields[kRoot], .mount_point = fields[kMountPoint]};
}

// The process's group in the hierarchy. Lines of /proc/self/cgroup: number, controllers, path; version 2 has
// number 0 and no controllers.
std::optional<std::string> group_in(const Hierarchy& hierarchy, std::string_view groups) {
    for (const std::string& line : split(groups, '\n')) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (hierarchy.unified ? controllers.empty() : names(controllers, "memory"))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// The group's path below the mount point: "" or "/a/b". A container sees its own group mounted, and a path
// that begins elsewhere.
std::string below_mount(const Hierarchy& hierarchy, const std::string& group) {
    const std::string root = hierarchy.root == "/" ? "" : hierarchy.root;
    const bool inside = group.starts_with(root) && (group.size() == root.size() || group[root.size()] == '/');
    if (!inside || group.find("/..") != std::string::npos) return "";
    const std::string below = group.substr(root.size());
    return below == "/" ? "" : below;
}

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
    std::uint64_t number = 0;
    if (!text) return std::nullopt;
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
    return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;  // version 2 writes "max"
}

std::optional<std::string> text_of(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::optional<std::uint64_t> least_group_limit(std::string_view groups, std::string_view mounts,
                                               const ReadText& read) {
    std::optional<std::uint64_t> least;
    for (const std::string& line : split(mounts, '\n')) {
        const auto hierarchy = hierarchy_of(line);
        const auto group = hierarchy ? group_in(*hierarchy, groups) : std::nullopt;
        if (!group) continue;
        const char* const file = hierarchy->unified ? "/memory.max" : "/memory.limit_in_bytes";
        for (std::string below = below_mount(*hierarchy, *group);; below.resize(below.rfind('/'))) {
            const auto limit = number_in(read(hierarchy->mount_point + below + file));
            if (limit) least = std::min(*limit, least.value_or(*limit));
            if (below.empty()) break;
        }
    }
    return least;
}

std::uint64_t memory_of_machine() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return 0;
    const std::uint64_t physical = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
    const auto limit = least_group_limit(text_of("/proc/self/cgroup").value_or(""),
                                         text_of("/proc/self/mountinfo").value_or(""), text_of);
    return std::min(physical, limit.value_or(physical));
}

}  // namespace assay::node
