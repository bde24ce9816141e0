// `npm run generate`: writes what is made from the tools, the commands and the tests, and is committed.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { renderPages, renderShipped } from "./generated.ts";

const root = path.dirname(import.meta.dirname);
for (const [file, text] of Object.entries({ ...(await renderShipped()), ...(await renderPages()) })) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(file);
}
