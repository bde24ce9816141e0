/**
 * `@coffer/sdk/testing`: a small fake of the service for tests of code that uses the SDK. `createFake` covers files,
 * folders, public vaults, the trash and webhooks, over memory; every other endpoint answers `not_configured` and says
 * how to mock it. It needs no other package: give its `fetch` to a client as the transport. Handlers for MSW are in
 * `@coffer/sdk/testing/msw`.
 * @packageDocumentation
 */
export { createFake, type Fake, type FakeOptions } from "./fake/service.ts";
export type { Receive } from "./fake/state.ts";
export { Failure, Reply, type Handler, type Input, type Outcome, type Resolver } from "./handlers.ts";
