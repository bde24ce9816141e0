/**
 * The product's main job on a real folder and a shared vault. An agent outside is refused, and then its owner lets it
 * in. It stores the folder encrypted and reads it back. The service's disk holds no plaintext of it. Once the agent is
 * removed, it cannot open new files. The agent acts through the real MCP tool server, the owner through the SDK.
 */
import { randomBytes } from "node:crypto";
import { realpath, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createClient, type Client, type Vault } from "@coffer/sdk";
import { findOrMakeVault, inviteAgent, type StackAgent } from "./agent.ts";
import { scanDisk, windowsOf, type Needle } from "./disk-scan.ts";
import {
  createFolder,
  downloadAll,
  listAll,
  uploadAll,
  verifyAll,
  type StoredFile,
  type Transfer,
} from "./folder-transfer.ts";
import { readTree, storableName, type Skipped } from "./folder-tree.ts";
import { openScratch } from "./scratch.ts";
import { clientDirectory, type Stack } from "./stack.ts";
import { Story, type Found, type Step } from "./steps.ts";
import { openToolClient, type ToolAnswer, type ToolClient } from "./tool-client.ts";

export interface JobOptions {
  readonly stack: Stack;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** One line of progress. */
  readonly say: (line: string) => void;
}

/** What happened. Times in seconds. */
export interface JobReport {
  readonly folder: string;
  /** The shared vault: the same in every run on the same data. */
  readonly vaultId: string;
  /** The vault's object on the chain. */
  readonly chainObjectId: string | null;
  /** The agent's address on the chain. */
  readonly agentAddress: string;
  /** The finished steps and their results, in order; it ends with a step that failed. */
  readonly steps: readonly Step[];
  readonly files: number;
  readonly folders: number;
  readonly bytes: number;
  readonly uploadSeconds: number;
  readonly downloadSeconds: number;
  /** Files that came back byte for byte. */
  readonly verified: number;
  /** Left out on purpose. */
  readonly skipped: readonly Skipped[];
  /** Could not be stored, listed or fetched, or came back different. */
  readonly failed: readonly Skipped[];
  readonly ok: boolean;
}

export interface JobResult {
  readonly report: JobReport;
  /** Ids of the files that the agent stored: a webhook must arrive for each. */
  readonly stored: readonly string[];
}

const DEMONSTRATION_VAULT = "npm start";

interface Job extends JobOptions {
  readonly owner: Client;
  readonly vault: Vault;
  readonly agent: StackAgent;
  readonly tools: ToolClient;
  readonly scratch: string;
  /** Made by the owner for this run. */
  readonly topId: string;
  /** A file that the owner wrote before the agent came; its words and its name are like no others. */
  readonly welcome: { readonly fileId: string; readonly needles: readonly Needle[] };
  /** When the run began, in milliseconds since 1970. */
  readonly began: number;
  readonly story: Story;
}

/** Runs the job once. The scratch folder is removed afterwards. Rejects when the vault or the agent cannot be made. */
export async function runMainJob(options: JobOptions): Promise<JobResult> {
  const { stack, folder, signal, say } = options;
  const began = Date.now();
  const { baseUrl, sharedVaults } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey: stack.apiKey }, sharedVaults });
  const story = new Story(say, signal);
  const vault = await story.begin("vault", async () => {
    const value = await findOrMakeVault(owner, DEMONSTRATION_VAULT);
    return { value, said: `the owner has a shared vault for the demonstration: ${value.id}` };
  });
  const welcome = await welcomeTo(owner, vault, folder);
  const agent = await story.begin("joined", () => letIn(stack, owner, vault));
  using opened = openScratch();
  const scratch = opened.path;
  await using tools = await openTools(options, agent, scratch);
  return await tell({ ...options, owner, vault, agent, tools, scratch, began, story, ...welcome });
}

async function letIn(stack: Stack, owner: Client, { id }: Vault): Promise<{ value: StackAgent; said: string }> {
  const value = await inviteAgent(stack, owner, "demonstration", id);
  // An earlier run may have ended between adding and removing it.
  const members = (await owner.vaults.members.list(id)).items;
  if (members.some(({ chainAddress }) => chainAddress === value.chainAddress))
    await owner.vaults.members.remove(id, value.chainAddress);
  const how = value.isNew ? "joined the account by an invite" : "of an earlier run has its key still";
  return { value, said: `an agent ${how}; its chain address is ${value.chainAddress}` };
}

/** A folder for this run, and the owner's first file in it. That of an earlier demonstration of the same folder goes to the trash. */
async function welcomeTo(owner: Client, vault: Vault, folder: string): Promise<Pick<Job, "topId" | "welcome">> {
  const top = storableName(basename(folder) || "files").slice(0, 60);
  for await (const { id } of owner.folders.list({ vaultId: vault.id, parentId: "root", name: top }))
    await owner.folders.delete(id);
  const topId = await createFolder(owner, vault.id, null, top);
  const [words, name] = [randomBytes(24).toString("hex"), `welcome ${randomBytes(12).toString("hex")}.txt`];
  const body = new TextEncoder().encode(`Words for members only: ${words}\n`);
  const { file } = await owner.files.upload({
    vaultId: vault.id,
    folderId: topId,
    name,
    contentType: "text/plain",
    body,
  });
  const needle = (of: string, text: string): Needle => ({ of, bytes: Buffer.from(text), contentOnly: false });
  return {
    topId,
    welcome: { fileId: file.id, needles: [needle("the owner's words", words), needle("a file's name", name)] },
  };
}

function openTools({ stack, folder, say }: JobOptions, agent: StackAgent, scratch: string): Promise<ToolClient> {
  return openToolClient({
    credentialsFile: agent.credentialsFile,
    folders: [folder, scratch],
    flags: ["--downloads", scratch],
    // Pins, and journals of large uploads, go to the stack's data, not into the user's own configuration.
    environment: { SERVICE_CONFIG_DIR: clientDirectory(stack.dataDirectory, "demonstration") },
    onLog: (text) => {
      say(text.trimEnd());
    },
  });
}

async function tell(job: Job): Promise<JobResult> {
  const { stack, folder, signal, say, vault, agent, story } = job;
  const tree = await readTree(folder, await realpath(stack.dataDirectory));
  const transfer: Transfer = {
    tools: job.tools,
    client: agent.client,
    tree,
    vaultId: vault.id,
    topId: job.topId,
    scratch: job.scratch,
    signal,
    say,
    skipped: [...tree.skipped],
    failed: [],
  };
  await story.step("refused", () => refused(job));
  await story.step("added", () => added(job));
  let stored: StoredFile[] = [];
  const { value: sent, seconds: uploadSeconds } = await timed(async () => {
    await story.step("stored", async () => {
      say(`uploading ${String(tree.files.length)} files of ${folder}`);
      stored = await uploadAll(transfer);
      const said = `the agent stored ${String(stored.length)} files, encrypted before they left it; listing`;
      return { ok: transfer.failed.length === 0, said };
    });
    return stored;
  });
  let verified = 0;
  const { seconds: downloadSeconds } = await timed(() =>
    story.step("read", async () => {
      verified = await verifyAll(transfer, await downloadAll(transfer, await listAll(transfer, sent)));
      const said = `the agent listed and read them: ${String(verified)} of ${String(sent.length)} came back byte for byte`;
      return { ok: verified === sent.length, said };
    }),
  );
  await story.step("plaintext", () => noPlaintext(job, sent));
  await story.step("removed", () => removed(job));
  await story.step("closed", () => closed(job));
  const { skipped, failed } = transfer;
  const bytes = sent.reduce((sum, file) => sum + file.bytes, 0);
  // A folder without any stored file proves nothing.
  const whole = failed.length === 0 && verified === sent.length && (sent.length > 0 || tree.files.length === 0);
  const report: JobReport = {
    folder,
    vaultId: vault.id,
    chainObjectId: vault.chainObjectId,
    agentAddress: agent.chainAddress,
    steps: story.steps,
    files: sent.length,
    folders: tree.folders.length,
    bytes,
    uploadSeconds,
    downloadSeconds,
    verified,
    skipped,
    failed,
    ok: whole && story.ok,
  };
  return { report, stored: sent.map(({ fileId }) => fileId) };
}

/** Outside the vault: reading and writing are refused, and the answer holds what the owner needs. */
async function refused({ tools, welcome, vault, scratch, agent, topId, signal }: Job): Promise<Found> {
  const knock = join(scratch, "knock.txt");
  await writeFile(knock, "Is anybody there?\n");
  const destPath = join(scratch, "welcome.txt");
  const read = await tools.call("file_download", { files: [welcome.fileId], dest: destPath }, { signal });
  const write = await tools.call("file_upload", { paths: [knock], vaultId: vault.id, folder: topId }, { signal });
  const wrong = [read, write].find(
    ({ code, text }) => code !== "not_a_member" || !text.includes(agent.chainAddress) || !text.includes("members.add"),
  );
  if (wrong !== undefined) return unexpectedly("an agent that is no member", wrong);
  return "not a member yet: the agent neither reads nor writes, and its tools say which address the owner has to add";
}

function unexpectedly(who: string, answer: ToolAnswer): Found {
  return { ok: false, said: `${who} was answered: ${answer.text.split("\n")[0] ?? ""}` };
}

async function added({ owner, vault, agent }: Job): Promise<Found> {
  await owner.vaults.members.add(vault.id, agent.chainAddress, { label: "npm start's demonstration" });
  return "the owner added the agent's chain address to the vault";
}

async function noPlaintext({ stack, began, welcome }: Job, stored: readonly StoredFile[]): Promise<Found> {
  const needles = [...welcome.needles, ...(await windowsOf(stored.map(({ local }) => local)))];
  const without = join(stack.dataDirectory, "client");
  let files = 0;
  for (const { directory, isDatabase } of stack.disks) {
    const scan = await scanDisk(directory, { without, isDatabase, since: began, needles });
    const [first] = scan.found;
    if (first !== undefined) return { ok: false, said: `plaintext of ${first.needle} is in ${first.file}` };
    files += scan.files;
  }
  if (files === 0) return { ok: false, said: "the service wrote no file that could be looked at" };
  const where = `${String(files)} files of the service's disk`;
  return `none of ${String(needles.length)} pieces of names and contents is in ${where}`;
}

async function removed({ owner, vault, agent }: Job): Promise<Found> {
  const { generation } = await owner.vaults.members.remove(vault.id, agent.chainAddress);
  return `the owner removed the agent: new files are of generation ${String(generation)}`;
}

/** The agent's key still holds; the vault is what is closed to it. */
async function closed({ owner, vault, topId, tools, scratch, signal }: Job): Promise<Found> {
  const body = new TextEncoder().encode("Written after the agent left\n");
  const { file } = await owner.files.upload({ vaultId: vault.id, folderId: topId, name: "later.txt", body });
  const read = await tools.call("file_download", { files: [file.id], dest: join(scratch, "later.txt") }, { signal });
  if (read.code !== "not_a_member") return unexpectedly("the removed agent", read);
  const own = await (await owner.files.download(file.id)).bytes();
  if (!Buffer.from(own).equals(body)) return { ok: false, said: "the owner's file came back different" };
  return "a file that the owner wrote then is closed to the agent, and opens to the owner";
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; seconds: number }> {
  const start = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - start) / 1000 };
}
