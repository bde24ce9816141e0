/** Secrets that a command is there to hand over: printed once, or written into a file that its owner alone reads. */
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { text } from "../../declarations.ts";

export const TO_FILE = {
  toFile: text("Write the secret into this new file (mode 0600), and print it nowhere", { placeholder: "FILE" }),
};

export interface SecretDelivery<Made> {
  readonly created: Made;
  /** null: the secret is to be printed. */
  readonly file: string | null;
}

/** More than any of them takes. */
const ROOM_BYTES = 4_096;

/** The file and its room on the disk are there before the secret is: one that cannot be written costs nothing. */
export async function deliverSecret<Made>(
  { world }: Context,
  toFile: string | undefined,
  make: () => Promise<Made>,
  secretOf: (made: Made) => string,
): Promise<SecretDelivery<Made>> {
  if (toFile === undefined) return { created: await make(), file: null };
  const file = resolve(world.workingDirectory, toFile);
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.write(" ".repeat(ROOM_BYTES), 0);
    const made = await make();
    const { bytesWritten } = await handle.write(`${secretOf(made)}\n`, 0);
    await handle.truncate(bytesWritten);
    return { created: made, file };
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
}
