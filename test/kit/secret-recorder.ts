/**
 * Remembers every secret that went through a test's requests, answers and mails, so that what a server leaves behind can
 * be searched for them. One list per test file: a secret of one server has no business in another one either.
 */
import { currentUnit } from "./scan/unit.ts";
import { addressIn } from "./postgres/address.ts";
import { isDatabaseFile, type Place, readPlaces, requireNoSecrets, type Secret } from "./secret-scan.ts";

const recorded = new Map<string, Secret>();

/** Words of a test such as `wrong` are no secrets. */
const SHORTEST = 15;

/** Fields whose texts are secrets in answers of the service. */
const ISSUED = new Set(["key", "apiKey", "code", "accessToken", "refreshToken", "idToken", "salt", "secret", "nonce"]);
/** Fields whose texts are secrets in requests to it. */
const GIVEN = new Set(["password", "currentPassword", "newPassword", "accessCode", "token", "refreshToken", "code"]);

export function recordSecret(kind: string, text: string): void {
  if (text.length >= SHORTEST && !recorded.has(text)) recorded.set(text, { kind, text });
}

/** A test runner begins another test file in this process. */
export function forgetSecrets(): void {
  recorded.clear();
}

/** Everything remembered so far. */
export function recordedSecrets(): Iterable<Secret> {
  return recorded.values();
}

/**
 * Rejects when anything remembered stands in the log or in the database of a server that has ended. `directory`: its data;
 * null: there is none to look at. The outbox is left out: in development it is where mailed tokens are read (decisions §1).
 * What members keep to themselves is looked for at the end of the test file, there too (`scan/`).
 */
export async function requireClean(directory: string | null, log: string | Uint8Array): Promise<void> {
  currentUnit()?.noteLog("server", Buffer.from(log));
  const places = directory === null ? [] : await databasePlaces(directory);
  requireNoSecrets(recordedSecrets(), [...places, { name: "log", bytes: Buffer.from(log) }]);
}

/** The database of a data directory, wherever it is. */
export async function databasePlaces(directory: string): Promise<Place[]> {
  const url = addressIn(directory);
  if (url === null) return readPlaces(directory, isDatabaseFile);
  const { readAllRows } = await import("./postgres/databases.ts");
  return [{ name: "rows", bytes: Buffer.from(await readAllRows(url)) }];
}

/** The body of an answer, as text: JSON, or anything else, which holds none. */
export function recordAnswer(body: string): void {
  record(body, ISSUED);
}

/** The body of a request, as text. */
export function recordRequest(body: string): void {
  record(body, GIVEN);
}

/** Tokens in the links of a mail. */
export function recordMail(text: string): void {
  for (const [, token = ""] of text.matchAll(/[?&#](?:token|code)=([\w-]+)/g)) recordSecret("mailed token", token);
}

function record(body: string, names: ReadonlySet<string>): void {
  if (!body.startsWith("{")) return;
  try {
    const fields = JSON.parse(body) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === "string" && names.has(name)) recordSecret(name, value);
    }
  } catch {
    // Bodies that are no JSON are sent by tests on purpose.
  }
}
