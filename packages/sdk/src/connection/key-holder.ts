/** Who holds the vault keys of a connection. The code of shared vaults registers itself here when it is first used. */
import type { Connection } from "./options.ts";

export interface KeyHolder {
  forgetKeys(): void;
}

const holders = new WeakMap<Connection, KeyHolder>();

export function registerKeyHolder(connection: Connection, holder: KeyHolder): void {
  holders.set(connection, holder);
}

/** undefined: the client has not opened a shared vault, and holds no keys. */
export function keyHolderOf(connection: Connection): KeyHolder | undefined {
  return holders.get(connection);
}
