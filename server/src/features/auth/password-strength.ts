/** Which passwords may be set. */
import { PASSWORD_LENGTH } from "@coffer/contract";
import { ServiceError } from "../../http/errors.ts";

/** What belongs to the person and is therefore easy to guess. */
export interface PasswordContext {
  readonly email: string;
  readonly name?: string | null;
}

export function requireStrongPassword(password: string, _context: PasswordContext): void {
  const { length } = Array.from(password.normalize("NFKC"));
  if (length < PASSWORD_LENGTH.minimum || length > PASSWORD_LENGTH.maximum) throw new ServiceError("weak_password");
}
