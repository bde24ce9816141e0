import { runOnEngines } from "./on-engines.ts";

runOnEngines("test/permissions.test.ts");
