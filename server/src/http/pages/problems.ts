/** What a page says when an operation refuses: in words for people, with what to do next. */
import { type ErrorCode, ERRORS, PASSWORD_LENGTH } from "@coffer/contract";
import { describeFailure, type Failure } from "../failures.ts";
import type { Form } from "./forms.ts";
import { markup, type Html } from "./html.ts";

/** What is wrong with a field, by its name. */
const FIELDS: Readonly<Record<string, string>> = {
  email: "That is no e-mail address. Write it like name@example.com.",
  password: `A password has ${PASSWORD_LENGTH.minimum} to ${PASSWORD_LENGTH.maximum} characters.`,
  newPassword: `A password has ${PASSWORD_LENGTH.minimum} to ${PASSWORD_LENGTH.maximum} characters.`,
  name: "A name has at most 200 characters, none of them a control character.",
  accessCode: "Write the access code as you were given it.",
};

const BROKEN_LINK = "This link does not work: it is not whole, was used before, or is too old.";

const WORDS: Partial<Record<ErrorCode, string>> = {
  token_invalid: BROKEN_LINK,
  email_exists: "There is an account with this e-mail address already. Sign in, or set a new password.",
  form_origin: "This form came from another site. Open the page of this service itself, and send its form.",
  internal: "Something went wrong here. Try again in a moment.",
  unavailable: "The service is busy. Try again in a moment.",
};

export interface Problem {
  readonly failure: Failure;
  readonly text: Html;
  /** Whether the form can be sent again. */
  readonly again: boolean;
}

/** `base`: the path of the pages. */
export function describeProblem(error: unknown, form: Form, base: string): Problem {
  const failure = describeFailure(error);
  const field = failure.code === "validation_failed" ? fieldIn(failure.message) : null;
  const isLink = failure.code === "token_invalid" || field === "token";
  const text = isLink ? BROKEN_LINK : ((field === null ? undefined : FIELDS[field]) ?? wordsOf(failure));
  if (!isLink || form.otherwise === undefined) return { failure, text: markup`${text}`, again: !isLink };
  return { failure, text: markup`${text} <a href="${base}/${form.otherwise}">Get a new mail.</a>`, again: false };
}

function wordsOf({ code, message: said, headers }: Failure): string {
  if (code === "rate_limited") return `Too many tries. Wait ${headers["Retry-After"] ?? "60"} seconds, then try again.`;
  const { message, nextStep } = ERRORS[code];
  // It says whether the code is missing or does not count.
  if (code === "access_code_invalid") return `${said}. Ask the operator of this service for one.`;
  return WORDS[code] ?? `${message}. ${nextStep}`;
}

/** `body.email: Invalid email address` names a field. */
function fieldIn(message: string): string | null {
  return /^body\.(\w+):/.exec(message)?.[1] ?? null;
}
