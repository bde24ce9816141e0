/** The mark of a blob store: which store it is, and which database renewed it last. */
export interface StoreMark {
  readonly storeId: string;
  /** Random, and new with each renewal: who knows it has the newest rows. */
  readonly token: string;
  /** By the clock of the server that renewed it. */
  readonly renewedAt: number;
  /** A database that had renewed it found the token of another one: none of them may delete. */
  readonly contested: boolean;
}

export function renderMark({ storeId, token, renewedAt, contested }: StoreMark): string {
  return `${JSON.stringify({ storeId, token, renewedAt, contested })}\n`;
}

/** @throws Error for anything that {@link renderMark} does not write. */
export function parseMark(text: string): StoreMark {
  const value = valueIn(text);
  if (!isMark(value)) throw new Error("The mark of the blob store cannot be read");
  return value;
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isMark(value: unknown): value is StoreMark {
  if (typeof value !== "object" || value === null) return false;
  const { storeId, token, renewedAt, contested } = value as Partial<Record<keyof StoreMark, unknown>>;
  return (
    typeof storeId === "string" &&
    typeof token === "string" &&
    Number.isSafeInteger(renewedAt) &&
    typeof contested === "boolean"
  );
}
