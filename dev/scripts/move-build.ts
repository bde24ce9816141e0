// `npm run move:build`: compiles the Move package and writes its bytecode and digest where the code reads them.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { COMPILED_FILE, compilePackage, renderCompiled } from "./move.ts";

const compiled = await compilePackage();
writeFileSync(path.join(path.resolve(import.meta.dirname, "../.."), COMPILED_FILE), renderCompiled(compiled));
console.log(`${COMPILED_FILE}: digest ${compiled.digest}`);
