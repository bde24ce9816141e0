/** What a backup says of itself, in `backup.json`. It is written last: a directory without it holds no complete backup. */
import * as z from "zod/mini";

const manifest = z.object({
  format: z.literal(1),
  id: z.uuid(),
  madeAt: z.iso.datetime(),
  /** The release that made it, and the schema of its rows. */
  version: z.string(),
  build: z.string(),
  schema: z.int().check(z.positive()),
  /** Where the data were, without secrets. */
  of: z.object({ rows: z.string(), contents: z.string() }),
  rows: z.int().check(z.nonnegative()),
  /** The SHA-256 of `coffer.sqlite`, lower-case hex. */
  rowsSha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** `listed`: the rows name them, and only their store has them. */
  contents: z.enum(["copied", "listed"]),
  /** Contents in the backup, those of the quarantine among them, and their bytes. Zero where they are only listed. */
  copied: z.int().check(z.nonnegative()),
  bytes: z.int().check(z.nonnegative()),
  /** Contents that the rows name, and that the store did not have. */
  missing: z.int().check(z.nonnegative()),
});

export type Manifest = Readonly<z.infer<typeof manifest>>;

export const renderManifest = (value: Manifest): string => `${JSON.stringify(value, null, 2)}\n`;

/** @throws Error that says what is wrong with the text. */
export function parseManifest(text: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error("backup.json is not JSON");
  }
  const parsed = manifest.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `backup.json was not written by this release: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  );
}
