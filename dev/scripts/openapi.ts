// Writes packages/contract/openapi.json, which the server answers at /openapi.json and the package brings along. Git ignores it.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { api } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { readContractTexts } from "./contract-texts.ts";

const file = path.join(import.meta.dirname, "../../packages/contract/openapi.json");
writeFileSync(file, `${JSON.stringify(renderOpenApi(api, readContractTexts()), null, 1)}\n`);
