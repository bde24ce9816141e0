// `node --conditions=coffer-source scripts/generate-vectors.ts`: writes the committed vectors of the file format. They change only
// with the format: a change here that was not meant is a break of it.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "prettier";
import { makePayloadVectors } from "../test/vectors/payload-vectors.ts";
import { makeStatementVectors } from "../test/vectors/statement-vectors.ts";

const DIRECTORY = path.join(path.dirname(import.meta.dirname), "test/vectors/file-format");
const MAKERS: Readonly<Record<string, () => Promise<unknown>>> = {
  "payload.json": makePayloadVectors,
  "statements.json": makeStatementVectors,
};

mkdirSync(DIRECTORY, { recursive: true });
for (const [name, make] of Object.entries(MAKERS)) {
  const text = await format(JSON.stringify(await make()), { parser: "json", printWidth: 120 });
  writeFileSync(path.join(DIRECTORY, name), text);
  console.log(`test/vectors/file-format/${name}`);
}
