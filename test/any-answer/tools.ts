/** Every tool for models, in a process of its own, as an agent's host calls it. A tool that is missing here turns the test red. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient, launcherCommand } from "@coffer/devstack";
import { CredentialState, createServer, NO_CALL_RECORD, type Launch } from "@coffer/mcp";
import type { Client as SdkClient } from "@coffer/sdk";
import { resolveFolders, serviceLinkOver } from "@coffer/tasks";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { blameContent, itemOf, placeOf, secrets, undoDeletion, vaultOf } from "./arguments.ts";
import type { World } from "./world.ts";
import type { Method, Run, ToolAnswer, Tools } from "./method.ts";

/** The tool server over this client: as fresh as the client is, and without the seconds that a process takes. */
export async function openToolsOver(client: SdkClient, { owner, machine: { directory } }: World): Promise<Tools> {
  const parsed: Launch = {
    profile: "owner",
    tools: null,
    excludeTools: [],
    readOnly: false,
    vaultId: null,
    configFile: null,
    revealSharedText: true,
    confirm: "token",
    allowConfigFiles: false,
    roots: "narrow",
    downloads: directory,
    http: null,
    allowedFolders: [directory],
  };
  const server = createServer({
    launch: parsed,
    serviceLink: serviceLinkOver(client, owner.signer.chainAddress),
    folders: { ...(await resolveFolders([directory])), denied: { folders: [], files: [] } },
    stop: new AbortController().signal,
    log: () => undefined,
    handOut: () => Promise.resolve(null),
    credentialState: new CredentialState(),
    record: NO_CALL_RECORD,
    keyId: null,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const host = new Client({ name: "test", version: "1" });
  await host.connect(theirs);
  return {
    call: async (name, args) => {
      const { isError = false, structuredContent, content } = await host.callTool({ name, arguments: { ...args } });
      const facts =
        typeof structuredContent === "object" ? Object.fromEntries(Object.entries(structuredContent ?? {})) : {};
      const text = content.map((item) => (item.type === "text" ? item.text : "")).join("\n");
      return { isError, facts, text };
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** The tool server in a process of its own: it finds the pins, and what was seen, on the disk of this machine. */
export function openToolProcess({ owner, liar, machine }: World): Promise<Tools> {
  return openToolClient({
    credentialsFile: join(machine.directory, "none.json"),
    folders: [machine.directory],
    launcher: launcherCommand(),
    flags: ["--profile", "owner", "--downloads", machine.directory],
    environment: {
      SERVICE_BASE_URL: liar.baseUrl,
      SERVICE_NETWORK_FILE: machine.networkFile,
      SERVICE_CONFIG_DIR: machine.directory,
      SERVICE_API_KEY: owner.apiKey,
      SERVICE_CHAIN_PRIVATE_KEY: owner.privateKey,
    },
  });
}

/** The names of all tools, from a process that has no key. */
export async function toolNames(): Promise<string[]> {
  await using tools = await openToolClient({
    credentialsFile: "none.json",
    folders: [],
    flags: ["--profile", "owner"],
    launcher: launcherCommand(),
  });
  return await tools.toolNames();
}

/** All names and contents that an answer shows must be of what was asked for. */
function blameShown({ world, blame }: Run, { text }: ToolAnswer, asked?: string): void {
  // What was sent twice under one name, because its first answer was refused, may be called by it.
  const own = world.truth.items.get(asked ?? "")?.names;
  for (const [id, { names }] of world.truth.items)
    if ([...names].some((name) => own?.has(name) !== true && text.includes(name))) blame(`the name of ${id} is shown`);
}

/** A row of a list or an answer about one file: what it is called must be its own name. */
function blameRow({ world, blame }: Run, id: unknown, shown: unknown, vaultId?: string): void {
  if (typeof id !== "string" || typeof shown !== "string") return;
  const known = world.truth.items.get(id);
  // What this machine has sent and was never told of is nothing that it knows, where no vault was named.
  if (vaultId === undefined && known?.isKnown === false) return;
  if (known !== undefined && ![...known.names].some((name) => shown.includes(name)))
    blame(`file ${id} of a shared vault is shown as ${shown}`);
  if (vaultId !== undefined && world.truth.vaults.has(vaultId) && known?.vaultId !== vaultId)
    blame(`file ${id} of elsewhere is listed in ${vaultId}`);
}

/** Rows show the beginnings of ids: each stands for the one item that begins so. */
function blameRows(run: Run, { facts }: ToolAnswer, table: string, vaultId?: string, idAt = 0): void {
  const rows = facts[table];
  for (const row of Array.isArray(rows) ? (rows as unknown[][]) : []) {
    const items = [...run.world.truth.items.keys()].filter((id) => id.startsWith(String(row[idAt])));
    blameRow(run, items.length === 1 ? items[0] : null, row.at(-1), vaultId);
  }
}

const onFile =
  (tool: string): Method =>
  async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const answer = await (await run.tools()).call(tool, { files: [id] });
    return () => {
      if (answer.isError) return;
      if (tool === "file_get" && answer.facts["fileId"] !== id)
        run.blame(`${String(answer.facts["fileId"])} was answered for ${id}`);
      blameRow(run, id, answer.facts["name"]);
      blameShown(run, answer, id);
    };
  };

const plain =
  (tool: string, args: (run: Run) => Readonly<Record<string, unknown>> = () => ({})): Method =>
  async (run) => {
    const answer = await (await run.tools()).call(tool, args(run));
    return () => {
      blameShown(run, answer);
    };
  };

export const TOOL_METHODS: Readonly<Record<string, Method>> = {
  change_list: async (run) => {
    const answer = await (await run.tools()).call("change_list", {});
    return () => {
      blameRows(run, answer, "changes", undefined, 2);
    };
  },
  access_list: plain("access_list", (run) => ({ vaultId: vaultOf(run) })),
  access_grant: plain("access_grant", (run) => ({ name: run.draw.word("g"), vaultIds: [vaultOf(run)] })),
  access_revoke: plain("access_revoke", () => ({ who: "0b6d5e0e" })),
  webhook_list: plain("webhook_list"),
  webhook_set: plain("webhook_set", () => ({ url: "https://receiver.example/hook" })),
  webhook_delete: plain("webhook_delete", () => ({ webhookId: "0b6d5e0e" })),
  webhook_send: plain("webhook_send", () => ({ webhookId: "0b6d5e0e" })),
  audit_list: plain("audit_list", ({ draw }) => ({ verify: draw.chance(0.3) })),
  transfer_get: plain("transfer_get", () => ({ transferId: "none" })),
  transfer_cancel: plain("transfer_cancel", () => ({ transferId: "none" })),
  file_write: async (run) => {
    const { place, meaning } = placeOf(run);
    const { name, content } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const { vaultId, folderId } = place;
    const where = {
      ...(vaultId === undefined ? {} : { vaultId }),
      ...(folderId === undefined ? {} : { folder: folderId }),
    };
    const answer = await (await run.tools()).call("file_write", { name, text: content, ...where });
    return () => {
      const id = answer.facts["fileId"];
      if (answer.isError || typeof id !== "string" || meaning.isOpen === true) return;
      const known = run.world.truth.items.get(id);
      if (known === undefined) run.blame(`file ${id} was never made, and is answered`);
      else known.isKnown = true;
    };
  },
  file_move: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    const { name } = secrets(run);
    run.means({ ...meaning, name });
    const answer = await (await run.tools()).call("file_move", { files: [id], name });
    return () => {
      blameShown(run, answer, id);
    };
  },
  status_check: plain("status_check"),
  vault_list: plain("vault_list"),
  vault_create: plain("vault_create", ({ draw }) => ({
    name: draw.word("v"),
    type: draw.pick(["public", "shared"]),
  })),
  vault_access_check: plain("vault_access_check", (run) => ({ vaultId: vaultOf(run) })),
  file_list: async (run) => {
    const { place, meaning } = placeOf(run);
    const { vaultId, folderId } = place;
    run.means(meaning);
    const asked = {
      ...(vaultId === undefined ? {} : { vaultId }),
      ...(folderId === undefined ? {} : { folder: folderId }),
    };
    const answer = await (await run.tools()).call("file_list", asked);
    return () => {
      blameRows(run, answer, "files", place.vaultId);
    };
  },
  file_search: async (run) => {
    const { place, meaning } = placeOf(run);
    const { vaultId, folderId } = place;
    run.means(meaning);
    const asked = {
      ...(vaultId === undefined ? {} : { vaultId }),
      ...(folderId === undefined ? {} : { folder: folderId }),
    };
    const answer = await (
      await run.tools()
    ).call("file_search", run.draw.chance(0.5) ? { ...asked, query: "n" } : asked);
    return () => {
      blameRows(run, answer, "files", place.vaultId);
    };
  },
  file_read: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const answer = await (await run.tools()).call("file_read", { file: id, maxChars: 30_000 });
    return () => {
      if (answer.isError) return;
      const text = String(answer.facts["text"])
        .replace(/^<[\w-]{8}>/, "")
        .replace(/<\/[\w-]{8}>$/, "");
      if (answer.facts["nextOffset"] === undefined) blameContent(run, id, Buffer.from(text));
    };
  },
  file_get: onFile("file_get"),
  file_delete: async (run) => {
    const verdict = await onFile("file_delete")(run);
    for (const { id } of (await run.world.owner.client.trash.list({ limit: 5 })).files)
      await undoDeletion(run, "files", id);
    return verdict;
  },
  file_upload: async (run) => {
    const { place, meaning } = placeOf(run);
    const { name, content, body } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const path = join(run.world.machine.directory, name);
    await writeFile(path, body);
    const more = { ifExists: run.draw.pick(["error", "version"]) };
    const { vaultId, folderId } = place;
    const where = {
      ...(vaultId === undefined ? {} : { vaultId }),
      ...(folderId === undefined ? {} : { folder: folderId }),
    };
    const answer = await (
      await run.tools()
    )
      .call("file_upload", { paths: [path], ...where, ...more })
      .finally(() => rm(path));
    return () => {
      const id = answer.facts["fileId"];
      if (answer.isError || typeof id !== "string" || meaning.isOpen === true) return;
      const known = run.world.truth.items.get(id);
      if (known === undefined) run.blame(`file ${id} was never made, and is answered`);
      else known.isKnown = true;
      if (meaning.vaultId !== undefined && answer.facts["vaultId"] !== meaning.vaultId)
        run.blame(`the file that was made is shown in vault ${String(answer.facts["vaultId"])}`);
    };
  },
  file_download: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const destPath = join(run.world.machine.directory, run.draw.word("download"));
    const answer = await (await run.tools()).call("file_download", { files: [id], dest: destPath });
    const content = answer.isError ? null : await readFile(destPath);
    await rm(destPath, { force: true });
    return () => {
      if (content !== null) blameContent(run, id, content);
    };
  },
  file_verify: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const path = join(run.world.machine.directory, run.draw.word("verify"));
    const known = [...(run.world.truth.items.get(id)?.contents ?? [])];
    const equal = known.length > 0 && run.draw.chance(0.5);
    const content = equal ? run.draw.pick(known) : run.draw.word("other");
    await writeFile(path, content);
    const answer = await (await run.tools()).call("file_verify", { file: id, path });
    await rm(path);
    return () => {
      if (answer.facts["equal"] === true && known.length > 0 && !known.includes(content))
        run.blame(`${id} is said to hold what it never held`);
    };
  },
  file_restore: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    const { name } = secrets(run);
    run.means({ ...meaning, name, folderId: null });
    await run.world.owner.client.files.delete(id).catch(() => undefined);
    const answer = await (await run.tools()).call("file_restore", { files: [id], name });
    await undoDeletion(run, "files", id);
    return () => {
      if (!answer.isError) blameRow(run, id, answer.facts["name"]);
    };
  },
};
