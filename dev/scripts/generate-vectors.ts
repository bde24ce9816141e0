// `npm run generate:vectors`: writes the committed vectors of statements. They change only with the
// format: a change here that was not meant is a break of it.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "prettier";
import { makeStatementVectors } from "../../test/vectors/make-statements.ts";
import type { StatementVectors } from "../../test/vectors/statement-vectors.ts";

const file = path.join(path.resolve(import.meta.dirname, "../.."), "test/vectors/file-format/statements.json");
const kept = JSON.parse(readFileSync(file, "utf8")) as StatementVectors;
writeFileSync(
  file,
  await format(JSON.stringify(await makeStatementVectors(kept)), { parser: "json", printWidth: 120 }),
);
