/** Text that others wrote, kept apart from our own words. */

/** Text from outside. Only what shapes a result or a line reads it. */
export class Untrusted {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The visible form: control, invisible and direction-changing characters spelled out, and a limited length. */
  visible(): string {
    return spellOut(this.#text);
  }
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
  const spelled = text.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return spelled.length <= LONGEST ? spelled : `${spelled.slice(0, LONGEST)}… (${String(text.length)} characters)`;
}
