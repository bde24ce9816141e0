/** The manual page that is in the package. `test/pins/generated.test.ts` compares it with the declarations. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { EXIT } from "./exit-codes.ts";
import { ENVIRONMENT } from "./man-page.ts";
import { parseLine } from "./line-parser.ts";
import { ROUTES } from "./routes.ts";
import { listCommands } from "./command-list.ts";
import manifest from "../package.json" with { type: "json" };

const file = new URL(`../${manifest.man}`, import.meta.url);
const page = readFileSync(file, "utf8");

it("has every command, exit code and variable, and only ASCII [issue 19]", async () => {
  for (const { path } of await listCommands(ROUTES))
    expect(page).toContain(`.SS coffer ${path.join(" ").replaceAll("-", "\\-")}`);
  for (const name of [...Object.values(EXIT).map(String), ...Object.keys(ENVIRONMENT)])
    expect(page).toContain(`.TP\n.B ${name}\n`);
  expect(page).toMatch(/^\p{ASCII}+$/u);
});

it("is read by groff without a warning", (context) => {
  const read = (text: string) =>
    spawnSync("groff", ["-man", "-ww", "-Wbreak", "-Tutf8"], { input: text, encoding: "utf8" });
  if (read("").error !== undefined) context.skip("groff is not installed");
  expect(read(`${page}.NOSUCH\n`).stderr).toContain("NOSUCH");
  expect(read(page)).toMatchObject({ status: 0, stderr: "" });
});

it("understands the line that deploy/coffer-sync.service runs", async () => {
  const unit = readFileSync(new URL("../../../deploy/coffer-sync.service", import.meta.url), "utf8");
  const words = /^ExecStart=\/usr\/local\/bin\/coffer (.+)$/m.exec(unit)?.[1]?.split(" ") ?? [];
  expect(await parseLine(ROUTES, words)).toMatchObject({
    kind: "command",
    call: { args: ["%h/Documents", "Backups:Documents"] },
  });
  expect(unit).toContain(`SuccessExitStatus=${String(EXIT.temporary)}\n`);
});
