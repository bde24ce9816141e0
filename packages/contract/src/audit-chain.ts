/**
 * Checks a chain of audit entries and names the place where it is broken: for the service, its clients and the offline
 * verifier.
 */
import type { AuditEvent } from "./audit.ts";
import { FIRST_PREVIOUS_HASH, renderAuditText } from "./audit-text.ts";

/** How a record outside the chain names an entry. */
export interface AuditLink {
  /** Its number in the account: 1, 2, 3 … */
  readonly sequence: number;
  /** Its hash: 64 lower-case hex digits. */
  readonly hash: string;
}

/** The first entry that was altered. */
export interface AuditFault {
  /** The entry's number; for a missing entry, its place. */
  readonly sequence: number;
  /** null where the entry is missing. */
  readonly id: string | null;
  /** What happened to it. */
  readonly kind: "altered" | "missing" | "inserted";
  /** One sentence for a person. */
  readonly reason: string;
}

/** What a check of the log has found. */
export interface AuditCheck {
  /** Entries read so far: all of them if there is no fault. */
  readonly entries: number;
  /** The newest entry read; note it elsewhere and hand it in as `expect` later. */
  readonly newest: AuditLink | null;
  /** null: a chain cannot show any alteration. */
  readonly fault: AuditFault | null;
}

/** What you noted elsewhere. Each field narrows what an alteration could hide. */
export interface AuditExpectation {
  /** The entry before the oldest one given. Without it nothing checks what the oldest says of its predecessor. */
  readonly before?: AuditLink;
  /** The newest entry that must be there, with none after it. Without it a cut-off tail goes unnoticed. */
  readonly head?: AuditLink;
  /** Noted earlier, in a place that nobody who alters the log can write to. */
  readonly expect?: AuditLink;
}

type HashHex = (text: string) => string | Promise<string>;

/**
 * Checks the entries of one account, oldest first, for the first one that was altered, deleted, inserted or moved.
 * Reads them one at a time and holds two at most. What a hash chain cannot show: a writer of the whole log can also
 * compute every hash again, from the changed entry to the end. Only a hash noted somewhere else beforehand (`expect`)
 * shows that.
 *
 * @param hashHex SHA-256 of the text's UTF-8 in lower-case hex; may be asynchronous, like Web Crypto.
 */
export async function checkAuditChain(
  accountId: string,
  oldestFirst: Iterable<AuditEvent> | AsyncIterable<AuditEvent>,
  hashHex: HashHex,
  expected: AuditExpectation = {},
): Promise<AuditCheck> {
  const chain = new ChainReader(accountId, hashHex, expected);
  for await (const event of oldestFirst) {
    const fault = await chain.read(event);
    if (fault !== null) return chain.conclude(fault);
  }
  return chain.conclude(chain.end());
}

/** An entry whose own hash is right, but which does not name the hash of the one before: one of the two was rewritten. */
interface Doubt {
  readonly earlier: AuditEvent | null;
  readonly later: AuditEvent;
}

class ChainReader {
  readonly #accountId: string;
  readonly #hashHex: HashHex;
  readonly #known: AuditExpectation;
  #previous: AuditEvent | null = null;
  #doubt: Doubt | null = null;
  #entries = 0;

  constructor(accountId: string, hashHex: HashHex, expected: AuditExpectation) {
    this.#accountId = accountId;
    this.#hashHex = hashHex;
    this.#known = expected;
  }

  async read(event: AuditEvent): Promise<AuditFault | null> {
    if (this.#doubt !== null) return settle(this.#doubt, event.previousHash);
    const fault = this.#misplaced(event) ?? (await this.#altered(event)) ?? this.#unexpected(event);
    if (fault !== null) return fault;
    if (event.previousHash !== this.#expectedHash(event)) this.#doubt = { earlier: this.#previous, later: event };
    this.#previous = event;
    this.#entries += 1;
    return null;
  }

  /** Faults that show only at the end of the entries. */
  end(): AuditFault | null {
    const { before, head, expect } = this.#known;
    if (this.#doubt !== null) return settle(this.#doubt, head?.hash ?? this.#doubt.later.hash);
    const last = this.#previous ?? before ?? null;
    const sequence = last?.sequence ?? 0;
    if (head !== undefined && sequence < head.sequence) return missing(sequence + 1, "the log ends before its head");
    if (head !== undefined && last !== null && last.hash !== head.hash) {
      const reason = "the account's head names another hash for the newest entry";
      return { sequence, id: this.#previous?.id ?? null, kind: "altered", reason };
    }
    if (expect !== undefined && sequence < expect.sequence) return missing(sequence + 1, "the noted entry is gone");
    if (expect !== undefined && before?.sequence === expect.sequence && before.hash !== expect.hash) {
      return { sequence: before.sequence, id: null, kind: "altered", reason: "it had another hash than the noted one" };
    }
    return null;
  }

  conclude(fault: AuditFault | null): AuditCheck {
    const newest = this.#previous === null ? null : { sequence: this.#previous.sequence, hash: this.#previous.hash };
    return { entries: this.#entries, newest, fault };
  }

  #misplaced(event: AuditEvent): AuditFault | null {
    const position = this.#expectedSequence(event);
    if (event.sequence > position) return missing(position, `entry ${event.sequence} is in the place of`);
    const { head } = this.#known;
    if (event.sequence === position && (head === undefined || position <= head.sequence)) return null;
    const reason =
      event.sequence < position ? "its place is taken by another entry" : "the account's head comes before it";
    return { sequence: event.sequence, id: event.id, kind: "inserted", reason };
  }

  async #altered(event: AuditEvent): Promise<AuditFault | null> {
    if (await this.#isHashOf(event, event.sequence)) return null;
    const { sequence, id } = event;
    // Rows that were moved up or down to hide a deletion or an insertion still carry the hash of their own number.
    if (await this.#isHashOf(event, sequence + 1)) return missing(sequence, "the entry after it was put in its place");
    const previous = this.#previous;
    const isCopy = event.hash === previous?.hash;
    if (previous !== null && !isCopy && (await this.#isHashOf(event, sequence - 1))) {
      const reason = "the entries after it were moved to make room";
      return { sequence: previous.sequence, id: previous.id, kind: "inserted", reason };
    }
    return { sequence, id, kind: "altered", reason: "it does not have the hash it was written with" };
  }

  #unexpected({ sequence, id, hash }: AuditEvent): AuditFault | null {
    const { expect } = this.#known;
    if (sequence !== expect?.sequence || hash === expect.hash) return null;
    const reason = "its hash is not the noted one: it, or an entry before it, was rewritten together with all hashes";
    return { sequence, id, kind: "altered", reason };
  }

  async #isHashOf(event: AuditEvent, sequence: number): Promise<boolean> {
    return (await this.#hashHex(renderAuditText(this.#accountId, { ...event, sequence }))) === event.hash;
  }

  #expectedSequence(event: AuditEvent): number {
    const before = this.#previous ?? this.#known.before;
    return before === undefined ? event.sequence : before.sequence + 1;
  }

  #expectedHash(event: AuditEvent): string {
    const before = this.#previous ?? this.#known.before;
    if (before !== undefined) return before.hash;
    return event.sequence === 1 ? FIRST_PREVIOUS_HASH : event.previousHash;
  }
}

/** Finds which of the two was rewritten. The entry after the later one vouches for it by naming its hash. */
function settle({ earlier, later }: Doubt, namedAfter: string): AuditFault {
  const rewritten = earlier !== null && namedAfter === later.hash ? earlier : later;
  const reason =
    rewritten === later
      ? "it does not follow the entry before it"
      : "it was rewritten together with its hash: the entry after it names another one";
  return { sequence: rewritten.sequence, id: rewritten.id, kind: "altered", reason };
}

function missing(sequence: number, why: string): AuditFault {
  return { sequence, id: null, kind: "missing", reason: `it is missing: ${why}` };
}
