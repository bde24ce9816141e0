import { runOnEngines } from "./on-engines.ts";

runOnEngines("test/security/permissions.test.ts");
