/** Text that others wrote, kept apart from our own words. */

/** Text from outside. Only what shapes a result or a line reads it. */
export class Untrusted {
  readonly #text: string;
  readonly #isPage: boolean;

  constructor(text: string, isPage = false) {
    this.#text = text;
    this.#isPage = isPage;
  }

  /**
   * The visible form: control, invisible and direction-changing characters spelled out. A line has a limited length. A
   * page keeps its tabs and ends of lines.
   */
  visible(): string {
    return this.#isPage
      ? this.#text.replace(INVISIBLE, (each) => (/[\n\t]/.test(each) ? each : spelled(each)))
      : spellOut(this.#text);
  }
}

/** A page of text from outside, such as of a file. Its caller limits the length. */
export function untrustedText(text: string): Untrusted {
  return new Untrusted(text.replaceAll("\r\n", "\n"), true);
}

export function untrusted(text: string): Untrusted {
  return new Untrusted(text);
}

const LONGEST = 300;

/**
 * Control, format (bidirectional, zero-width), surrogate and separator characters, and private use. Also everything
 * that is drawn as nothing (UAX #44 Default_Ignorable_Code_Point): variation selectors can carry a whole hidden text.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function spellOut(text: string): string {
  const visible = text.replace(INVISIBLE, spelled);
  return visible.length <= LONGEST ? visible : `${visible.slice(0, LONGEST)}… (${String(text.length)} characters)`;
}

function spelled(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
