/** What leaves a client: held to what its caller meant, and to what is true. */
import {
  ENTRY_STATEMENT_BYTES,
  JOINT_ENTRY_STATEMENT_BYTES,
  JOINT_VERSION_STATEMENT_BYTES,
  nameIndex,
  parseEntryStatement,
  parseRecord,
  parseVersionStatement,
  VERSION_STATEMENT_BYTES,
  type EntryStatement,
} from "@coffer/crypto";
import { formsOf, type SecretForm } from "../kit/secret-forms.ts";
import type { Sent } from "./liar.ts";
import { noteItem, type TrueVault } from "./truth.ts";
import type { World } from "./world.ts";
import type { Meaning } from "./method.ts";

export async function blameRequest(
  world: World,
  meaning: Meaning,
  secrets: readonly Hidden[],
  sent: Sent,
  blame: (what: string) => void,
): Promise<void> {
  for (const { what, forms } of secrets)
    if (holds(sent, forms)) blame(`${what} left in the clear with ${sent.endpointId}`);
  const vault = world.truth.vaults.get(meaning.vaultId ?? "");
  if (vault === undefined) return;
  for (const bytes of statementsIn(sent)) blameStatement(world, vault, meaning, sent, bytes, blame);
  await noteRecord(world, vault, sent, blame);
  for (const index of indexesIn(sent)) {
    const problem = blameIndex(world, vault, meaning, sent, index);
    if (problem !== null) blame(problem);
  }
}

export interface Hidden {
  readonly what: string;
  readonly forms: readonly SecretForm[];
}

/** Of a content this many characters are looked for: the word that it begins with. */
const WORD = 36;

export function hiddenOf({ isOpen, content, name }: Meaning): Hidden[] {
  if (isOpen === true) return [];
  return [
    ...(content === undefined ? [] : [{ what: "the content", forms: formsOf(content.slice(0, WORD)) }]),
    ...(name === undefined ? [] : [{ what: "the name", forms: formsOf(name) }]),
  ];
}

function holds({ url, headers, body }: Sent, forms: readonly SecretForm[]): boolean {
  const haystack = [Buffer.from(url), Buffer.from(JSON.stringify(headers)), body];
  return forms.some(({ bytes }) => haystack.some((place) => place.includes(bytes)));
}

/** The parts of a batch have a header of JSON each. */
const JSON_WITHIN = /json|multipart/;

/** Signed entries and versions, wherever they stand in the request. */
function statementsIn({ headers, body }: Sent): Buffer[] {
  const metadata = (headers["upload-metadata"] ?? "").split(",").map((pair) => pair.trim().split(" ")[1] ?? "");
  const twice = metadata.map((text) => Buffer.from(text, "base64").toString());
  const text = JSON_WITHIN.test(headers["content-type"] ?? "") ? body.toString("latin1") : "";
  const quoted = [...text.matchAll(/"([A-Za-z0-9+/=]{300,600})"/g)].map(([, found = ""]) => found);
  const candidates = [headers["coffer-entry"], headers["coffer-version"], ...twice, ...quoted];
  return candidates
    .filter((candidate) => candidate !== undefined)
    .map((candidate) => Buffer.from(candidate, "base64"))
    .filter(({ length }) => ENTRY_LENGTHS.includes(length) || VERSION_LENGTHS.includes(length));
}

const ENTRY_LENGTHS = [ENTRY_STATEMENT_BYTES, JOINT_ENTRY_STATEMENT_BYTES];
const VERSION_LENGTHS = [VERSION_STATEMENT_BYTES, JOINT_VERSION_STATEMENT_BYTES];

function blameStatement(
  world: World,
  vault: TrueVault,
  meaning: Meaning,
  { endpointId }: Sent,
  bytes: Buffer,
  blame: (what: string) => void,
): void {
  const isEntry = ENTRY_LENGTHS.includes(bytes.length);
  const statement = isEntry ? parseEntryStatement(bytes) : parseVersionStatement(bytes);
  if (hex(statement.vault) !== vault.object)
    blame(`a statement for another vault's object left with ${endpointId}: ${hex(statement.vault)}`);
  if (vault.keys.size > 0 && !vault.keys.has(hex(statement.keyId)) && endpointId !== "folderNames.stage")
    blame(`something encrypted under a key that no member made now left with ${endpointId}`);
  if (isEntry) blameEntry(world, vault, meaning, endpointId, parseEntryStatement(bytes), blame);
}

/** A statement about something that is there already must be about what was meant, and say of its place what was true or is wanted. */
function blameEntry(
  { truth }: World,
  { id: vaultId }: TrueVault,
  { itemId, kind, folderId, name, content }: Meaning,
  endpointId: string,
  entry: EntryStatement,
  blame: (what: string) => void,
): void {
  const known = truth.items.get(entry.id);
  const isStaging = endpointId === "folderNames.stage";
  if (known !== undefined && !isStaging && itemId !== undefined && entry.id !== itemId)
    blame(`${entry.id} was signed anew with ${endpointId}, and ${itemId} was meant`);
  if (known !== undefined && !known.folders.has(entry.folderId) && entry.folderId !== folderId)
    blame(`${entry.id} was moved to ${String(entry.folderId)} with ${endpointId}`);
  if (known === undefined && itemId !== undefined && entry.id !== itemId && !isStaging)
    blame(`${entry.id}, which nobody knows, was signed with ${endpointId} in the place of ${itemId}`);
  if (isStaging) return;
  const made = known === undefined ? { name, content } : { name, content: entry.kind === "file" ? content : undefined };
  noteItem(truth, entry.id, { kind: kind ?? entry.kind, vaultId, folderId: entry.folderId, ...made, isKnown: false });
}

/** A new key of a member's own making is a good one from then on. */
async function noteRecord(
  world: World,
  vault: TrueVault,
  { endpointId, url, body }: Sent,
  blame: (what: string) => void,
): Promise<void> {
  if (endpointId !== "vaultKeys.publish") return;
  const { record } = JSON.parse(body.toString()) as { record: string };
  const parsed = parseRecord(Uint8Array.from(Buffer.from(record, "base64")));
  if (hex(parsed.vault) !== vault.object || !url.includes(vault.id))
    blame(`a key for ${hex(parsed.vault)} was published to ${url}`);
  else if (vault.keys.size > 0) await world.openRecord(vault.id, parsed);
}

function indexesIn({ url, headers, body }: Sent): string[] {
  const text = JSON_WITHIN.test(headers["content-type"] ?? "") ? body.toString("latin1") : "";
  const inBody = [...text.matchAll(/"nameIndex":"([0-9a-f]{32})"/g)].map(([, index = ""]) => index);
  const inUrl = new URL(url, "http://127.0.0.1").searchParams.get("nameIndex");
  const inHeader = headers["coffer-name-index"];
  return [...inBody, ...(inUrl === null ? [] : [inUrl]), ...(inHeader === undefined ? [] : [inHeader])];
}

/** An index tells whoever has its key which name it is of: the key must be the members' own, of now. */
function blameIndex(
  { truth }: World,
  { id: vaultId, keys }: TrueVault,
  { name, itemId = "" }: Meaning,
  { endpointId }: Sent,
  index: string,
): string | null {
  if (name === undefined || keys.size === 0) return null;
  const own = [...truth.items].filter(([, item]) => item.vaultId === vaultId);
  const isStaging = endpointId === "folderNames.stage";
  const others = own.filter(([id]) => isStaging || id === itemId).flatMap(([, { names }]) => [...names]);
  const folders = [null, ...own.filter(([, { kind }]) => kind === "folder").map(([id]) => id)];
  for (const key of keys.values())
    for (const folder of folders)
      for (const one of [name, ...others]) if (hex(nameIndex(key, folder, one)) === index) return null;
  return `a name's index that is made with no key of the vault's members left with ${endpointId}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
