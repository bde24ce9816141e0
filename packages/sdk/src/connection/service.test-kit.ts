/** For this package's tests: a fake service with one account, and clients of it. */
import { createClient, type Client } from "../client.ts";
import type { ClientOptions } from "./open-connection.ts";
import type { Transport, TransportRequest } from "../http/transports.ts";
import { createFake, type Fake } from "../testing/index.ts";

export const BASE_URL = "http://coffer.test";

export interface TestService {
  readonly fake: Fake;
  /** The requests of clients since the account was made. */
  readonly sent: TransportRequest[];
  /** The account's. */
  readonly client: Client;
  /** Without credentials. */
  readonly visitor: Client;
  /** Another client of the account. */
  readonly connect: (options?: Partial<ClientOptions>) => Client;
}

export async function openService(fake = createFake()): Promise<TestService> {
  const sent: TransportRequest[] = [];
  const transport: Transport = (request) => (sent.push(request), fake.fetch(request));
  const visitor = createClient({ baseUrl: BASE_URL, transport });
  const { apiKey } = await visitor.development.signup({ email: "a@example.com" });
  sent.length = 0;
  const connect: TestService["connect"] = (options) =>
    createClient({ baseUrl: BASE_URL, transport, credentials: { apiKey }, ...options });
  return { fake, sent, visitor, client: connect(), connect };
}
