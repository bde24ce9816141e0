/** Secrets that a command is there to hand over: printed once, or written into a file that its owner alone reads. */
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { text } from "../../declarations.ts";

export const TO_FILE = {
  toFile: text("Write the secret into this new file (mode 0600), and print it nowhere", { placeholder: "FILE" }),
};

export interface SecretDelivery<Created> {
  readonly created: Created;
  /** null: the secret is to be printed. */
  readonly file: string | null;
}

/** More than any of them takes. */
const ROOM_BYTES = 4_096;

/** The file and its room on the disk are there before the secret is: one that cannot be written costs nothing. */
export async function deliverSecret<Created>(
  { world }: Context,
  toFile: string | undefined,
  create: () => Promise<Created>,
  secretOf: (result: Created) => string,
): Promise<SecretDelivery<Created>> {
  if (toFile === undefined) return { created: await create(), file: null };
  const file = resolve(world.workingDirectory, toFile);
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.write(" ".repeat(ROOM_BYTES), 0);
    const created = await create();
    const { bytesWritten } = await handle.write(`${secretOf(created)}\n`, 0);
    await handle.truncate(bytesWritten);
    return { created, file };
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
}
