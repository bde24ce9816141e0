/** Signing in, the configuration of this machine, and the program itself. */
import type { Routes } from "../../declarations.ts";

export const MACHINE_ROUTES: Routes = {
  signup: { brief: "Make an account, with a chain key of its own", load: () => import("./signup.ts") },
  login: { brief: "Sign in: by an invite, an API key, a password or another device", load: () => import("./login.ts") },
  logout: { brief: "Forget the sign-in of the profile", load: () => import("./logout.ts") },
  whoami: { brief: "Print who is signed in, and with which rights", load: () => import("./whoami.ts") },
  doctor: { brief: "Check this machine, the service and the sign-in", load: () => import("./doctor.ts") },
  account: {
    brief: "The account, its name and its chain address",
    routes: {
      show: { brief: "Show the account, its plan and what it stores", load: () => import("./account/show.ts") },
      update: { brief: "Change the name of the account", load: () => import("./account/update.ts") },
      "link-chain": {
        brief: "Link the chain address of this machine to the account",
        load: () => import("./account/link-chain.ts"),
      },
    },
  },
  chain: {
    brief: "The chain key of this machine, and the network of shared vaults",
    routes: {
      address: { brief: "Print the chain address of this machine", load: () => import("./chain/address.ts") },
      generate: { brief: "Make a chain key and save it in the profile", load: () => import("./chain/generate.ts") },
      import: { brief: "Save a chain key that you have", load: () => import("./chain/import.ts") },
      backup: {
        brief: "Copy the chain key to a file, or show it on a terminal",
        load: () => import("./chain/backup.ts"),
      },
      network: {
        brief: "Save the service's network file, if its SHA-256 is the operator's",
        load: () => import("./chain/network.ts"),
      },
    },
  },
  sessions: {
    brief: "Web sessions of the account",
    routes: {
      list: { brief: "List the sessions of the account", load: () => import("./sessions/list.ts") },
      end: { brief: "End a session of the account", load: () => import("./sessions/end.ts") },
    },
  },
  password: {
    brief: "The password of the account",
    routes: {
      change: { brief: "Change the password of the account", load: () => import("./password/change.ts") },
      forgot: { brief: "Ask for a mail with a link to a new password", load: () => import("./password/forgot.ts") },
      reset: { brief: "Set a new password with the token of a mail", load: () => import("./password/reset.ts") },
    },
  },
  email: {
    brief: "The e-mail address of the account",
    routes: {
      verify: { brief: "Confirm the e-mail address with the token of a mail", load: () => import("./email/verify.ts") },
      resend: { brief: "Ask for another mail to confirm the address", load: () => import("./email/resend.ts") },
    },
  },
  billing: {
    brief: "The plan and what pays for it",
    routes: {
      show: { brief: "Show the plan and what pays for it", load: () => import("./billing/show.ts") },
      checkout: { brief: "Get the address where a plan is paid for", load: () => import("./billing/checkout.ts") },
      plan: { brief: "Change the plan of a subscription", load: () => import("./billing/plan.ts") },
    },
  },
  mcp: {
    brief: "The tool server for agents",
    routes: {
      serve: { brief: "Run the tool server on standard input and output", load: () => import("./mcp/serve.ts") },
      install: {
        brief: "Register the tool server with the MCP clients of this machine",
        load: () => import("./mcp/install.ts"),
      },
      uninstall: {
        brief: "Take the tool server out of the MCP clients again",
        load: () => import("./mcp/uninstall.ts"),
      },
      status: { brief: "Show which MCP clients start the tool server", load: () => import("./mcp/status.ts") },
    },
  },
  config: {
    brief: "The configuration of this machine",
    routes: {
      get: { brief: "Print one value of the configuration", load: () => import("./config/get.ts") },
      set: { brief: "Change one value of the configuration", load: () => import("./config/set.ts") },
      list: { brief: "List the values of the profile, but no secrets", load: () => import("./config/list.ts") },
      path: { brief: "Print the path of the configuration", load: () => import("./config/path.ts") },
    },
  },
  profiles: {
    brief: "Several services or accounts on one machine",
    routes: {
      list: { brief: "List the profiles of this machine", load: () => import("./profiles/list.ts") },
      use: { brief: "Make a profile the default one", load: () => import("./profiles/use.ts") },
      add: { brief: "Add a profile for a service", load: () => import("./profiles/add.ts") },
    },
  },
  completion: { brief: "Print the completion for a shell", load: () => import("./completion.ts") },
  dev: {
    brief: "Start the whole stack of a clone: service, local chain, key servers",
    load: () => import("./dev.ts"),
  },
  version: { brief: "Print the version", load: () => import("./version.ts") },
};
