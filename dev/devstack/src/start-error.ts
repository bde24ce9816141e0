/** A sentence for the user instead of a stack trace. */
export class StartError extends Error {
  override readonly name = "StartError";
}
