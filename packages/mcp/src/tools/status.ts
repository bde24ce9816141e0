import { api } from "@coffer/contract";
import { stepFor, toFailure, type TaskFailure } from "@coffer/tasks";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { defineTool } from "../tool.ts";
import { word } from "../words.ts";

export const statusTools = [
  defineTool({
    name: "status_check",
    title: "Check the setup",
    description:
      "Is this server set up? Service address, config file, sign-in, allowed folders, and the next step if something is wrong. No secrets.",
    endpoints: [api.account.get],
    input: {},
    run: async (_args, call) => {
      const setup = await call.setup();
      const signIn = await signInFacts(call);
      const folders = call.folders.folders;
      // Only one of the two is a mistake. Without both, the user wants no shared vaults.
      const half = setup.sharedVaults === "no chain key" || setup.sharedVaults === "no network file";
      return {
        summary: signIn.ready && folders.length > 0 && !half ? "Everything is in place." : "Something is missing.",
        facts: {
          ...signIn.facts,
          allowedFolders: folders,
          ...(folders.length > 0
            ? {}
            : { folderStep: "Ask the user to start this server with --allow DIR, or to set SERVICE_ALLOWED_DIRS." }),
          vaultId: call.pinnedVault,
          ...setup,
          ...(half ? { sharedVaultsStep: stepFor("shared_vault") } : {}),
        },
      };
    },
  }),
] as const;

async function signInFacts(call: Call): Promise<{ ready: boolean; facts: Record<string, Fact> }> {
  try {
    const client = await call.client();
    const { account, credential } = await client.account.get({ signal: call.signal });
    const { accessLevel } = account;
    const bound = credential.chainAddress ?? account.chainAddress;
    const own = await call.chainAddress();
    // An agent's address is what the owner adds to a vault.
    const facts = { signedIn: true, accessLevel: word(accessLevel), chainAddress: own ?? bound };
    const differs = own !== null && bound !== null && own !== bound;
    const chainStep = `The key belongs to ${bound ?? ""}: ask the user for the chain key of that address.`;
    return {
      ready: !differs,
      facts: { ...facts, credential: word(credential.kind), ...(differs ? { chainStep } : {}) },
    };
  } catch (thrown) {
    const failure = toFailure(thrown, call.signal);
    if (failure.code === "cancelled" || failure.code === "unexpected") throw failure;
    return { ready: false, facts: { signedIn: false, ...problemFacts(failure) } };
  }
}

function problemFacts(failure: TaskFailure): Record<string, Fact> {
  return { problem: failure.code, problemMessage: failure.message, detail: failure.detail, nextStep: failure.nextStep };
}
