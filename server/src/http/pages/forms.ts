/** The forms as data: which operation of the contract each is, what it asks for, and what it says (specification §4.2, §5.5). */
import { api, type EndpointDefinition, PASSWORD_LENGTH } from "@coffer/contract";
import type * as z from "zod/mini";
import { FRAGMENT_SCRIPT, markup, type Html } from "./html.ts";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: "email" | "password" | "text";
  readonly autocomplete: string;
  readonly hint?: string;
  /** Left out of the operation when it is empty. */
  readonly optional?: boolean;
  /** The link of a mail brings it, behind its `#`. It is asked for where it did not come. */
  readonly isInFragment?: boolean;
}

export interface Form {
  readonly path: string;
  readonly title: string;
  /** In the contract's group `auth`. */
  readonly name: "verifyEmail" | "resetPassword" | "forgotPassword" | "resendVerification" | "signup";
  /** The fields are its body. */
  readonly endpoint: EndpointDefinition & { readonly body: z.core.$ZodType };
  readonly lead: string;
  readonly button: string;
  readonly fields: readonly Field[];
  /** What a link's query brings: the parameter, and the field that it fills. */
  readonly fromQuery?: { readonly parameter: string; readonly field: string };
  /** The page for a person whose link does not work. */
  readonly otherwise?: "forgot-password" | "resend-verification";
  readonly done: { readonly title: string; readonly text: string };
}

const { minimum, maximum } = PASSWORD_LENGTH;

const EMAIL: Field = { name: "email", label: "E-mail address", type: "email", autocomplete: "email" };
const newPassword = (name: string): Field => ({
  name,
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  hint: `${minimum} to ${maximum} characters; a few unrelated words do well.`,
});
const TOKEN: Field = {
  name: "token",
  label: "Token",
  type: "text",
  autocomplete: "off",
  hint: "It stands in the mail, below the link.",
  isInFragment: true,
};
const ON_ITS_WAY = "If there is such an account, a mail with a link is on its way.";

const MAILED: readonly Form[] = [
  {
    path: "verify-email",
    title: "Confirm your e-mail address",
    name: "verifyEmail",
    endpoint: api.auth.verifyEmail,
    lead: "Confirm that this address is yours. The link works once.",
    button: "Confirm",
    fields: [TOKEN],
    otherwise: "resend-verification",
    done: { title: "Your address is confirmed", text: "You can close this page." },
  },
  {
    path: "reset-password",
    title: "Set a new password",
    name: "resetPassword",
    endpoint: api.auth.resetPassword,
    lead: "The new password takes the place of the old one, and every session ends.",
    button: "Set the password",
    fields: [TOKEN, newPassword("newPassword")],
    otherwise: "forgot-password",
    done: {
      title: "Your new password is set",
      text: "Every session has ended: sign in again. You can close this page.",
    },
  },
];

const ASKING: readonly Form[] = [
  {
    path: "forgot-password",
    title: "Forgot your password?",
    name: "forgotPassword",
    endpoint: api.auth.forgotPassword,
    lead: "You get a mail with a link to set a new one.",
    button: "Send the mail",
    fields: [EMAIL],
    done: { title: "Look into your mailbox", text: ON_ITS_WAY },
  },
  {
    path: "resend-verification",
    title: "Get a new confirmation mail",
    name: "resendVerification",
    endpoint: api.auth.resendVerification,
    lead: "You get a mail with a link to confirm your address.",
    button: "Send the mail",
    fields: [EMAIL],
    done: { title: "Look into your mailbox", text: ON_ITS_WAY },
  },
];

function signUpForm(withCode: boolean): Form {
  const code: Field = { name: "accessCode", label: "Access code", type: "text", autocomplete: "off" };
  const name: Field = {
    name: "name",
    label: "Name",
    type: "text",
    autocomplete: "name",
    hint: "If you like.",
    optional: true,
  };
  return {
    path: "signup",
    title: "Sign up",
    name: "signup",
    endpoint: api.auth.signup,
    lead: "Make an account at this Coffer service.",
    button: "Sign up",
    fields: [...(withCode ? [code] : []), EMAIL, { ...newPassword("password"), label: "Password" }, name],
    ...(withCode ? { fromQuery: { parameter: "code", field: "accessCode" } } : {}),
    done: {
      title: "Your account is ready",
      text: "A mail with a link to confirm your address is on its way. Sign in from your program with this e-mail and password.",
    },
  };
}

export function formsOf({ accessCodesRequired }: { readonly accessCodesRequired: boolean }): readonly Form[] {
  return [...MAILED, ...ASKING, signUpForm(accessCodesRequired)];
}

/** `values`: the content of the fields; never a password. `base`: the path of the pages, without a trailing slash. */
export function renderForm(
  form: Form,
  { values, problem, base }: { values: ReadonlyMap<string, string>; problem: Html | null; base: string },
): Html {
  const { fields, lead, button, path } = form;
  const fragment = fields.find(({ isInFragment }) => isInFragment === true);
  // The answer has another address than a link has: browsers load nothing when only the part behind the `#` differs.
  const target = fragment === undefined ? path : `${path}?sent`;
  const isAsked = fragment !== undefined && (values.get(fragment.name) ?? "") === "";
  return markup`<p>${lead}</p>
    ${problem === null ? "" : markup`<p role="alert">${problem}</p>`}
    <form method="post" action="${base}/${target}">
      ${fields.map((field) => renderField(field, values.get(field.name) ?? ""))}
      <button>${button}</button>
    </form>
    ${isAsked ? FRAGMENT_SCRIPT : ""}`;
}

function renderField(field: Field, value: string): Html {
  const { name, label, type, autocomplete, hint, optional } = field;
  if (field.isInFragment === true && value !== "") return markup`<input type="hidden" name="${name}" value="${value}">`;
  const shown = type === "password" ? "" : value;
  const required = optional === true ? "" : markup` required`;
  return markup`<label>${label}${hint === undefined ? "" : markup`<small>${hint}</small>`}
    <input name="${name}" type="${type}" autocomplete="${autocomplete}" value="${shown}"${required}>
  </label>`;
}
