import { api, type Account, type Credential } from "@coffer/contract";
import type { LayerCheck } from "@coffer/sdk";
import { DOWNLOADS_STEP, inToolWords, stepFor, TaskFailure, toFailure, untrusted } from "@coffer/tasks";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { FLAG, OBJECT, TEXT, TEXTS } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { word } from "../fact-values.ts";

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
    signedIn: FLAG,
    accessLevel: TEXT,
    accountId: TEXT,
    email: TEXT,
    chainAddress: TEXT,
    key: OBJECT,
    usage: OBJECT,
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
    layers: OBJECT,
    layersStep: TEXT,
    chainStep: TEXT,
    sharedVaults: TEXT,
    sharedVaultsStep: TEXT,
    vaultId: TEXT,
    baseUrl: TEXT,
    configFile: TEXT,
  },
  run: async (_args, call) => {
    const setup = await call.setup();
    const [signIn, network] = await Promise.all([signInFacts(call, setup.baseUrl), networkFacts(call)]);
    const { folders, ignoredRoots = [] } = call.folders;
    const [downloadsFolder] = call.isRemote ? [] : call.downloads.folders;
    // Only one of the two is a mistake. Without both, the user wants no shared vaults.
    const half = setup.sharedVaults === "no chain key" || setup.sharedVaults === "no network file";
    return {
      summary:
        signIn.ready && network.ready && folders.length > 0 && !half
          ? "Everything is in place."
          : "Something is missing.",
      facts: {
        ...signIn.facts,
        layers: { service: signIn.service, ...network.layers },
        ...(network.step === null ? {} : { layersStep: network.step }),
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

interface SignIn {
  readonly ready: boolean;
  /** Whether the service answered. */
  readonly service: "ok" | "away" | "unknown";
  readonly facts: Record<string, Fact>;
}

async function signInFacts(call: Call, baseUrl: string | null): Promise<SignIn> {
  try {
    const { account, credential } = await soon(call, baseUrl, async (signal) => {
      const client = await call.client();
      return await client.account.get({ signal, totalMs: WAIT_MS - 200, attemptMs: WAIT_MS - 200 });
    });
    const bound = credential.chainAddress ?? account.chainAddress;
    const own = await call.chainAddress();
    const differs = own !== null && bound !== null && own !== bound;
    const chainStep = `The key belongs to ${bound ?? ""}: ask the user for the chain key of that address.`;
    return {
      ready: !differs,
      service: "ok",
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
    const service = failure.code === "unreachable" ? "away" : failure.requestId === null ? "unknown" : "ok";
    return { ready: false, service, facts: { signedIn: false, ...problemFacts(failure) } };
  }
}

interface Network {
  readonly ready: boolean;
  readonly layers: Readonly<Record<string, Fact>>;
  /** Of the first layer that does not answer. */
  readonly step: string | null;
}

/** The chain and the key servers, where this server has what opens shared vaults. Each is asked for three seconds at most. */
async function networkFacts(call: Call): Promise<Network> {
  try {
    const network = await call.network();
    if (network === null) return { ready: true, layers: {}, step: null };
    const { chain, keyServers } = network;
    const wrong = [chain, keyServers].find(({ state }) => state !== "ok");
    const stateOf = ({ state, cause }: LayerCheck): Fact => (cause === null ? state : word(cause));
    return {
      ready: wrong === undefined,
      layers: { chain: stateOf(chain), keyServers: stateOf(keyServers) },
      step: wrong === undefined ? null : inToolWords(wrong.nextStep),
    };
  } catch (thrown) {
    const { code, nextStep } = toFailure(thrown, call.signal);
    return { ready: false, layers: { chain: code, keyServers: code }, step: nextStep };
  }
}

/** Whatever hangs — the settings, the chain's code, the service —, the answer does not. */
async function soon<T>(call: Call, baseUrl: string | null, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, WAIT_MS);
  const waited = new Promise<never>((_resolve, reject) => {
    late.signal.addEventListener("abort", () => {
      const nextStep = `Ask the user to check that the service runs at ${baseUrl ?? "its base URL"}, and that this machine reaches it.`;
      reject(new TaskFailure("unreachable", { message: "The service did not answer in 4 seconds", nextStep }));
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
