// SPDX-License-Identifier: Apache-2.0
// Gives stores Folder, a folder that is opened once, with files in it by single names. Symbolic links are
// never followed. Writes are all or nothing, and on disk when they return.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::node {

/// A descriptor that is closed when this is destroyed. Move-only.
class FileHandle {
public:
    FileHandle() = default;
    explicit FileHandle(int fd) : fd_(fd) {}
    FileHandle(FileHandle&& other) noexcept;
    FileHandle& operator=(FileHandle&& other) noexcept;
    ~FileHandle();
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool ok() const { return fd_ >= 0; }

    /// Exactly `size` bytes from `offset`; kFailure when there are fewer.
    [[nodiscard]] base::Outcome<base::Bytes> read_at(std::uint64_t offset, std::size_t size) const;
    base::Outcome<void> write_at(std::uint64_t offset, base::ByteView content);
    base::Outcome<void> sync();
    [[nodiscard]] base::Outcome<std::uint64_t> size() const;

private:
    int fd_ = -1;
};

/// A file that was made under a name of its own.
struct FreshFile {
    std::string name;
    FileHandle file;
};

/// How a file is opened.
enum class Access : std::uint8_t { kRead, kReadWrite, kCreate, kCreateNew };

/// Makes `path` and the missing folders above it, all with mode 0700 whatever the umask. Existing folders
/// stay as they are. kFailure names the folder that cannot be made.
base::Outcome<void> make_private_folders(const std::filesystem::path& path);

/// Names are single components: a '/' or a leading ".." in one is a bug of ours.
class Folder {
public:
    /// Opens the folder; make_private_folders makes it when it is missing.
    static base::Outcome<Folder> open(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    base::Outcome<Folder> subfolder(const std::string& name) const;  ///< created when missing
    base::Outcome<FileHandle> open_file(const std::string& name, Access access) const;
    /// Makes a file whose name is the process's number and a count, between `before` and `after`. Names that
    /// are taken are passed over: where processes of one folder have equal numbers, as in containers or after
    /// a restart of one, another's files, and those of a killed process, stay as they are. Held as by
    /// open_held().
    base::Outcome<FreshFile> make_fresh(const std::string& before = {}, const std::string& after = {}) const;
    /// Opens a file, or makes it, and holds it until it is closed. Nothing when somebody else holds it, in
    /// this process or another.
    base::Outcome<std::optional<FileHandle>> open_held(const std::string& name) const;
    base::Outcome<void> remove_unheld(const std::string& name) const;  ///< success when it is held, and stays
    base::Outcome<base::Bytes> read(const std::string& name) const;    ///< kNotFound when absent
    base::Outcome<void> replace(const std::string& name, base::ByteView content) const;
    base::Outcome<void> remove(const std::string& name) const;  ///< success when absent
    /// Moves a file atomically and replaces one of the new name; both folders are synced.
    base::Outcome<void> rename_to(const std::string& name, const Folder& target,
                                  const std::string& new_name) const;
    [[nodiscard]] std::vector<std::string> names() const;  ///< ascending
    [[nodiscard]] bool has(const std::string& name) const;
    base::Outcome<void> sync() const;
    [[nodiscard]] std::uint64_t free_bytes() const;

private:
    Folder(std::filesystem::path path, FileHandle handle)
        : path_(std::move(path)), handle_(std::move(handle)) {}
    [[nodiscard]] base::Failed<base::Error> trouble(const std::string& doing, const std::string& name) const;
    std::filesystem::path path_;
    FileHandle handle_;
};

}  // namespace assay::node
