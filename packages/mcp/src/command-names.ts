/** The commands of the launcher. The rest of them is loaded when one is run. */
export const COMMAND_NAMES = ["install", "status", "uninstall", "join", "audit"] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];

export const COMMAND_HELP = `coffer-mcp join CODE [--base-url URL] [--profile NAME] [--config FILE] [--network FILE] [--json]
    Redeems an invite. Saves an API key and a chain key (mode 0600). Prints the chain address.
    Without --network the service's network file is used, if its SHA-256 is in the invite or in --network-digest HEX.
    --code-file FILE, or - for standard input, keeps the invite out of the list of processes.
coffer-mcp install [--client NAME,...] [--allow DIR ...] [--config FILE] [--dry-run] [--json] [-- FLAGS]
    Registers the server with claude-code, claude-desktop, cursor, codex, gemini and vscode.
    Default: every client that is on this machine. FLAGS are those of the server, like --profile read.
coffer-mcp status [--client NAME,...] [--json]
    Shows which clients start this server.
coffer-mcp uninstall [--client NAME,...] [--dry-run] [--json]
    Takes it out again.
coffer-mcp audit verify [--directory DIR] [--json]
    Checks the record of calls. Exit 1: it was changed or cut.`;

export function isCommand(word: string | undefined): word is CommandName {
  return COMMAND_NAMES.some((name) => name === word);
}
