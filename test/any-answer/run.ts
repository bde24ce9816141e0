/** One call of a client at a time, against a service that lies in its answers: what left for it, what came of it, and what stands pinned. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pinStore } from "@coffer/sdk/shared";
import type { Draw } from "./draw.ts";
import type { Sent } from "./liar.ts";
import { blameRequest, hiddenOf } from "./outgoing.ts";
import { openToolProcess, openToolsOver } from "./tools.ts";
import { blameItem, noteItem, type Answered, type ItemKind } from "./truth.ts";
import type { World } from "./world.ts";
import type { Tools, Meaning, Run, Method } from "./method.ts";

export interface Runner extends AsyncDisposable {
  /** What was wrong, in words with ids. */
  readonly blamed: readonly string[];
  /** Lies to one call of the method. */
  one(name: string, method: Method): Promise<void>;
  /** What was pinned and seen goes on in a new process; `own`: one of their own for the tools. */
  begin(own?: boolean): Promise<void>;
}

export async function openRunner(world: World, draw: Draw): Promise<Runner> {
  const blamed: string[] = [];
  let client = await world.newProcess();
  let tools: Promise<Tools> | null = null;
  let isOwn = false;
  let calls = 0;
  const close = async (): Promise<void> => {
    await (await tools)?.[Symbol.asyncDispose]();
    tools = null;
  };
  const begin = async (own = false): Promise<void> => {
    await close();
    isOwn = own;
    client = await world.newProcess();
  };
  return {
    blamed,
    begin,
    [Symbol.asyncDispose]: close,
    one: async (name, method) => {
      let meaning: Meaning = {};
      const found = new Set<string>();
      const blame = (what: string | null): void => {
        if (what !== null) found.add(what);
      };
      const before = await readPins(world);
      calls += 1;
      const own = draw.fork(`call ${String(calls)}`);
      world.liar.begin(own.fork("lies"));
      const means = (meant: Meaning): void => {
        meaning = meant;
        const { itemId, vaultId, name: called, content } = meant;
        const known = world.truth.items.get(itemId ?? "");
        if (itemId !== undefined && known !== undefined && known.vaultId === vaultId)
          noteItem(world.truth, itemId, { kind: known.kind, vaultId: known.vaultId, name: called, content });
      };
      const outcome = await method({
        world,
        draw: own,
        client,
        means,
        blame,
        tools: () => (tools ??= isOwn ? openToolProcess(world) : openToolsOver(client, world)),
      }).then(
        (verdict) => ({ verdict, failure: null }),
        (failure: unknown) => ({ verdict: undefined, failure }),
      );
      requireExpected(name, outcome.failure);
      const { sent, told } = world.liar;
      world.liar.begin(null);
      const secrets = hiddenOf(meaning);
      for (const request of sent) await blameRequest(world, meaning, secrets, request, blame);
      outcome.verdict?.();
      blamePins(before, await readPins(world), name, sent, blame);
      if (found.size === 0) return;
      const lies = `call ${String(calls)}, lies: ${told.join(", ")}`;
      blamed.push(...[...found].map((what) => `${name}: ${what} (${lies})`));
      await before.restore();
      await begin();
    },
  };
}

/** What the SDK and the tools refuse with is a failure of theirs; anything else is one of the test's own. */
function requireExpected(name: string, failure: unknown): void {
  if (failure === null || typeof failure !== "object") return;
  if (!(failure instanceof TypeError || failure instanceof RangeError || failure instanceof ReferenceError)) return;
  throw new Error(`${name} ended with what is no failure of the SDK`, { cause: failure });
}

interface Pinned {
  readonly pins: ReadonlyMap<string, string>;
  restore(): Promise<void>;
}

async function readPins({ machine: { directory, store }, liar }: World): Promise<Pinned> {
  const path = join(directory, "pins.table");
  const content = await readFile(path);
  const pins = await pinStore(store).list(liar.baseUrl);
  return {
    pins: new Map(pins.map((pin) => [pin.vaultId, JSON.stringify(pin, Object.keys(pin).sort())])),
    restore: () => writeFile(path, content, { mode: 0o600 }),
  };
}

/** None is changed; a new one is of a vault that was asked for by its id, or made. A list pins nothing that was not named in it. */
function blamePins(
  before: Pinned,
  after: Pinned,
  name: string,
  sent: readonly Sent[],
  blame: (what: string) => void,
): void {
  for (const [vaultId, pin] of before.pins)
    if (after.pins.get(vaultId) !== pin)
      blame(`the pin of ${vaultId} was ${pin}, and is ${String(after.pins.get(vaultId))}`);
  const asked = sent.filter(({ endpointId }) => endpointId === "vaults.get" || endpointId === "ownership.claim");
  const isMaking = sent.some(({ endpointId }) => endpointId === "vaults.create");
  for (const vaultId of after.pins.keys()) {
    if (before.pins.has(vaultId) || isMaking) continue;
    if (!asked.some(({ url }) => url.includes(vaultId))) blame(`${vaultId} was pinned and never asked for`);
    else if (/list$/.test(name) && !sent.some(({ url }) => url.includes(`vaultId=${vaultId}`)))
      blame(`${vaultId} was pinned by a list that did not name it`);
  }
}

/** Blames an answer that stands for the item that was asked for by its id. */
export function blameAsked({ world, blame }: Run, kind: ItemKind, id: string, answered: Answered): void {
  if (answered.id !== id) blame(`${answered.id} was answered for the ${kind} ${id}`);
  blame(blameItem(world.truth, kind, answered));
}

/** Blames items of a list that was asked for in this place. */
export function blameListed(
  { world, blame }: Run,
  kind: ItemKind,
  place: { readonly vaultId?: string | undefined; readonly folderId?: string | undefined; readonly name?: string },
  items: readonly Answered[],
): void {
  const folder = place.folderId === "root" ? null : place.folderId;
  for (const item of items) {
    blame(blameItem(world.truth, kind, item));
    if (item.unreadable !== undefined) continue;
    const known = world.truth.items.get(item.id);
    if (place.vaultId !== undefined && world.truth.vaults.has(place.vaultId) && known?.vaultId !== place.vaultId)
      blame(`${kind} ${item.id} of elsewhere is listed in ${place.vaultId} as ${item.name}`);
    if (
      known?.vaultId === item.vaultId &&
      folder !== undefined &&
      item.trashedAt === null &&
      !known.folders.has(folder)
    )
      blame(`${kind} ${item.id} is listed in a folder that it was never in`);
    if (place.name !== undefined && known?.vaultId === item.vaultId && item.name !== place.name)
      blame(`${kind} ${item.id} is found by the name ${place.name}, and has another`);
  }
}
