// `npm run generate:baseline`: records the interface of now as what later changes may only add to.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { api } from "@coffer/contract";
import { surfaceOf } from "./api-surface.ts";

const file = join(import.meta.dirname, "..", "test", "pins", "api-baseline.txt");
writeFileSync(file, `${surfaceOf(api).join("\n")}\n`);
