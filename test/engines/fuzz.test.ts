import { runOnEngines } from "./on-engines.ts";

runOnEngines("test/fuzz/fuzz.test.ts");
