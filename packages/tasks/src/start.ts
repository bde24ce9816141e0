/**
 * `@coffer/tasks/start`: what a program needs before its work begins. It loads neither schemas nor tasks.
 * @packageDocumentation
 */
export { LOCAL_FAILURES, TaskFailure, toFailure, withStep, type FailureCode, type FailureDetails } from "./failure.ts";
export { createRedaction, type Redaction } from "./redaction.ts";
export { createServiceLink, type ServiceLink } from "./service-link.ts";
export { Untrusted, untrusted } from "./untrusted.ts";
