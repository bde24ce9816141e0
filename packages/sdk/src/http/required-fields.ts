/** You named a vault, folder or file, and it is not there, or not in a field that is read: nothing goes anywhere else instead. */
import { ContractError } from "./errors.ts";

/** When you may leave a place out, in words that follow "leave it out". */
export const NEW_ITEM = {
  vaultId: "where none is meant",
  folderId: "for the top of the vault",
  parentId: "for the top of the vault",
};
export const VERSION = { vaultId: "when the file may be in any vault" };
export const MOVE = {
  folderId: "to leave the file where it is",
  parentId: "to leave the folder where it is",
  ...VERSION,
};

/**
 * Refuses `undefined` as a place: a forgotten `await` makes it of `vault.id` in JavaScript. Treated as none, it would
 * send content for the members of a vault to the default public vault, unencrypted.
 * @throws ContractError `invalid_request`.
 */
export function refuseUndefinedPlaces(
  endpointId: string,
  input: object | undefined,
  places: Readonly<Record<string, string>>,
): void {
  const issues = Object.entries(input ?? {})
    .filter(([name, value]) => value === undefined && Object.hasOwn(places, name))
    .map(([name]) => `${name}: undefined was given; await what it is read from, or leave it out ${places[name] ?? ""}`);
  if (issues.length > 0) throw new ContractError("request", endpointId, issues);
}

/** The names of fields that a type has; the compiler compares the two. */
export type Fields<Input> = Readonly<Record<keyof Input, true>>;

/**
 * Refuses fields that nothing reads. Without this, content under a mistyped `vaultId` would go to the default public
 * vault, and a misplaced `ifMatch` would guard nothing.
 * @throws ContractError `invalid_request`.
 */
export function refuseUnknownFields(endpointId: string, input: object, fields: object): void {
  const issues = Object.keys(input)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => `${name}: unknown field`);
  if (issues.length > 0) throw new ContractError("request", endpointId, issues);
}
