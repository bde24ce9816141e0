/** What tests of shared vaults begin with and do again and again. */
import type { Client, DownloadOptions } from "@coffer/sdk";
import { afterAll, beforeAll } from "vitest";
import { openSharedStack, type SharedStack, type SharedStackOptions } from "./shared-stack.ts";

/** For a service that is asked more often than it would take. */
export const UNLIMITED = {
  environment: { SERVICE_RATE_GENERAL: "100000", SERVICE_RATE_GENERAL_BURST: "10000" },
} satisfies SharedStackOptions;

/** For acts that are cut off again and again: with one key server, which is asked as often as three would be. */
export const OFTEN_CUT = {
  ...UNLIMITED,
  localnet: { keyServers: { independent: { threshold: 1, servers: 1 } } },
} satisfies SharedStackOptions;

/** The stack of a test file: there when its tests begin, gone when they are over. */
export function sharedStack(options: SharedStackOptions | (() => SharedStackOptions) = {}): SharedStack {
  const stack = {} as SharedStack;
  beforeAll(
    async () => void Object.assign(stack, await openSharedStack(typeof options === "function" ? options() : options)),
  );
  afterAll(() => stack[Symbol.asyncDispose]());
  return stack;
}

/** The content as text. */
export async function read(client: Client, fileId: string, options: DownloadOptions = {}): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(fileId, options)).bytes());
}

/** Somebody comes and goes: the vault has a new generation, and its files are of the one before. */
export async function raiseGeneration({ vaults }: Client, vaultId: string): Promise<void> {
  const passing = `0x${crypto.randomUUID().replaceAll("-", "").repeat(2)}`;
  await vaults.members.add(vaultId, passing);
  await vaults.members.remove(vaultId, passing);
}
