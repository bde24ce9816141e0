/**
 * `@coffer/sdk/testing`: a fake service for tests of code that uses the SDK. `createFake` behaves like the service,
 * over memory. It needs no other package: give its `fetch` to a client as the transport. Handlers for MSW are in
 * `@coffer/sdk/testing/msw`.
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
