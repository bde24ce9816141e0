/** The manual page of `coffer`, in roff, made of what its commands declare. */
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { argumentForms, flagBrief, flagTitle } from "./flag-forms.ts";
import { ROUTES } from "./routes.ts";
import { listCommands, type ListedCommand } from "./command-list.ts";
import { VERSION } from "./version.ts";
import type { Flags } from "./declarations.ts";

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  SERVICE_BASE_URL: "Address of the service, as --base-url",
  SERVICE_API_KEY: "API key. It wins over the profile's",
  SERVICE_PROFILE: "Profile of the configuration, as --profile",
  SERVICE_CHAIN_PRIVATE_KEY: "Private key of your chain address, which opens shared vaults",
  SERVICE_NETWORK_FILE: "File with the configuration of chain and key servers",
  SERVICE_CONTENT_ORIGINS: "Origins of stores that the service may send downloads to, with spaces between them",
  SERVICE_CONFIG_FILE: "File with the profiles",
  SERVICE_CONFIG_DIR: "Directory of that file, and of what this machine believes of shared vaults",
  NO_COLOR: "Set to anything: prints no colours, as --no-color",
};

const INTRODUCTION = `Owners, operators and scripts use
.B coffer
to keep files in vaults, and to let agents in. The service can read the files of a public vault. Files of a shared vault
are encrypted on this machine.
.PP
A flag wins over the environment, and the environment over the profile. Results go to standard output. Progress, notes and
questions go to standard error. A failure is two lines there, which begin with error: and next:. With
.B \\-\\-json
it is one document on standard output.`;

export async function renderManPage(): Promise<string> {
  const commands = (await listCommands(ROUTES)).toSorted((a, b) => (a.path.join(" ") < b.path.join(" ") ? -1 : 1));
  const exits = Object.entries(EXIT).map(([name, code]) =>
    item(String(code), EXIT_MEANINGS[name as keyof typeof EXIT]),
  );
  const variables = Object.entries(ENVIRONMENT).map(([name, does]) => item(name, does));
  return [
    `.\\" Made by npm run generate from the declarations of the commands.`,
    `.TH COFFER 1 "" "coffer ${VERSION}" "User Commands"`,
    // Long words are neither stretched nor broken.
    ".ad l\n.nh",
    section("NAME", "coffer \\- encrypted file storage that AI agents can use safely"),
    section("SYNOPSIS", ".B coffer\n.I COMMAND\n.RI [ FLAGS ]\n.RI [ ARGUMENTS ]"),
    section("DESCRIPTION", INTRODUCTION),
    section("FLAGS OF EVERY COMMAND", flagItems({ ...GLOBAL_FLAGS, ...LIST_FLAGS })),
    section("COMMANDS", commands.map(commandText).join("\n")),
    section("EXIT STATUS", exits.join("\n")),
    section("ENVIRONMENT", variables.join("\n")),
    section("SEE ALSO", ".BR coffer\n.IR COMMAND\n.B \\-\\-help\nshows one command with its examples."),
    "",
  ].join("\n");
}

const section = (title: string, text: string): string => `.SH ${title}\n${text}`;
const item = (title: string, text: string): string => `.TP\n.B ${escaped(title)}\n${line(text)}`;

function commandText({ path, command }: ListedCommand): string {
  const { brief, description, examples, flags, isList } = command;
  const title = ["coffer", ...path, ...argumentForms(command)].join(" ");
  return [
    `.SS ${escaped(title)}`,
    line(`${brief}.${isList ? " A list." : ""}`),
    ...(description === "" ? [] : [".br", line(description)]),
    ...(Object.keys(flags).length === 0 ? [] : [flagItems(flags)]),
    ...examples.flatMap((example) => [".PP", `.RS 4`, line(example.line), ".br", line(`# ${example.does}`), ".RE"]),
  ].join("\n");
}

const flagItems = (flags: Flags): string =>
  Object.entries(flags)
    .map(([name, flag]) => item(flagTitle(name, flag), `${flagBrief(flag)}.`))
    .join("\n");

/** Old readers take ASCII alone. */
const escaped = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(
      /[^\0-\u007F]/gu,
      (each) => `\\[u${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
/** A line that begins with a dot or a quote would be a request. */
const line = (text: string): string =>
  escaped(text)
    .replace(/^([.'])/, "\\&$1")
    .replaceAll(/\n([.'])/g, "\n\\&$1");
