/** A name that the caller chooses, for a place where no schema of the contract sees it in the clear. */
import { newNameProblem } from "@coffer/contract";
import { ContractError } from "./errors.ts";

/**
 * The name in NFC, as it is stored. Names that are there already are encrypted again as they are, and do not pass here.
 * @throws ContractError `invalid_request`.
 */
export function chosenName(endpointId: string, name: string): string {
  const problem = newNameProblem(name);
  if (problem !== null) throw new ContractError("request", endpointId, [`name: ${problem}`]);
  return name.normalize("NFC");
}
