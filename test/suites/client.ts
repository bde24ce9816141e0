/** What the SDK's client does against any service that keeps the contract: the fake through MSW, the real one in process and over a socket. */
import { afterAll, beforeAll, describe } from "vitest";
import { accountsOf, type Accounts, type ClientSubject } from "./client-subject.ts";
import { agentsSuite } from "./client-agents.ts";
import { filesSuite } from "./client-files.ts";
import { pastSuite } from "./client-past.ts";
import { peopleSuite } from "./client-people.ts";
import { recoverySuite } from "./client-recovery.ts";
import { resourcesSuite } from "./client-resources.ts";
import { transfersSuite } from "./client-transfers.ts";
import { webhooksSuite } from "./client-webhooks.ts";

export type { ClientSubject } from "./client-subject.ts";

/** The parts of the suite that the SDK's fake covers. */
export const COVERED_BY_FAKE = [resourcesSuite, filesSuite, transfersSuite, recoverySuite];
const EVERY_PART = [...COVERED_BY_FAKE, peopleSuite, agentsSuite, pastSuite, webhooksSuite];

/** Runs parts of the suite, all by default, on the service that `open` gives; it is disposed at the end. */
export function describeClient(name: string, open: () => Promise<ClientSubject>, parts = EVERY_PART): void {
  describe(`the client against ${name}`, () => {
    let subject: ClientSubject;
    let opened: Accounts | null = null;
    const accounts = (): Accounts => {
      if (opened === null) throw new Error("the service is not open");
      return opened;
    };
    beforeAll(async () => {
      subject = await open();
      opened = accountsOf(subject);
    });
    afterAll(() => subject[Symbol.asyncDispose]());
    for (const part of parts) part(accounts);
  });
}
