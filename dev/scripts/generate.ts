// `npm run generate`: writes what is made from the tools, the commands and the server's settings, and is committed.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { renderShipped } from "./generated.ts";

const root = path.resolve(import.meta.dirname, "../..");
for (const [file, text] of Object.entries(await renderShipped())) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(file);
}
