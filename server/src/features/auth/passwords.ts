/** Passwords at rest and in comparison. Whether one is good enough to be set is in password-strength.ts. */
import { argon2, timingSafeEqual } from "node:crypto";
import { systemRandom } from "../../ports/random.ts";
import { ServiceError } from "../../service-error.ts";

export { requireStrongPassword } from "./password-strength.ts";

/** The parameters of a hash. Memory in KiB. */
interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

interface PasswordHash {
  readonly cost: Cost;
  readonly salt: Uint8Array;
  readonly tag: Uint8Array;
}

/** argon2id with 19 MiB, 2 passes, 1 lane: OWASP ASVS 5.0 appendix C (11.4.2) and the OWASP password storage cheat sheet. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Each hash takes 19 MiB and tens of milliseconds of a core: no more than this many at once (OWASP API4:2023). */
const AT_ONCE = 2;
/** When so many wait, the next caller would wait for seconds. It gets an error instead, and comes back. */
const MAX_WAITING = 128;
const RETRY_AFTER_SECONDS = "2";

/** The hash for the case without an account: the same work, and no password has this hash (ASVS 5.0 6.3.8). */
const NOBODY: PasswordHash = { cost: COST, salt: new Uint8Array(SALT_BYTES), tag: new Uint8Array(TAG_BYTES) };

/**
 * The password in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`. The whole password is hashed in
 * its NFKC form, never cut (NIST SP 800-63B-4 §3.1.1.2; ASVS 5.0 6.2.8).
 * @throws ServiceError `unavailable` when too many are waiting.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = systemRandom.bytes(SALT_BYTES);
  return renderHash({ cost: COST, salt, tag: await derive(password, salt, COST) });
}

/**
 * Whether the password has this hash. `hash` null (no such account, or one without a password) takes the same work and
 * resolves false. So its time does not show whether an account exists (ASVS 5.0 6.3.8).
 * @throws ServiceError `unavailable` when too many are waiting.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const kept = hash === null ? NOBODY : parseHash(hash);
  const equal = timingSafeEqual(await derive(password, kept.salt, kept.cost), kept.tag);
  return equal && hash !== null;
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Uint8Array, cost: Cost): Promise<Uint8Array> {
  await acquireSlot();
  try {
    return await runArgon2(password.normalize("NFKC"), salt, cost);
  } finally {
    const next = waiting.shift();
    // The place goes to the one who waits, without being free in between.
    if (next === undefined) running -= 1;
    else next();
  }
}

async function acquireSlot(): Promise<void> {
  if (running < AT_ONCE) {
    running += 1;
    return;
  }
  if (waiting.length >= MAX_WAITING) {
    throw new ServiceError("unavailable", "Too many sign-ins at once", {
      headers: { "Retry-After": RETRY_AFTER_SECONDS },
    });
  }
  const { promise, resolve } = Promise.withResolvers<undefined>();
  waiting.push(() => resolve(undefined));
  await promise;
}

function runArgon2(message: string, nonce: Uint8Array, cost: Cost): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  argon2("argon2id", { message, nonce, tagLength: TAG_BYTES, ...cost }, (error, tag) => {
    if (error === null) resolve(tag);
    else reject(error);
  });
  return promise;
}

function renderHash({ cost, salt, tag }: PasswordHash): string {
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** B64 of the PHC string format: base64 without padding. */
function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{43})$/;

/** Reads hashes of other costs too: those made before the cost was raised. Never names the hash in its error. */
function parseHash(text: string): PasswordHash {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(text) ?? [];
  if (salt === undefined || tag === undefined) throw new Error("a stored password hash is not argon2id in PHC form");
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}
