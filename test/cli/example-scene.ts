/**
 * The examples of `--help`, ready to run: each as it is written, in a scene that has what it names, against a real stack. What stands
 * for an id or an address of yours is replaced by one of the scene.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { generateChainKey } from "@coffer/sdk";
import { expect } from "vitest";
import { coffer, type Ran, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";
import type { Scene as Stage, Shell } from "./owner-scene.ts";

export interface Scene {
  readonly stage: Stage;
  readonly person: SharedPerson;
  readonly shell: Shell;
  readonly vaultId: string;
  /** Another account. */
  readonly other: () => Promise<{ person: SharedPerson; shell: Shell }>;
}

let count = 0;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the examples name. In a shared vault they name nothing, and names of both kinds of vaults must differ for the scan. */
async function fill(client: SharedPerson["client"], vaultId: string): Promise<void> {
  const year = await client.folders.create({ vaultId, name: "2027" });
  const folders: Record<string, string | undefined> = { "": undefined, "2027": year.id };
  folders["May"] = (await client.folders.create({ vaultId, name: "May", parentId: year.id })).id;
  for (const name of ["photos", "old", "archive", "site"])
    folders[name] = (await client.folders.create({ vaultId, name })).id;
  for (const [folder, name] of [
    ...["notes.txt", "a.txt", "report.pdf", "video.mp4", "b.txt"].map((each) => ["", each] as const),
    ...([
      ["2027", "report.pdf"],
      ["photos", "cat.jpg"],
      ["site", "index.html"],
      ["May", "resume 2027.txt"],
    ] as const),
  ]) {
    const folderId = folders[folder];
    const body = name === "video.mp4" ? new Uint8Array(2 ** 20 + 5) : bytes(`${name}\n`);
    await client.files.upload({ vaultId, name, body, ...(folderId === undefined ? {} : { folderId }) });
  }
}

/** An account, its machine, and what the examples talk about. */
export async function openExampleScene(stage: Stage, type: "public" | "shared"): Promise<Scene> {
  const newcomer = async () => {
    const person = await stage.stack.signUp(`example-${String((count += 1))}`);
    const shell = stage.shellOf(person);
    return { person, shell };
  };
  const { person, shell } = await newcomer();
  const { client } = person;
  const { id: vaultId } = await client.vaults.create({ name: "Team", type });
  for (const name of ["Backups", "Website"]) await client.vaults.create({ name, type: "public" });
  await (type === "public"
    ? fill(client, vaultId)
    : client.files.upload({ vaultId, name: "read by members", body: bytes("for members") }));
  for (const [name, text] of Object.entries({
    "report.pdf": "report.pdf\n",
    "dump.sql": "select 1;\n",
    "photos/dog.jpg": "dog",
    "site/index.html": "index.html\n",
  })) {
    mkdirSync(join(shell.home, name, ".."), { recursive: true });
    writeFileSync(join(shell.home, name), text);
  }
  return { stage, person, shell, vaultId, other: newcomer };
}

/** What stands for something of the scene, in the lines of a command. */
type Replaced = Readonly<Record<string, string>>;
interface Preparation {
  readonly type?: "shared";
  readonly isSignedOut?: boolean;
  /** Somebody else's machine, where the line is typed. */
  readonly as?: (scene: Scene) => Promise<Shell>;
  readonly prepare?: (scene: Scene, line: string) => Promise<Replaced | void>;
}

const ID = "5f0c2a1e";
export const ADDRESS = "0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f";
const apiKey = async ({ person }: Scene): Promise<Replaced> => ({
  [ID]: (await person.client.apiKeys.create({ name: "ci" })).id,
});
const invited = async ({ person, shell, vaultId }: Scene): Promise<Replaced> => {
  const { id, text } = await person.client.invites.create({ name: "bot", vaultIds: [vaultId] });
  writeFileSync(join(shell.home, "invite.txt"), text);
  return { [ID]: id, "cofi_XXXX.YYYY": text };
};
/** An agent that redeemed an invite of this machine, and waits to be let in. */
const agent = async ({ shell }: Scene): Promise<Replaced> => {
  await shell.run(["invites", "create", "--name", "bot", "--vaults", "Team", "--to-file", "invite.txt"]);
  const { SERVICE_API_KEY: _key, SERVICE_CHAIN_PRIVATE_KEY: _chain, ...env } = shell.env;
  const invite = join(shell.home, "invite.txt");
  const ran = await coffer(["login", "--invite-file", invite, "--json"], makeDirectory(), { env });
  const { chainAddress } = JSON.parse(ran.out) as { chainAddress: string };
  const { agents } = await shell.json<{ agents: { apiKeyId: string }[] }>(["agents", "list"]);
  return { [ID]: agents[0]?.apiKeyId ?? "", [ADDRESS]: chainAddress };
};
const member = async (scene: Scene): Promise<Replaced> => {
  const { person } = await scene.other();
  const { chainAddress } = person.signer;
  await scene.person.client.vaults.members.add(scene.vaultId, chainAddress);
  return { [ADDRESS]: chainAddress };
};
const stranger = async (scene: Scene): Promise<Replaced> => ({
  [ADDRESS]: (await scene.other()).person.signer.chainAddress,
});
const webhook = async ({ person }: Scene): Promise<Replaced> => ({
  [ID]: (await person.client.webhooks.create({ url: "https://example.com/hook", events: ["file.uploaded"] })).webhook
    .id,
});
const saved = async ({ person, shell }: Scene): Promise<void> => {
  for (const name of ["default", "work"])
    await shell.run(["login", "--api-key-stdin", "--profile", name], { input: `${person.apiKey}\n` });
};
const trashedFile = async ({ person, vaultId }: Scene): Promise<Replaced> => {
  for await (const file of person.client.files.list({ vaultId }))
    if (file.name === "report.pdf" && file.folderId === null) {
      await person.client.files.delete(file.id);
      return { "3f2a9c1e": file.id };
    }
  return {};
};

const lines =
  (...wanted: readonly (readonly string[])[]) =>
  async ({ shell }: Scene): Promise<void> => {
    for (const words of wanted) {
      const ran = await shell.run(words);
      expect([words, ran.code]).toEqual([words, 0]);
    }
  };

const PREPARED: Readonly<Record<string, Preparation>> = {
  cat: {
    prepare: async ({ shell }) => {
      writeFileSync(join(shell.home, "dump.sql.gz"), gzipSync("select 1;"));
      await shell.run(["upload", "dump.sql.gz", "--vault", "Backups"]);
    },
  },
  decrypt: { type: "shared", prepare: lines(["export", "Team", "team.export"]) },
  export: { type: "shared" },
  doctor: { type: "shared" },
  download: { prepare: async ({ shell }) => rmSync(join(shell.home, "report.pdf")) },
  mv: { prepare: lines(["rm", "Team:b.txt"]) },
  sync: { prepare: lines(["sync", "Team:site", "copy"]) },
  "folders create": { prepare: lines(["folders", "delete", "Team:2027/May"]) },
  "vaults create": {
    prepare: lines(["vaults", "update", "Team", "--name", "T"], ["vaults", "update", "Website", "--name", "W"]),
  },
  "vaults delete": {
    prepare: lines(["vaults", "update", "Team", "--name", "T"], ["vaults", "create", "Team", "--public"]),
  },
  "vaults leave": {
    type: "shared",
    as: async (scene) => {
      const { person, shell } = await scene.other();
      await scene.person.client.vaults.members.add(scene.vaultId, person.signer.chainAddress);
      return shell;
    },
  },
  "vaults accept": {
    type: "shared",
    as: async (scene) => {
      const { person, shell } = await scene.other();
      await scene.person.client.vaults.members.add(scene.vaultId, person.signer.chainAddress);
      await lines(["vaults", "offer", "Team", person.signer.chainAddress, "--yes"])(scene);
      return shell;
    },
  },
  "folders update": {
    prepare: async (scene, line) => {
      if (line.includes("Team:2028")) await lines(["folders", "create", "Team:2028/May"])(scene);
    },
  },
  rm: { prepare: trashedFile },
  "trash restore": { prepare: trashedFile },
  "trash empty": { prepare: trashedFile },
  "versions get": { prepare: newVersion },
  "versions restore": { prepare: newVersion },
  "agents rewind": { prepare: agent },
  "agents revoke": { prepare: agent },
  "agents list": { type: "shared", prepare: agent },
  "api-keys revoke": { prepare: apiKey },
  "api-keys rotate": { prepare: apiKey },
  "audit list": { prepare: apiKey },
  "audit verify": {
    prepare: async ({ shell }) => {
      const { out } = await shell.run(["audit", "verify"]);
      return {
        "812:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce":
          /\d+:[0-9a-f]{64}/.exec(out)?.[0] ?? out,
      };
    },
  },
  "invites create": { type: "shared" },
  "invites revoke": { prepare: invited },
  "chain backup": { prepare: async ({ shell }) => ({ "/media/usb": shell.home }) },
  "chain import": {
    prepare: async (scene) => {
      await saved(scene);
      writeFileSync(join(scene.shell.home, "key.txt"), (await generateChainKey()).privateKey.reveal());
    },
  },
  "chain generate": { prepare: saved },
  "config get": { prepare: saved },
  "config set": {
    prepare: async (scene) => {
      await saved(scene);
      writeFileSync(join(scene.shell.home, "network.json"), readFileSync(scene.stage.networkFile));
    },
  },
  "config list": { prepare: saved },
  "profiles use": { prepare: saved },
  login: {
    isSignedOut: true,
    prepare: async (scene) => {
      const { shell, person } = scene;
      writeFileSync(join(shell.home, "key.txt"), person.apiKey);
      return await invited(scene);
    },
  },
  logout: { prepare: saved },
  signup: {
    isSignedOut: true,
    prepare: async ({ shell, stage }) =>
      writeFileSync(join(shell.home, "network.json"), readFileSync(stage.networkFile)),
  },
  "vaults members add": {
    type: "shared",
    prepare: async (scene, line) => (line.includes("invite.txt") ? agent(scene) : stranger(scene)),
  },
  "vaults members list": { type: "shared" },
  "vaults members remove": { type: "shared", prepare: member },
  "vaults members set-until": { type: "shared", prepare: member },
  "vaults check": { type: "shared" },
  "vaults forget-seen": { type: "shared" },
  "vaults reseal": { type: "shared" },
  "vaults rotate": { type: "shared" },
  "vaults set-signing-key": { type: "shared" },
  "vaults offer": {
    type: "shared",
    prepare: async (scene, line) => {
      const other = await member(scene);
      if (line.includes("--withdraw"))
        await scene.shell.run(["vaults", "offer", "Team", other[ADDRESS] ?? "", "--yes"]);
      return other;
    },
  },
  "vaults restore": {
    prepare: lines(["vaults", "delete", "Team", "--force", "--yes"]),
  },
  "webhooks deliveries": { prepare: webhook },
  "webhooks get": { prepare: webhook },
  "webhooks delete": { prepare: webhook },
  "webhooks update": { prepare: webhook },
  "webhooks rotate-secret": { prepare: webhook },
  "webhooks test": { prepare: webhook },
};

async function newVersion({ shell }: Scene): Promise<void> {
  writeFileSync(join(shell.home, "report.pdf"), "second\n");
  await shell.run(["upload", "report.pdf", "--vault", "Team", "--if-exists", "version"]);
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");

export interface PreparedExample extends Scene {
  /** The machine on which the line is typed. */
  readonly shell: Shell;
  /** The line, with ids and addresses of the scene. */
  readonly real: string;
  run(situation?: Situation): Promise<Ran>;
}

export async function prepareExample(stage: Stage, path: string, line: string): Promise<PreparedExample> {
  const {
    type = "public",
    isSignedOut = false,
    as,
    prepare,
  } = PREPARED[path.replace(/^members /, "vaults members ")] ?? {};
  const scene = await openExampleScene(stage, type);
  const shell = (await as?.(scene)) ?? scene.shell;
  const replaced = {
    ...(await prepare?.(scene, line)),
    "https://coffer.example.com": stage.stack.baseUrl,
    "~": shell.home,
  };
  const real = Object.entries(replaced).reduce((text, [name, value]) => text.replaceAll(name, value), line);
  const [, command = "", input] = /^coffer (.*?)(?: (?:<) (\S+)| (?:\||>>?) .*)?$/.exec(real) ?? [];
  const signedOut = { SERVICE_API_KEY: undefined, SERVICE_CHAIN_PRIVATE_KEY: undefined };
  const run = (situation: Situation = {}): Promise<Ran> =>
    shell.run(wordsOf(command), {
      ...(input === undefined ? {} : { input: readFileSync(join(shell.home, input)) }),
      // What goes on to another program goes to no terminal.
      ...(/ (\||>) /.test(line) ? {} : { answers: Array.from({ length: 4 }, () => "y") }),
      ...(isSignedOut ? { env: signedOut } : {}),
      ...situation,
    });
  return { ...scene, shell, real, run };
}
