// SPDX-License-Identifier: Apache-2.0
// assay completion bash
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"

namespace assay::node {
namespace {

/// Words that may follow `command`: its subcommands, then its flags.
std::string words_after(const CLI::App& command) {
    std::string words;
    for (const CLI::App* sub : command.get_subcommands({})) words += sub->get_name() + " ";
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
    }
    if (!words.empty()) words.pop_back();
    return words;
}

/// One line of the case statement for a command, and for all below it.
void print_cases(std::ostream& out, const CLI::App& command, const std::string& path) {
    out << "        \"" << path << "\") words=\"" << words_after(command) << "\" ;;\n";
    for (const CLI::App* sub : command.get_subcommands({}))
        print_cases(out, *sub, path.empty() ? sub->get_name() : path + " " + sub->get_name());
}

base::Outcome<void> print_bash(const Context& context, const CLI::App& app) {
    context.out
        << "# bash completion of assay: eval \"$(assay completion bash)\"\n"
           "_assay() {\n"
           "    local word path=\"\" words=\"\" current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [[ $word == [a-z]* ]] || continue\n"
           "        case \" $(_assay_words \"$path\") \" in\n"
           "            *\" $word \"*) path=\"${path:+$path }$word\" ;;\n"
           "        esac\n"
           "    done\n"
           "    words=\"$(_assay_words \"$path\")\"\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words --home --node --output\" -- \"$current\")\n"
           "}\n"
           "_assay_words() {\n"
           "    local words=\"\"\n"
           "    case \"$1\" in\n";
    print_cases(context.out, app, "");
    context.out << "    esac\n"
                   "    printf '%s' \"$words\"\n"
                   "}\n"
                   "complete -o default -F _assay assay\n";
    return {};
}

}  // namespace

void add_completion_command(CLI::App& app, Context& context) {
    CLI::App& completion = noun(app, "completion", "Completion of commands and flags in a shell");
    verb(completion, "bash", "For bash: eval \"$(assay completion bash)\"", context,
         [&context, &app] { return print_bash(context, app); });
}

}  // namespace assay::node
