// `npm run generate:vectors`: writes the committed vectors of statements. They change only with the
// format: a change here that was not meant is a break of it.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "oxfmt";
import { makeStatementVectors } from "../../test/vectors/make-statements.ts";
import type { StatementVectors } from "../../test/vectors/statement-vectors.ts";

const file = path.join(path.resolve(import.meta.dirname, "../.."), "test/vectors/file-format/statements.json");
const kept = JSON.parse(readFileSync(file, "utf8")) as StatementVectors;
const { code } = await format(file, JSON.stringify(await makeStatementVectors(kept)), { printWidth: 120 });
writeFileSync(file, code);
