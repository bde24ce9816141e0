/** The methods of a client that know vaults, with arguments of the world that is lied about. One that is missing here turns the test red. */
import { api } from "@coffer/contract";
import { plain, vaultOf } from "./arguments.ts";
import { FILES, FOLDERS, NODE_METHODS } from "./methods-of-files.ts";
import { PEOPLE } from "./methods-of-people.ts";
import { VAULTS } from "./methods-of-vaults.ts";
import type { Method } from "./method.ts";

/** Any endpoint of the contract, as a program calls it by itself. */
const raw: Readonly<Record<string, Method>> = {
  call: plain((run) => run.client.call(api.vaults.get, { params: { vaultId: vaultOf(run) } })),
  request: plain(async (run) => run.client.request(api.files.list, { query: { vaultId: vaultOf(run) } })),
};

export const METHODS: Readonly<Record<string, Method>> = {
  ...PEOPLE,
  ...VAULTS,
  ...FOLDERS,
  ...FILES,
  ...raw,
};
export { NODE_METHODS };

/** Of `@coffer/sdk/node`: what asks the service nothing. */
export const LOCAL: ReadonlySet<string> = new Set([
  ...["configDirectory", "configFile", "contentOriginsIn", "fileStore"],
  ...["openExport", "openSharedVaults", "readConfig", "resolveSettings", "saveExport", "savedSession"],
  ...[
    "storeDirectory",
    "writeConfig",
    "guessContentType",
    "nodeTransport",
    "deprecationWarnings",
    "ProfileMissingError",
    "knowsFolder",
    "isLocalTrash",
    "namesNotUtf8",
    "restoreRemoved",
    "readNetworkFile",
    "saveServedNetwork",
  ],
]);

/** Dotted names of all functions below a client. */
export function methodsOf(value: object, prefix = ""): string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === "function") return [`${prefix}${name}`];
    return typeof member === "object" && member !== null ? methodsOf(member, `${prefix}${name}.`) : [];
  });
}
