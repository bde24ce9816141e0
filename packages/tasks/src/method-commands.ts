/** Sentences of the SDK name its methods. People have commands for them, and models have tools, or a user with commands. */

interface Words {
  readonly command: string;
  /** Where there is one. */
  readonly tool?: string;
}

export const METHOD_COMMANDS: Readonly<Record<string, Words>> = {
  "account.linkChain": { command: "coffer account link-chain" },
  "apiKeys.revoke": { command: "coffer api-keys revoke ID", tool: "access_revoke" },
  "vaults.checkAccess": { command: "coffer vaults check VAULT", tool: "vault_access_check" },
  "vaults.forgetSeen": { command: "coffer vaults forget-seen VAULT" },
  "vaults.leave": { command: "coffer vaults leave VAULT" },
  "vaults.members.add": { command: "coffer vaults members add VAULT ADDRESS --until TIME", tool: "access_grant" },
  "vaults.members.remove": { command: "coffer vaults members remove VAULT ADDRESS", tool: "access_revoke" },
  "vaults.members.setUntil": { command: "coffer vaults members set-until VAULT ADDRESS TIME" },
  "vaults.offerOwnership": { command: "coffer vaults offer VAULT ADDRESS" },
  "vaults.rotate": { command: "coffer vaults rotate VAULT" },
  "vaults.setSigningKey": { command: "coffer vaults set-signing-key VAULT" },
  "vaults.trust": { command: "coffer vaults trust --object OBJECT --owner ADDRESS VAULT" },
  "vaults.trustOwner": { command: "coffer vaults trust-owner VAULT ADDRESS" },
};

/** `vault`: its id, where it is known. */
export function inCommandWords(sentence: string, vault = "VAULT"): string {
  return replaced(sentence, ({ command }) => command.replace("VAULT", vault));
}

/** `vault`: its id, where it is known. */
export function inToolWords(sentence: string, vault = "VAULT"): string {
  return replaced(sentence, ({ command, tool }) => tool ?? command.replace("VAULT", vault));
}

function replaced(sentence: string, wordsFor: (words: Words) => string): string {
  return sentence.replaceAll(/`?\b((?:[a-zA-Z]+\.){1,2}[a-zA-Z]+)(?:\([^)]*\))?`?/g, (match, method: string) => {
    const words = Object.hasOwn(METHOD_COMMANDS, method) ? METHOD_COMMANDS[method] : undefined;
    return words === undefined ? match : wordsFor(words);
  });
}
