/** Somebody who writes to one account through any of the processes, and knows after each request what must be so. */
import { setTimeout as pause } from "node:timers/promises";
import { sha256Of } from "../../kit/bytes.ts";
import type { Draw } from "../../fuzz/draw.ts";
import type { Fleet } from "./fleet.ts";
import { chooseStep, type FileThing, renderState, type State, type Step } from "./model.ts";
import type { Rows } from "./rows.ts";

export interface Account {
  readonly id: string;
  readonly key: string;
  readonly vaultId: string;
  /** Of the newest entry in its audit log when the work began. */
  readonly begunAt: number;
}

export interface Scene {
  readonly fleet: Fleet;
  readonly rows: Rows;
  readonly findings: string[];
  readonly counts: {
    acknowledged: number;
    cut: number;
    happened: number;
    replayed: number;
    resumed: number;
    unavailable: number;
  };
}

/** A resumable upload that somebody else still has, as far as the service knows. */
interface Unfinished {
  readonly path: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

const TUS = { "tus-resumable": "1.0.0" };
const PARTS = 3;

export class Worker {
  readonly account: Account;
  readonly prefix: string;
  state: State = [];
  readonly actions: string[] = [];
  readonly #scene: Scene;
  readonly #draw: Draw;
  readonly #unfinished: Unfinished[] = [];
  #names = 0;

  constructor(scene: Scene, account: Account, prefix: string, draw: Draw) {
    this.#scene = scene;
    this.account = account;
    this.prefix = prefix;
    this.#draw = draw;
  }

  async work(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      if (this.#draw.chance(0.1)) await this.#uploadInParts();
      else await this.#take();
    }
  }

  /** Goes on with uploads whose last writer was killed, until each is done. */
  async finish(patience: number): Promise<void> {
    for (const end = Date.now() + patience; this.#unfinished.length > 0 && Date.now() < end;) {
      const upload = this.#unfinished.shift();
      if (upload === undefined) break;
      await this.#continue(upload);
      await pause(100);
    }
    for (const { name } of this.#unfinished) this.#report(`the upload ${name} stays locked`);
  }

  async #take(): Promise<void> {
    const { account, state } = this;
    const step = chooseStep({ state, draw: this.#draw, vaultId: account.vaultId, name: this.#nextName() });
    const repeats = step.makes !== null && this.#draw.chance(0.2);
    const headers = repeats ? { "idempotency-key": crypto.randomUUID() } : {};
    const answer = await this.#send(step, headers);
    if (answer === null || answer.status >= 500) return this.#findOut(step);
    if (answer.status >= 300) return this.#report(`${step.method} ${step.path} answered ${await describe(answer)}`);
    const id = step.makes === null ? null : idIn(await answer.json());
    this.state = step.after.map((thing) => (thing.id === "" && id !== null ? { ...thing, id } : thing));
    this.actions.push(step.action);
    this.#scene.counts.acknowledged += 1;
    if (repeats) await this.#repeat(step, headers, id);
  }

  /** Under the same key it happens no second time, whoever is asked. */
  async #repeat(step: Step, headers: Record<string, string>, id: string | null): Promise<void> {
    const answer = await this.#send(step, headers);
    if (answer === null || answer.status >= 500) return;
    // What has a secret is named, and not told again.
    const again = await answer.text();
    if (id === null || !again.includes(id))
      this.#report(`${step.path} under the same key answered ${again} after ${String(id)}`);
    this.#scene.counts.replayed += 1;
  }

  /** Without an answer it happened, or it did not; nothing else. The process that had it is dead. */
  async #findOut(step: Step): Promise<void> {
    const seen = await this.#scene.rows.state(this.account.id, this.prefix);
    // The last part of an upload, too, may have been stored without an answer.
    const uploaded = this.#takeStored(seen);
    const happened = renderState(seen) === renderState([...step.after, ...uploaded]);
    if (happened) this.actions.push(step.action);
    else if (renderState(seen) !== renderState([...this.state, ...uploaded]))
      this.#report(
        `${step.method} ${step.path} without an answer left\n${renderState(seen)}\nof\n${renderState(this.state)}`,
      );
    this.#scene.counts.cut += 1;
    if (happened) this.#scene.counts.happened += 1;
    this.state = seen;
  }

  /** The files of unfinished uploads that are stored by now: nobody goes on with those. */
  #takeStored(seen: State): FileThing[] {
    const stored = this.#unfinished.filter(({ name }) => seen.some((thing) => thing.name === name));
    for (const upload of stored) this.#unfinished.splice(this.#unfinished.indexOf(upload), 1);
    this.actions.push(...stored.map(() => "file.uploaded"));
    return stored.map(madeBy);
  }

  async #uploadInParts(): Promise<void> {
    const name = this.#nextName();
    const bytes = this.#draw.bytes(1 + this.#draw.int(20_000));
    const headers = { "upload-length": String(bytes.length), "upload-metadata": `filename ${btoa(name)}` };
    const answer = await this.#send({ method: "POST", path: "/api/uploads" }, { ...TUS, ...headers });
    if (answer === null || answer.status >= 500) return;
    const path = new URL(answer.headers.get("location") ?? "", "http://service.test").pathname;
    if (answer.status !== 201) return this.#report(`beginning an upload answered ${await describe(answer)}`);
    await this.#continue({ path, name, bytes });
  }

  /** Part by part, each through another process. One that nobody may go on with yet is kept for later. */
  async #continue(upload: Unfinished): Promise<void> {
    const { path, bytes } = upload;
    for (let turn = 0; turn < 10 * PARTS; turn += 1) {
      const head = await this.#send({ method: "HEAD", path }, TUS);
      if (head === null || head.status >= 500) continue;
      if (head.status === 423) break;
      if (head.status !== 200) return this.#report(`${path} answered ${String(head.status)}`);
      const offset = Number(head.headers.get("upload-offset"));
      if (offset === bytes.length && head.headers.get("file-id") !== null) return this.#finished(upload);
      const part = bytes.subarray(offset, offset + Math.ceil(bytes.length / PARTS));
      const place = { "content-type": "application/offset+octet-stream", "upload-offset": String(offset) };
      const answer = await this.#send({ method: "PATCH", path, bytes: part }, { ...TUS, ...place });
      if (answer === null) this.#scene.counts.cut += 1;
      else if (answer.status === 423) break;
      else if (answer.status >= 300 && answer.status < 500 && answer.status !== 409)
        return this.#report(`a part of ${path} answered ${await describe(answer)}`);
    }
    this.#unfinished.push(upload);
  }

  async #finished(upload: Unfinished): Promise<void> {
    const { name } = upload;
    const seen = await this.#scene.rows.state(this.account.id, name);
    const made = madeBy(upload);
    if (renderState(seen) !== renderState([made])) this.#report(`the upload ${name} made\n${renderState(seen)}`);
    this.state = [...this.state, { ...made, id: seen[0]?.id ?? "" }];
    this.actions.push("file.uploaded");
    this.#scene.counts.resumed += 1;
  }

  /** null: no answer came. */
  async #send(
    step: Pick<Step, "method" | "path" | "json" | "bytes">,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response | null> {
    const { method, path, json, bytes } = step;
    const body = bytes ?? (json === undefined ? null : JSON.stringify(json));
    const type = bytes === undefined ? (json === undefined ? {} : { "content-type": "application/json" }) : OCTETS;
    try {
      const answer = await fetch(this.#scene.fleet.pick(this.#draw) + path, {
        method,
        body: body as BodyInit | null,
        headers: { authorization: `Bearer ${this.account.key}`, ...type, ...headers },
      });
      if (answer.status === 503 && answer.headers.has("retry-after")) this.#scene.counts.unavailable += 1;
      else if (answer.status >= 500) this.#report(`${method} ${path} answered ${await describe(answer.clone())}`);
      // The whole of it, or it counts as none.
      return new Response(answer.status === 204 || method === "HEAD" ? null : await answer.arrayBuffer(), answer);
    } catch {
      await pause(5);
      return null;
    }
  }

  /** Of the same length, so that none begins with another. */
  #nextName(): string {
    this.#names += 1;
    return `${this.prefix}-${String(this.#names).padStart(6, "0")}`;
  }

  #report(finding: string): void {
    this.#scene.findings.push(`${this.account.id} ${this.prefix}: ${finding}`);
  }
}

function madeBy({ name, bytes }: Unfinished): FileThing {
  return { kind: "file", id: "", name, folderId: null, size: bytes.length, sha256: sha256Of(bytes), trashed: false };
}

const OCTETS = { "content-type": "application/octet-stream" };

async function describe(answer: Response): Promise<string> {
  return `${String(answer.status)} ${await answer.text()}`;
}

/** Of what was made: in an object of its own, or beside its secret. */
function idIn(body: unknown): string | null {
  const { id, file, folder } = body as { id?: string; file?: { id: string }; folder?: { id: string } };
  return id ?? file?.id ?? folder?.id ?? null;
}
