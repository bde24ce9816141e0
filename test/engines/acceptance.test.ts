import { runOnEngines } from "./on-engines.ts";

runOnEngines("test/journeys/http/*.test.ts");
