// SPDX-License-Identifier: Apache-2.0
// assay data pack|show
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/views/json.hpp"
#include "trainer/data/manifest.hpp"
#include "trainer/data/pack.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct PackFlags {
    std::vector<std::string> texts;
    std::string out;
    std::string form = "name";
    std::string tokenizer;
    trainer::PackOptions options;
};

struct ShowFlags {
    std::string manifest;
};

Json file_json(const trainer::DataFile& file) {
    JsonFields body;
    body("name", file.name);
    body("bytes", file.bytes);
    body("tokens", file.tokens);
    body("id", file.id);
    return body.take();
}

void print_manifest(const Context& context, const trainer::Manifest& manifest,
                    const std::filesystem::path& path) {
    if (!context.json()) {
        context.out << trainer::show(manifest);
        return;
    }
    JsonFields body;
    body("manifest", path.string());
    body("source", manifest.source);
    body("licence", manifest.licence);
    body("text_bytes", manifest.text_bytes);
    body("documents", manifest.documents);
    body("vocabulary", manifest.vocabulary);
    body("tokenizer", file_json(manifest.tokenizer));
    body("train", file_json(manifest.train));
    body("held_out", file_json(manifest.held_out));
    context.print_json("assay.data.show/v1", body.take());
}

Outcome<void> pack_text(const Context& context, const PackFlags& flags) {
    trainer::PackOptions options = flags.options;
    options.texts.assign(flags.texts.begin(), flags.texts.end());
    options.out = flags.out;
    options.form = flags.form == "plain"   ? trainer::TextForm::kPlain
                   : flags.form == "jsonl" ? trainer::TextForm::kJsonl
                                           : trainer::TextForm::kByName;
    options.tokenizer = flags.tokenizer;
    if (!flags.tokenizer.empty() && std::filesystem::is_directory(options.tokenizer))
        options.tokenizer /= "tokenizer.json";
    context.err << "packing " << flags.texts.size() << " file(s), "
                << (flags.tokenizer.empty() ? "vocabulary " + std::to_string(options.vocabulary)
                                            : options.tokenizer.string())
                << '\n';
    ASSAY_ASSIGN(const auto manifest, trainer::pack(options));
    print_manifest(context, manifest, options.out / "manifest.json");
    return {};
}

Outcome<void> show_data(const Context& context, const ShowFlags& flags) {
    std::filesystem::path path = flags.manifest;
    if (std::filesystem::is_directory(path)) path /= "manifest.json";
    ASSAY_ASSIGN(const auto manifest, trainer::read_manifest(path));
    ASSAY_TRY(trainer::check_data_files(manifest, path.parent_path()));
    print_manifest(context, manifest, path);
    return {};
}

}  // namespace

void add_data_commands(CLI::App& app, Context& context) {
    CLI::App& data = noun(app, "data", "Text to token files and their manifest");
    const auto flags = std::make_shared<PackFlags>();
    CLI::App& packed = verb(data, "pack", "Train a tokenizer on UTF-8 text or JSONL and write token files",
                            context, [&context, flags] { return pack_text(context, *flags); });
    packed.add_option("texts", flags->texts, "Files, in the order in which they are packed")->required();
    packed.add_option("--out", flags->out, "Folder of manifest, tokens and tokenizer")->required();
    CLI::Option* vocabulary =
        packed.add_option("--vocabulary", flags->options.vocabulary, "Tokens in the vocabulary")
            ->check(CLI::Range(257U, 65536U))
            ->capture_default_str();
    packed
        .add_option("--tokenizer", flags->tokenizer,
                    "Use this tokenizer.json, or that of a model folder, instead of training one")
        ->excludes(vocabulary);
    packed.add_option("--held-out", flags->options.held_out_permille, "Thousandths of the text held out")
        ->check(CLI::Range(1U, 500U))
        ->capture_default_str();
    packed.add_option("--form", flags->form, "name (.jsonl or plain), plain, or jsonl")
        ->check(CLI::IsMember({"name", "plain", "jsonl"}))
        ->capture_default_str();
    packed.add_option("--separator", flags->options.separator, "Plain text: where a document ends");
    packed.add_option("--source", flags->options.source, "Where the text comes from");
    packed.add_option("--licence", flags->options.licence, "Licence of the text")->capture_default_str();

    const auto shown = std::make_shared<ShowFlags>();
    CLI::App& show = verb(data, "show", "A manifest, after checking every file that it names", context,
                          [&context, shown] { return show_data(context, *shown); });
    show.add_option("manifest", shown->manifest, "manifest.json or its folder")->required();
}

}  // namespace assay::node
