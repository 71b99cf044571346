// SPDX-License-Identifier: Apache-2.0

#include "node/blob/folder.hpp"
#include "node/runtime/ledger_link.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

Outcome<void> check_name(std::string_view name) {
    const bool safe =
        !name.empty() && name.size() <= 200 && name.front() != '.' &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string_view::npos;
    if (!safe) return fail(ErrorKind::kUsage, "'" + std::string(name) + "' is not a name for a state file");
    return {};
}

class DiskAdapter final : public DiskPort {
public:
    explicit DiskAdapter(Folder folder) : folder_(std::move(folder)) {}

    Outcome<void> write(std::string_view name, ByteView content) override {
        ASSAY_TRY(check_name(name));
        return folder_.replace(std::string(name), content);
    }
    Outcome<std::optional<Bytes>> read(std::string_view name) override {
        ASSAY_TRY(check_name(name));
        auto content = folder_.read(std::string(name));
        if (content) return std::optional<Bytes>(*std::move(content));
        if (content.error().kind == ErrorKind::kNotFound) return std::optional<Bytes>();
        return base::failed(content.error());
    }
    Outcome<void> remove(std::string_view name) override {
        ASSAY_TRY(check_name(name));
        return folder_.remove(std::string(name));
    }
    Outcome<std::vector<std::string>> names(std::string_view prefix) override {
        std::vector<std::string> found = folder_.names();
        std::erase_if(found, [&](const std::string& name) { return !name.starts_with(prefix); });
        return found;
    }

private:
    Folder folder_;
};

}  // namespace

base::Outcome<std::unique_ptr<DiskPort>> make_disk_port(const std::filesystem::path& folder) {
    ASSAY_ASSIGN(Folder opened, Folder::open(folder));
    return std::unique_ptr<DiskPort>(std::make_unique<DiskAdapter>(std::move(opened)));
}

}  // namespace assay::node
