// SPDX-License-Identifier: Apache-2.0
// Gives processes Home, the one folder in which a participant keeps everything.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Paths only; asking for one creates nothing.
struct Home {
    std::filesystem::path root;

    [[nodiscard]] std::filesystem::path ledger() const { return root / "ledger"; }  ///< block log and index
    [[nodiscard]] std::filesystem::path blobs() const { return root / "blobs"; }
    [[nodiscard]] std::filesystem::path keys() const { return root / "keys"; }
    [[nodiscard]] std::filesystem::path logs() const { return root / "logs"; }
    [[nodiscard]] std::filesystem::path jobs() const { return root / "jobs"; }  ///< a role's working state
    /// Predictions for the jobs that were bought here (node/config/prediction_file.hpp).
    [[nodiscard]] std::filesystem::path plans() const { return root / "plans"; }
    /// The ledger's state as a role has verified it, to start from. May be moved away while no process runs.
    [[nodiscard]] std::filesystem::path state() const { return root / "state"; }
    [[nodiscard]] std::filesystem::path owner_key() const { return keys() / "owner.key"; }
    [[nodiscard]] std::filesystem::path node_key() const { return keys() / "node.key"; }
    /// A home for each device that has a miner of its own (node/processes/device_homes.hpp).
    [[nodiscard]] std::filesystem::path devices() const { return root / "devices"; }
    [[nodiscard]] std::filesystem::path config() const { return root / "assay.toml"; }
};

/// `--home` when given, else $ASSAY_HOME, else $XDG_DATA_HOME/assay, else ~/.local/share/assay.
/// kUsage when none of them is known.
base::Outcome<Home> find_home(const std::optional<std::filesystem::path>& flag);

/// Creates the missing folders, also those above the home, with mode 0700.
base::Outcome<void> create_home(const Home& home);

/// Lock on a home for as long as this lives, so that no second process works in it.
class HomeLock {
public:
    /// kFailure "… already in use by process N (program)" when another process holds it.
    static base::Outcome<HomeLock> take(const Home& home, std::string_view program);
    HomeLock(HomeLock&& other) noexcept;
    HomeLock& operator=(HomeLock&& other) noexcept;
    ~HomeLock();

private:
    explicit HomeLock(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace assay::node
