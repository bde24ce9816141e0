/** What people ask for, done by a scripted agent: the same as `npm run eval:mcp`. */
import { describe, expect, it } from "vitest";
import { renderReport, renderTask, runTasks, TASKS } from "./eval/run.ts";

/** Named by the issue that asked for the tools. */
const NAMED = [
  "put this folder there",
  "find the contract of March and read it",
  "share with the bookkeeping agent until Friday",
  "tell me when a file arrives",
  "clean up drafts older than a year",
  "what did the other agent change",
  "bring back yesterday's version",
  "undo what it did since noon",
  "get the whole project back",
  "why can she not open it",
];

describe("a scripted agent", () => {
  it("has at least 40 tasks, each once, and most of them take one or two calls", () => {
    const names = TASKS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(40);
    expect(NAMED.filter((name) => !names.includes(name))).toEqual([]);
    expect(TASKS.filter(({ name, most }) => NAMED.includes(name) && most > 2)).toEqual([]);
    // Three are hostile texts that are obeyed, and a look at everything.
    expect(TASKS.filter(({ most }) => most > 2).length).toBeLessThanOrEqual(3);
  });

  it("reaches every end state, within its calls", async () => {
    const reports = await runTasks(TASKS);
    expect(reports.filter(({ problem }) => problem !== null).map(renderTask)).toEqual([]);
    expect(renderReport(reports)).toContain(`${String(TASKS.length)} of ${String(TASKS.length)} tasks ok`);
  });
});
