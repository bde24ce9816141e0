/** The next step for a user who needs shared vaults and opened a client without them. */
export const HOW_TO_OPEN =
  'Open the client with sharedVaults: import { sharedVaults } from "@coffer/sdk/shared", and pass sharedVaults({ signer, network }).';
