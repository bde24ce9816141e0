/** Holds what was read of the vectors of statements to what they say. */
import { expect } from "vitest";
import type { StatementsRead } from "./read-statements.ts";
import type { StatementVectors } from "./statement-vectors.ts";

/** File-format §6 to §9. */
export function expectMaterial(made: StatementsRead, vectors: StatementVectors): void {
  expect(made.signatures).toEqual(vectors.signatures.map(({ digest, signature }) => [digest, signature, true]));
  expect(vectors.forgedSignatures.length).toBeGreaterThan(25);
  for (const [index, { name }] of vectors.forgedSignatures.entries())
    expect([name, made.forged[index]]).toEqual([name, false]);
  expect(made.subkeys).toEqual(vectors.vaultKeys.map((key) => [key.wrap, key.metadata, key.nameIndex, key.ladder, key.check]));
  expect(made.metadata).toEqual(
    vectors.metadata.map(({ encoded, metadata, padded }) => [encoded, padded, metadata, metadata]),
  );
  for (const [index, { name }] of vectors.refusedMetadata.entries())
    expect(made.refusedMetadata[index], name).toEqual({ code: "damaged", step: expect.any(String) });
  expect(made.names).toEqual(vectors.nameIndexes.map(({ index, plainIndex }) => [index, plainIndex]));
}

/** File-format §7.5, §10 and §12: opened to what stands there, or refused at the step that stands there. */
export function expectOutcomes(
  made: StatementsRead,
  vectors: StatementVectors,
  ...kinds: readonly ("versions" | "entries" | "exports" | "ladder")[]
): void {
  for (const kind of kinds) {
    expect(vectors[kind].length).toBeGreaterThan({ versions: 25, entries: 12, exports: 12, ladder: 12 }[kind]);
    for (const [index, { expect: wanted, name }] of vectors[kind].entries())
      expect([name, made[kind][index]]).toEqual([name, wanted]);
  }
}
