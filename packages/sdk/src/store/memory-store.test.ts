import { describe } from "vitest";
import { describeProfileStore } from "../../../../test/suites/profile-store.ts";
import { memoryStore } from "./memory-store.ts";

describe("a store in memory", () => {
  describeProfileStore(() => {
    const store = memoryStore();
    return { open: () => store };
  });
});
