/** What the SDK's client does against any service that keeps the contract: the fake through MSW, the real one in process and over a socket. */
import { afterAll, beforeAll, describe } from "vitest";
import { accountsOf, type Accounts, type ClientSubject } from "./client-subject.ts";
import { agentsSuite } from "./client-agents.ts";
import { filesSuite } from "./client-files.ts";
import { peopleSuite } from "./client-people.ts";
import { recoverySuite } from "./client-recovery.ts";
import { resourcesSuite } from "./client-resources.ts";
import { transfersSuite } from "./client-transfers.ts";

export type { ClientSubject } from "./client-subject.ts";

/** Runs the suite on the service that `open` gives; it is disposed at the end. */
export function describeClient(name: string, open: () => Promise<ClientSubject>): void {
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
    resourcesSuite(accounts);
    peopleSuite(accounts);
    agentsSuite(accounts);
    filesSuite(accounts);
    transfersSuite(accounts);
    recoverySuite(accounts);
  });
}
