/** The HTTP face that key servers and aggregators have in common: two calls, faults and counters. */
import { setTimeout } from "node:timers/promises";
import type { ChainAccess } from "../chain-access.ts";
import { FaultyChainView, type KeyServerRequests } from "./faults.ts";
import { parseFetchRequest, type FetchRequest } from "./fetch-request.ts";
import { answerRequest, checkClient, readBody } from "./http-answer.ts";
import { renderOther } from "./other-answer.ts";
import { encodeEncryptedKey, type EncryptedKey } from "./encrypted-key.ts";

/** The answer to one identity. */
export interface GrantedKey {
  /** The original package id, then the inner identity. */
  readonly fullId: Uint8Array;
  readonly key: EncryptedKey;
}

export interface KeySource {
  /** One key per identity asked for. @throws KeyServerError when the user may not have one of them. */
  grant(request: FetchRequest, faults: FaultyChainView): Promise<readonly GrantedKey[]>;
  /** @throws KeyServerError `InvalidServiceId` when this is not the server of that object. */
  describe(objectId: string | null): Response;
}

/** A header that every request must have, as gateways in front of key servers want one. */
export interface ApiKeyHeader {
  readonly name: string;
  readonly value: string;
}

export class Endpoint {
  readonly faults: FaultyChainView;
  readonly requests: KeyServerRequests = { service: 0, fetchKey: 0 };
  readonly #source: KeySource;
  readonly #apiKey: ApiKeyHeader | null;

  constructor(chain: ChainAccess, source: KeySource, apiKey: ApiKeyHeader | null = null) {
    this.faults = new FaultyChainView(chain);
    this.#apiKey = apiKey;
    this.#source = source;
  }

  /**
   * @param path Of the request, from `/v1/` on.
   * @throws TypeError `fetch failed` when the server is down.
   */
  async handle(request: Request, path: string): Promise<Response> {
    const call = `${request.method} ${path}`;
    if (call === "POST /v1/fetch_key") return await this.#answer(request, "fetchKey", () => this.#fetchKey(request));
    if (call === "GET /v1/service") return await this.#answer(request, "service", () => this.#service(request));
    if (request.method === "OPTIONS") return await answerRequest(async () => new Response(null));
    return await answerRequest(async () => new Response(null, { status: 404 }));
  }

  /** As `POST /v1/fetch_key`, from inside: how an aggregator asks the members. */
  async ask(request: FetchRequest): Promise<readonly GrantedKey[]> {
    await this.#reach("fetchKey", null);
    return await this.#source.grant(request, this.faults);
  }

  async #answer(request: Request, call: keyof KeyServerRequests, answer: () => Promise<Response>): Promise<Response> {
    await this.#reach(call, request.signal);
    const wanted = this.#apiKey;
    if (wanted !== null && request.headers.get(wanted.name) !== wanted.value)
      return new Response("Unauthorized", { status: 401, headers: { "Access-Control-Allow-Origin": "*" } });
    const own = await answerRequest(async () => {
      checkClient(request.headers);
      return await answer();
    });
    const { otherAnswer } = this.faults;
    return otherAnswer === null ? own : renderOther(otherAnswer, own);
  }

  async #fetchKey(request: Request): Promise<Response> {
    const granted = await this.#source.grant(parseFetchRequest(await readBody(request)), this.faults);
    const keys = granted.map(({ fullId, key }) => ({ id: [...fullId], encrypted_key: encodeEncryptedKey(key) }));
    return Response.json({ decryption_keys: keys });
  }

  async #service(request: Request): Promise<Response> {
    return this.#source.describe(new URL(request.url).searchParams.get("service_id"));
  }

  /** Runs before a server answers at all. A caller that stops waiting is released, like a connection. */
  async #reach(call: keyof KeyServerRequests, signal: AbortSignal | null): Promise<void> {
    this.requests[call] += 1;
    if (this.faults.slow > 0) await delay(this.faults.slow, signal);
    if (this.faults.down) throw new TypeError("fetch failed");
  }
}

async function delay(milliseconds: number, signal: AbortSignal | null): Promise<void> {
  await setTimeout(milliseconds, undefined, signal === null ? {} : { signal }).catch((error: unknown) => {
    throw signal?.aborted === true ? signal.reason : error;
  });
}
