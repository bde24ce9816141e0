/**
 * `@coffer/contract/catalogue`: the codes of errors with their texts, and what keys look like. It loads no schemas.
 * @packageDocumentation
 */
export { isErrorCode, type ErrorCode } from "./error-codes.ts";
export { ERRORS } from "./errors.ts";
export { KEY_SCANNING_REGEX } from "./key-form.ts";
export { KEY_REFUSALS, keyRefusalOf, type KeyRefusal } from "./key-refusals.ts";
