import { expect, it } from "vitest";
import { Story } from "./steps.ts";

function begin(): { story: Story; said: string[]; stop: AbortController } {
  const said: string[] = [];
  const stop = new AbortController();
  return { story: new Story((line) => said.push(line), stop.signal), said, stop };
}

it("goes on after a step that came to something else, and ends with one that could not be done", async () => {
  const { story, said } = begin();
  expect(await story.begin("first", () => Promise.resolve({ value: 7, said: "begun" }))).toBe(7);
  expect(story.ok).toBe(true);
  await story.step("second", () => Promise.resolve({ ok: false, said: "otherwise" }));
  await story.step("third", () => Promise.resolve("done"));
  await story.step("fourth", () => Promise.reject(new Error("broken")));
  await story.step("fifth", () => Promise.resolve("never"));
  expect(story.ok).toBe(false);
  expect(story.steps.map(({ name, ok }) => `${name} ${String(ok)}`)).toEqual([
    "first true",
    "second false",
    "third true",
    "fourth false",
  ]);
  expect(said).toEqual(["ok  begun", "FAILED  otherwise", "ok  done", "FAILED  Error: broken"]);
});

it("rejects when it is stopped, whatever the step makes of it", async () => {
  const { story, stop } = begin();
  const step = story.step("first", () => {
    stop.abort(new Error("stopped"));
    return Promise.resolve("done");
  });
  await expect(step).rejects.toThrow("stopped");
  expect(story.steps).toEqual([]);
});
