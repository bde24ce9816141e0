// `npm run generate`: writes docs/generated from the contract.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { renderGenerated } from "./generated.ts";

const root = path.dirname(import.meta.dirname);
for (const [file, text] of Object.entries(await renderGenerated())) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(file);
}
