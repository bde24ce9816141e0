/**
 * `@coffer/sdk/testing`: stand-ins for the service in tests of code that uses the SDK. `createFake` behaves like the service, over
 * memory; `mock` answers one endpoint as a test says; both are typed by the contract.
 * @packageDocumentation
 */
export { createFake, type Fake, type FakeHandlers, type FakeOptions } from "./fake/service.ts";
export type { VerifySignature } from "./fake/state.ts";
export type { Receive } from "./fake/webhook-state.ts";
export {
  Failure,
  Reply,
  type GroupHandlers,
  type Handler,
  type Handlers,
  type Input,
  type Outcome,
} from "./handlers.ts";
export { handlers, mock, type Resolver } from "./mock.ts";
