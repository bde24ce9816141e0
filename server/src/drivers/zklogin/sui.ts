import type { Zklogin } from "../../ports/zklogin.ts";

export const suiZklogin: Zklogin = {
  nonceOf: () => {
    throw new Error("placeholder");
  },
  addressOf: () => {
    throw new Error("placeholder");
  },
};
