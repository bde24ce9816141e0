/** One machine of one person: what its processes leave on its disk is there for the next one, and nothing else is. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Secret,
  type Client,
  type ClientOptions,
  type ProfileStore,
  type SeenMemory,
  type SeenStore,
} from "@coffer/sdk";
import { fileStore, openSharedVaults } from "@coffer/sdk/node";
import type { SharedPerson, SharedStack } from "./shared-stack.ts";

export interface Machine extends AsyncDisposable {
  /** Holds the pins, what was seen, and what was begun. */
  readonly directory: string;
  readonly store: ProfileStore;
  readonly networkFile: string;
  /** A client that remembers what the disk does: what the processes before it have noted is there. */
  newProcess(options?: NewProcess): Promise<Client>;
}

type NewProcess = Partial<ClientOptions> & {
  readonly shared?: Partial<NonNullable<ClientOptions["sharedVaults"]>>;
};

export async function openMachine(
  { network }: Pick<SharedStack, "network">,
  person: Pick<SharedPerson, "privateKey" | "another">,
): Promise<Machine> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-machine-"));
  const networkFile = join(directory, "network.json");
  await writeFile(networkFile, JSON.stringify(network));
  const store = fileStore(directory);
  const memories: SeenMemory[] = [];
  /** What every process still has to write, also one that goes on. */
  const end = async (): Promise<void> => {
    await Promise.all(memories.map((memory) => memory.flush()));
  };
  return {
    directory,
    store,
    networkFile,
    newProcess: async ({ shared, ...options } = {}) => {
      await end();
      const settings = { chainPrivateKey: new Secret(person.privateKey), networkFile };
      const { seen, ...kept } = (await openSharedVaults(settings, fileStore(directory))) ?? {};
      if (seen === undefined) throw new TypeError("nothing outlives the process");
      const noted: SeenStore = {
        open: async (object) => {
          const memory = await seen.open(object);
          memories.push(memory);
          return memory;
        },
      };
      return person.another({ retry: { limit: 0 }, ...options, shared: { ...kept, seen: noted, ...shared } });
    },
    [Symbol.asyncDispose]: async () => {
      await end();
      // A process that has just ended may still be writing what it has seen.
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
