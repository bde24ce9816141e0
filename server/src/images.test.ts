/** The images and units of deploy/: parsed, and held against the repository's files and this server. Nothing is built or started. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Copy, DockerfileParser, From } from "dockerfile-ast";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../test/kit/directory.ts";
import { productionSecrets } from "../../test/journeys/kit/production.ts";
import { findUnread, parseConfig } from "./config.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");
const manifest = (name: string) =>
  JSON.parse(read(name)) as {
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly bin?: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
const SECRETS = { ...productionSecrets(), SERVICE_PUBLIC_URL: "https://coffer.example.com" };

interface Stage {
  readonly name: string;
  readonly image: string;
  readonly copies: readonly { readonly from: string | null; readonly sources: readonly string[] }[];
  /** Instructions with one argument or several, as written. */
  readonly lines: Readonly<Record<string, string>>;
}

function stagesOf(text: string): Stage[] {
  const stages: (Stage & { copies: Stage["copies"][number][]; lines: Record<string, string> })[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction instanceof From)
      stages.push({
        name: instruction.getBuildStage() ?? "",
        image: instruction.getImage() ?? "",
        copies: [],
        lines: {},
      });
    const stage = stages.at(-1);
    if (stage === undefined) throw new Error("An instruction stands before the first FROM");
    const words = instruction.getArguments().map((each) => each.getValue());
    stage.lines[instruction.getKeyword()] = words.join(" ");
    if (instruction instanceof Copy)
      stage.copies.push({
        from:
          instruction
            .getFlags()
            .find((flag) => flag.getName() === "from")
            ?.getValue() ?? null,
        sources: words.slice(0, -1),
      });
  }
  return stages;
}

const stages = stagesOf(read("deploy/Dockerfile"));
const stage = (name: string): Stage => {
  const found = stages.find((each) => each.name === name);
  if (found === undefined) throw new Error(`deploy/Dockerfile has no stage ${name}`);
  return found;
};
const sources = (of: readonly Stage[]): string[] =>
  of.flatMap(({ copies }) => copies.flatMap(({ from, sources: own }) => (from === null ? own : [])));

describe("deploy/Dockerfile", () => {
  it("begins from Node's own image, in the version that the repository installs, or from a stage before", () => {
    const { node } = manifest("package.json").optionalDependencies;
    // The server brings its Node.
    const known = new Set([`node:${node ?? ""}-slim`, "debian:13-slim"]);
    for (const { name, image, copies } of stages) {
      expect([...known]).toContain(image);
      for (const { from } of copies) if (from !== null) expect([...known]).toContain(from);
      known.add(name);
    }
  });

  it("copies files that are there, and that .dockerignore does not leave out", () => {
    const ignored = read(".dockerignore")
      .split("\n")
      .filter((each) => each !== "" && !each.startsWith("#"));
    const copied = sources(stages);
    expect(copied.length).toBeGreaterThan(15);
    for (const source of copied) {
      expect(existsSync(path.join(ROOT, source)), source).toBe(true);
      const parts = source.split("/");
      expect(ignored.filter((each) => parts.some((part) => part === each || `**/${part}` === each))).toEqual([]);
    }
    expect(ignored).toEqual(expect.arrayContaining([".git", "**/node_modules", "**/*.env", ".coffer", "data"]));
  });

  it("installs by the manifests of all workspaces, which the lock file needs", () => {
    const workspaces = globSync(["packages/*/package.json", "dev/*/package.json", "server/package.json"], {
      cwd: ROOT,
    });
    expect(sources([stage("manifests")])).toEqual(
      expect.arrayContaining(["package.json", "package-lock.json", ".npmrc", ...workspaces]),
    );
  });

  it("starts the server as user 1000 with settings that it reads, and last, so that no target means the server", () => {
    const { ENV = "", ENTRYPOINT, USER, EXPOSE, RUN, VOLUME } = stage("server").lines;
    expect(stages.at(-1)?.name).toBe("server");
    const settings = Object.fromEntries(ENV.split(" ").map((each) => each.split("=") as [string, string]));
    expect(findUnread(settings)).toEqual([]);
    const { listen, dataDirectory } = parseConfig({ ...SECRETS, ...settings });
    expect({ listen, dataDirectory }).toEqual({
      listen: { host: "0.0.0.0", port: Number(EXPOSE) },
      dataDirectory: "/data",
    });
    expect(USER).toBe("1000:1000");
    expect(RUN).toBe("install --directory --owner=1000 --group=1000 --mode=0700 /data");
    expect(VOLUME).toBe('["/data"]');
    expect(ENTRYPOINT).toBe('["coffer-server"]');
    expect(read("deploy/Dockerfile")).toContain("ln -s /opt/coffer/bin/coffer-server /usr/local/bin/coffer-server");
  });

  it("starts the command line as user 1000", () => {
    expect(stage("cli").lines).toMatchObject({ USER: "1000:1000", ENTRYPOINT: '["coffer"]' });
  });
});

/** `Section.Name` → its values. Lines that are no setting are an error. */
function parseUnit(text: string): Readonly<Record<string, readonly string[]>> {
  const settings: Record<string, string[]> = {};
  let section = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const title = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (title !== undefined) section = title;
    else if (name !== undefined && value !== undefined) (settings[`${section}.${name}`] ??= []).push(value);
    else throw new Error(`No line of a unit: ${line}`);
  }
  return settings;
}

it("all that starts the server gives Node the same options", () => {
  const optionsIn = (name: string): string[] => read(name).match(/--conditions=[\w-]+/g) ?? [];
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
  const options = scripts["server"]?.match(/--\S+/g) ?? [];
  expect(options).toEqual(["--conditions=coffer-source"]);
  expect(read("server/src/main.ts").split("\n", 1)).toEqual([`#!/usr/bin/env -S node ${options.join(" ")}`]);
  expect(optionsIn("dev/devstack/src/scale/processes.ts")).toEqual(options);
});

describe("the units of deploy/", () => {
  const text = read("deploy/coffer-server.service");
  const oneOfSeveral = read("deploy/coffer-server@.service");
  const unit = parseUnit(text);

  it("of several processes differ by their ports, and share user, its namespace and directory [issue 51]", () => {
    const several = parseUnit(oneOfSeveral);
    const differ = [...new Set([...Object.keys(unit), ...Object.keys(several)])].filter(
      (name) => String(unit[name]) !== String(several[name]),
    );
    // In user namespaces of their own they would take each other for dead.
    expect(differ).toEqual(["Unit.Description", "Service.Environment", "Service.PrivateUsers"]);
    expect(several["Service.PrivateUsers"]).toBeUndefined();
    const environment = unit["Service.Environment"] ?? [];
    expect(several["Service.Environment"]).toEqual(environment.map((line) => line.replace("8787", "%i")));
  });

  it("start the server with settings that it reads, and longer to stop than it takes", () => {
    const given = (unit["Service.Environment"] ?? []).join(" ").split(" ");
    const settings = Object.fromEntries(given.map((each) => each.split("=") as [string, string]));
    expect(findUnread(settings)).toEqual([]);
    const config = parseConfig({ ...SECRETS, ...settings });
    expect(config.settings.trustedProxies).toEqual(["127.0.0.1"]);
    expect(config.dataDirectory).toBe(`/var/lib/${unit["Service.StateDirectory"]?.[0] ?? ""}`);
    expect(Number(unit["Service.TimeoutStopSec"]?.[0])).toBeGreaterThan(config.settings.timing.shutdownGrace / 1_000);
    expect(unit["Service.ExecStart"]).toEqual(["/opt/coffer/bin/coffer-server"]);
    expect([unit["Service.User"], unit["Service.Group"]]).toEqual([["coffer"], ["coffer"]]);
    expect(unit["Service.EnvironmentFile"]).toEqual(["/etc/coffer/server.env"]);
  });

  it("satisfy systemd-analyze", (context) => {
    if (spawnSync("systemd-analyze", ["--version"]).status !== 0) context.skip("systemd-analyze is not installed");
    // It asks whether the programs are there, so the ones of this machine stand for those of the unit.
    const file = path.join(makeDirectory(), "coffer-server.service");
    const localized = (written: string): string =>
      written.replaceAll("/opt/coffer/bin/coffer-server", process.execPath).replaceAll("/opt/coffer", ROOT);
    const local = localized(text);
    const analyze = (...words: string[]) => spawnSync("systemd-analyze", [...words, file], { encoding: "utf8" });
    writeFileSync(file, local.replace("LockPersonality=yes", "LockPersonality=perhaps"));
    expect(analyze("verify").stderr).toContain("perhaps");
    writeFileSync(file, local);
    expect(analyze("verify")).toMatchObject({ status: 0, stderr: "" });
    // As the instance of a port.
    const template = path.join(path.dirname(file), "coffer-server@8787.service");
    writeFileSync(template, localized(oneOfSeveral));
    expect(spawnSync("systemd-analyze", ["verify", template], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
    for (const name of ["coffer-sync.service", "coffer-sync.timer"]) {
      const other = path.join(path.dirname(file), name);
      writeFileSync(other, read(`deploy/${name}`).replaceAll("/usr/local/bin/coffer", process.execPath));
      expect(
        spawnSync("systemd-analyze", ["verify", "--user", other], {
          encoding: "utf8",
          env: { ...process.env, XDG_RUNTIME_DIR: path.dirname(file) },
        }),
      ).toMatchObject({
        status: 0,
        stderr: "",
      });
    }
    // Ten times the exposure; without any line about safety it is 9.2.
    expect(analyze("security", "--offline=true", "--threshold=20").status).toBe(0);
  });
});
