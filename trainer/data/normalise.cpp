// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/normalise.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "contracts/base/bytes.hpp"

namespace assay::trainer {
namespace {

struct Free {
    void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

}  // namespace

base::Outcome<std::string> to_nfc(std::string_view text) {
    if (!base::is_utf8(text)) {
        return base::fail(base::ErrorKind::kUsage, "the text is not UTF-8",
                          "convert it, for example with `iconv -f LATIN1 -t UTF-8`");
    }
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
        &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, Free> owner(made);
    if (size < 0) {
        return base::fail(base::ErrorKind::kFailure,
                          std::string("putting the text into NFC failed: ") + utf8proc_errmsg(size),
                          "give the text in smaller files");
    }
    return std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

}  // namespace assay::trainer
