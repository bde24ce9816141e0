/**
 * What a request holds under a key that an adversary knows: whoever knows it opens a ladder step, a name's index or a
 * ciphertext that names it.
 */
import { decryptMessage, nameIndex, type OpenedVaultKey } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { type Middleware, toRequest } from "@coffer/sdk";

/** A request as it left. */
export interface SentRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: string;
  readonly body: Buffer;
}

/** Keeps every request. */
export function keeping(sent: SentRequest[]): Middleware {
  return async (outgoing, next, { endpointId }) => {
    const request = toRequest(outgoing);
    const body = Buffer.from(await request.clone().arrayBuffer());
    sent.push({ endpointId, url: request.url, headers: JSON.stringify([...request.headers]), body });
    return next(request);
  };
}

/** What the adversary would look for: the secrets of which it hopes to find a digest. */
export interface Guesses {
  readonly names: readonly string[];
  /** null: the top of the vault. */
  readonly folderIds: readonly (string | null)[];
}

const STEP_BYTES = 200;
const LINK_AT = 96;

/** `ladder step`, `ciphertext` (something names the key's record) or `name index`, each with the endpoint. */
export async function foundUnder(
  known: readonly OpenedVaultKey[],
  sent: readonly SentRequest[],
  { names, folderIds }: Guesses,
): Promise<string[]> {
  const found = new Set<string>();
  for (const request of sent) {
    const places = placesIn(request);
    for (const { record, key } of known) {
      if (await holdsStep(places, key)) found.add(`ladder step: ${request.endpointId}`);
      if (holds(places, record.keyId) || holds(places, record.bytes)) found.add(`ciphertext: ${request.endpointId}`);
      for (const name of names)
        for (const folderId of folderIds)
          if (holds(places, nameIndex(key, folderId, name))) found.add(`name index: ${request.endpointId}`);
    }
  }
  return [...found].sort();
}

async function holdsStep(places: readonly Buffer[], key: OpenedVaultKey["key"]): Promise<boolean> {
  const subkey = key.subkey("ladder");
  const vault = Buffer.from(key.vault);
  const title = Buffer.from("coffer/ladder/v1\0");
  for (const place of places)
    for (let at = place.indexOf(vault); at >= 0; at = place.indexOf(vault, at + 1)) {
      const step = place.subarray(at, at + STEP_BYTES);
      if (step.length < STEP_BYTES) break;
      const context = Buffer.concat([title, step.subarray(0, LINK_AT)]);
      const opened = await decryptMessage(nodePlatform, subkey, context, step.subarray(LINK_AT)).catch(() => null);
      if (opened !== null) return true;
    }
  return false;
}

function holds(places: readonly Buffer[], bytes: Uint8Array): boolean {
  const wanted = Buffer.from(bytes);
  return places.some((place) => place.includes(wanted));
}

/** A record names others by their ids, which it replaces or leads to: nothing is under those keys. */
function withoutNames({ endpointId, body }: SentRequest): Buffer {
  if (endpointId !== "vaultKeys.publish") return body;
  return Buffer.from(body.toString("latin1").replaceAll(/"(replaces|to)":"[0-9a-f]{64}"/g, ""), "latin1");
}

/** Address, headers and body, and whatever stands there in base64 or in hex; headers have base64 within base64. */
export function placesIn(request: SentRequest): Buffer[] {
  const { url, headers } = request;
  const raw = [Buffer.from(decodeURIComponent(url)), Buffer.from(headers), withoutNames(request)];
  const once = raw.flatMap(decodedIn);
  return [...raw, ...once, ...once.flatMap(decodedIn)];
}

function decodedIn(place: Buffer): Buffer[] {
  const text = place.toString("latin1");
  const encoded = (form: RegExp, encoding: "base64" | "hex"): Buffer[] =>
    [...text.matchAll(form)].map(([found]) => Buffer.from(found, encoding));
  return [...encoded(/[\w+/-]{22,}={0,2}/g, "base64"), ...encoded(/[0-9a-f]{32,}/g, "hex")];
}
