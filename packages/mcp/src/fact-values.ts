/** Values of the service as facts: a value with a narrow form is shown as it is, any other text is fenced. */
import { approveCommand, untrusted, type Untrusted } from "@coffer/tasks";

/** A word of the service's own vocabulary, which it may extend. */
export function word(text: string): string | Untrusted {
  return /^[a-z][a-z0-9:_-]{0,40}$/.test(text) ? text : untrusted(text);
}

/** An opaque token to hand back, like a cursor. It is never cut, so only its alphabet is checked. */
export function token(text: string | null): string | Untrusted | null {
  if (text === null) return null;
  return /^[\w.~+/=:-]{1,512}$/.test(text) ? text : untrusted(text);
}

/** Minutes are enough in a table: `2026-11-20T17:00Z`. */
export function minute(timestamp: string): string {
  return timestamp.replace(/:\d{2}(\.\d{3})?Z$/, "Z");
}

/** Seconds are enough for a reader: `2026-11-20T17:00:00Z`. */
export function moment(timestamp: string): string {
  return timestamp.replace(/\.\d{3}Z$/, "Z");
}

export function byteCount(bytes: number): string {
  return `${String(bytes)} bytes`;
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/**
 * What the owner of a shared vault does to make this server a member. The address is this server's own. An agent's
 * invite says until when; whoever was not invited gets the end that the vault's owner names.
 */
export function membershipStep(chainAddress: string, vaultId: string | null): string {
  const vault = vaultId ?? "VAULT";
  return `Ask the vault's owner to add this chain address as a member: ${chainAddress}. The owner of an invited agent runs ${approveCommand(chainAddress)}, or in code client.vaults.members.add("${vault}", { invite: text }); any other owner coffer vaults members add ${vault} ${chainAddress} --until TIME.`;
}
