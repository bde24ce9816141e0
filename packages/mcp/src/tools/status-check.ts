import { api, type Account, type Credential } from "@coffer/contract";
import { DOWNLOADS_STEP, stepFor, TaskFailure, toFailure, untrusted } from "@coffer/tasks";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { FLAG, OBJECT, TEXT, TEXTS } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { word } from "../words.ts";

/** A service that hangs is told of before a model or its user gives up. */
const WAIT_MS = 4_000;

export const statusCheck = defineTool({
  name: "status_check",
  profile: "read",
  title: "Check the setup",
  description:
    "Your account, rights, budgets, chain address, allowed local folders and downloadsFolder; what is wrong, and the next step. Start here when a call fails.",
  endpoints: [api.account.get],
  // Its folders are those that the client's roots leave.
  touchesFiles: true,
  input: {},
  output: {
    ...{
      signedIn: FLAG,
      accessLevel: TEXT,
      accountId: TEXT,
      email: TEXT,
      chainAddress: TEXT,
      key: OBJECT,
      usage: OBJECT,
    },
    ...{
      limits: OBJECT,
      budgets: OBJECT,
      allowedFolders: TEXTS,
      missingFolders: TEXTS,
      ignoredRoots: TEXTS,
      folderStep: TEXT,
      downloadsFolder: TEXT,
      downloadsStep: TEXT,
      problem: TEXT,
      nextStep: TEXT,
    },
    ...{ chainStep: TEXT, sharedVaults: TEXT, sharedVaultsStep: TEXT, vaultId: TEXT, baseUrl: TEXT, configFile: TEXT },
  },
  run: async (_args, call) => {
    const setup = await call.setup();
    const signIn = await signInFacts(call);
    const { folders, ignoredRoots = [] } = call.folders;
    const [downloadsFolder] = call.isRemote ? [] : call.downloads.folders;
    // Only one of the two is a mistake. Without both, the user wants no shared vaults.
    const half = setup.sharedVaults === "no chain key" || setup.sharedVaults === "no network file";
    return {
      summary: signIn.ready && folders.length > 0 && !half ? "Everything is in place." : "Something is missing.",
      facts: {
        ...signIn.facts,
        allowedFolders: folders,
        ...(folders.length > 0
          ? {}
          : {
              folderStep:
                call.folders.outside?.nextStep ??
                "Ask the user to start this server with --allow DIR, or to set SERVICE_ALLOWED_DIRS.",
            }),
        ...(downloadsFolder === undefined ? {} : { downloadsFolder, downloadsStep: DOWNLOADS_STEP }),
        missingFolders: call.folders.missing?.length === 0 ? null : (call.folders.missing ?? null),
        ignoredRoots: ignoredRoots.length === 0 ? null : ignoredRoots.map(untrusted),
        vaultId: call.pinnedVault,
        ...setup,
        ...(half ? { sharedVaultsStep: stepFor("shared_vault") } : {}),
      },
    };
  },
});

async function signInFacts(call: Call): Promise<{ ready: boolean; facts: Record<string, Fact> }> {
  try {
    const { account, credential } = await soon(call, async (signal) => {
      const client = await call.client();
      return await client.account.get({ signal, totalMs: WAIT_MS, attemptMs: WAIT_MS });
    });
    const bound = credential.chainAddress ?? account.chainAddress;
    const own = await call.chainAddress();
    const differs = own !== null && bound !== null && own !== bound;
    const chainStep = `The key belongs to ${bound ?? ""}: ask the user for the chain key of that address.`;
    return {
      ready: !differs,
      facts: {
        signedIn: true,
        accessLevel: word(account.accessLevel),
        // An agent's address is what the owner adds to a vault.
        chainAddress: own ?? bound,
        ...accountFacts(account, credential),
        ...(differs ? { chainStep } : {}),
      },
    };
  } catch (thrown) {
    const failure = toFailure(thrown, call.signal);
    if (failure.code === "cancelled" || failure.code === "unexpected") throw failure;
    return { ready: false, facts: { signedIn: false, ...problemFacts(failure) } };
  }
}

/** Whatever hangs — the settings, the chain's code, the service —, the answer does not. */
async function soon<T>(call: Call, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, WAIT_MS);
  const waited = new Promise<never>((_resolve, reject) => {
    late.signal.addEventListener("abort", () => {
      reject(new TaskFailure("unreachable", { message: "The service did not answer in 4 seconds" }));
    });
  });
  try {
    return await Promise.race([ask(AbortSignal.any([call.signal, late.signal])), waited]);
  } finally {
    clearTimeout(timer);
  }
}

function accountFacts(account: Account, key: Credential): Record<string, Fact> {
  return {
    accountId: account.id,
    email: untrusted(account.email),
    key: {
      kind: word(key.kind),
      id: key.id,
      name: key.name === null ? null : untrusted(key.name),
      scopes: key.scopes === null ? "all" : key.scopes.map(word),
      vaultIds: key.vaultIds ?? "all",
      expires: key.expiresAt ?? "never",
    },
    usage: { ...account.usage },
    limits: { storageBytes: account.limits.storageBytes, fileBytes: account.limits.fileBytes },
    budgets: budgetFacts(key),
  };
}

/** What the key may still store, write and ask. */
function budgetFacts({ budgetUse }: Credential): Fact {
  if (budgetUse === null) return null;
  const used = Object.entries(budgetUse).flatMap(([name, use]) =>
    use === undefined ? [] : [[name, { ...use }] as const],
  );
  return used.length === 0 ? null : Object.fromEntries(used);
}

function problemFacts(failure: TaskFailure): Record<string, Fact> {
  return { problem: failure.code, problemMessage: failure.message, detail: failure.detail, nextStep: failure.nextStep };
}
