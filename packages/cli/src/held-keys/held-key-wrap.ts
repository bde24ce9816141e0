/** Shared vaults whose keys a process of this user may hold: it is asked before the key servers. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { SharedVaults } from "@coffer/sdk";
import { ask, socketOf } from "./socket.ts";

export { socketOf };

type OpenKeyWrap = NonNullable<SharedVaults["keyWrap"]>;
type KeyWrap = ReturnType<OpenKeyWrap>;
type Sealed = Parameters<KeyWrap["unwrap"]>[0][number];

/** Without such a process, the vaults as they are. */
export function withHeldKeys(vaults: SharedVaults, socket: string): SharedVaults {
  const { keyWrap } = vaults;
  // A path that nothing is at needs no question, and no code of key servers is put aside.
  if (keyWrap === undefined || !existsSync(socket)) return vaults;
  return { ...vaults, keyWrap: (parts) => heldKeyWrap(keyWrap, parts, socket) };
}

function heldKeyWrap(open: OpenKeyWrap, parts: Parameters<OpenKeyWrap>[0], socket: string): KeyWrap {
  let opened: KeyWrap | null = null;
  const inner = (): KeyWrap => (opened ??= open(parts));
  // Another member, another network or other key servers: another name.
  const scope = JSON.stringify([parts.signer.chainAddress, parts.network]);
  return {
    // Held keys need no key servers.
    prepare: () => undefined,
    wrap: async (key, place) => await inner().wrap(key, place),
    unwrap: async (items) => {
      if (items.length === 0) return [];
      const names = items.map((item) => nameOf(scope, item));
      const held = await heldKeys(socket, names);
      if (held === null) return await inner().unwrap(items);
      const missing = items.filter((_, at) => held[at] == null);
      if (missing.length === 0) return held.flatMap((key) => key ?? []);
      const fresh = await inner().unwrap(missing);
      const keys = held.map((key) => key ?? fresh.shift() ?? new Uint8Array());
      await offer(socket, names, keys);
      return keys;
    },
    checkKeyServers: async () => await inner().checkKeyServers(),
    checkSession: async () => await inner().checkSession(),
    close: () => opened?.close(),
  };
}

/** A name for each sealed key and whom it is opened for. */
function nameOf(scope: string, { sealedKey, place }: Sealed): string {
  const { vault, creator, generation, after } = place;
  return createHash("sha256")
    .update(JSON.stringify([scope, hex(vault), hex(creator), String(generation), String(after)]))
    .update(sealedKey)
    .digest("hex");
}

/** In the order of the names; null: nobody answers, or not held. Each key is compared with its record where a vault is opened. */
async function heldKeys(socket: string, names: readonly string[]): Promise<readonly (Uint8Array | null)[] | null> {
  const answer = await ask(socket, { ask: "get", names });
  if (answer === null) return null;
  const { keys } = answer;
  return names.map((_, at) => {
    const text: unknown = Array.isArray(keys) ? keys[at] : null;
    return typeof text === "string" ? Uint8Array.from(Buffer.from(text, "base64")) : null;
  });
}

async function offer(socket: string, names: readonly string[], keys: readonly Uint8Array[]): Promise<void> {
  const texts = keys.map((key, at) => [names[at] ?? "", Buffer.from(key).toString("base64")] as const);
  await ask(socket, { ask: "put", keys: Object.fromEntries(texts) });
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
