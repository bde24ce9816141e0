import { runOnEngines } from "./on-engines.ts";

runOnEngines("test/acceptance/http/*.test.ts");
