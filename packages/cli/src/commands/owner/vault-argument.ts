/** VAULT, as commands take it. */
import { findVault, wholeId, type Task } from "@coffer/tasks";
import { argument } from "../../declarations.ts";

export const VAULT = argument("VAULT", "Name, id, or beginning of the id");

/** A whole id is not looked up: the service may be what is not trusted. */
export const vaultIdOf = async (task: Task, text: string): Promise<string> =>
  wholeId(text) ?? (await findVault(task, text)).id;
