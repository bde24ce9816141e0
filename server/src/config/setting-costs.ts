/** What each setting costs whoever sets, raises or lowers it, in the order of the operator's page: docs/guides/settings.md is made from it. */
import type { VARIABLES } from "./variables.ts";

export interface SettingGroup {
  readonly title: string;
  readonly costs: Partial<Readonly<Record<keyof typeof VARIABLES, string>>>;
}

const NOTHING = "Nothing.";

export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: "Where it is reached",
    costs: {
      mode: "Development lets every caller act as a user and has keys that anybody knows. Its data are served in development alone.",
      host: "An address that others reach needs a proxy with TLS in front of it, because the server speaks plain http.",
      port: "Ports below 1024 need a right that the unit does not give.",
      publicUrl:
        "Signatures and links carry it: with another one, signatures that are under way and links in mails sent before are void.",
      appUrl:
        "Without it the server serves the few pages itself. With it the application at that address sees the tokens of links.",
      trustedProxies:
        "A proxy that is named decides what address a caller has, so it can lift every limit by address. One that is missing lets all its callers share one limit.",
      corsOrigins: "A page of a named origin can do whatever its visitors' keys can do.",
      allowInsecure: "Everybody who reaches the address can act as any user. Development only.",
      allowUnsignedRedeem: "An invite can be redeemed for a chain address whose key nobody showed. Development only.",
    },
  },
  {
    title: "Secrets",
    costs: {
      masterKey:
        "It cannot be exchanged: without it the rows serve nobody, so a copy belongs elsewhere than the backup.",
      jwtKeys:
        "A key that goes ends the access tokens that it signed, and clients refresh. Each key more is one that can leak.",
      metricsToken:
        "Whoever has it reads how much is used and how the machine is, and no content. Without it only this machine reads /metrics.",
    },
  },
  {
    title: "Rows",
    costs: {
      dataDirectory:
        "A disk of this machine, which bounds what is stored while rows or contents are on it. It has to be one that flushes.",
      databaseUrl:
        "A PostgreSQL to run, watch and back up, and a trip over the network for each statement. In exchange any number of processes share it.",
      databaseDirectUrl:
        "One connection past the pooler for each process. Without it, reads of each process four times a second.",
      databaseConnections:
        "Memory of PostgreSQL for each, times the number of processes. With too few, requests wait for one.",
      databasePooler:
        "Statements are not prepared, so each is planned anew, and limits of time go with each transaction.",
      rateLimits:
        "Shared: one more statement for each request that is counted. Process: with N processes a caller has up to N times each rate.",
    },
  },
  {
    title: "Contents",
    costs: {
      diskReserve:
        "So much of the disk stores no files. With 0 a full disk leaves little room for the rows, which share it.",
      blobsUrl:
        "A store to run or to pay, and requests to it: at least one for each file that is stored or read. In exchange no disk bounds what is stored.",
      blobsRegion: NOTHING,
      blobsAddressing: "Host needs a name and a certificate for the bucket's own host name.",
      blobsAccessKeyId: NOTHING,
      blobsSecretAccessKey:
        "Whoever has it reads and deletes contents; those of shared vaults are encrypted by clients.",
      blobsSessionToken: "It ends, and the server has to start again with the next one.",
      blobsEncryption:
        "aws:kms costs a request to the key's service for each object, at its price and within its rates.",
      blobsEncryptionKey: "Contents cannot be read any more once the key is gone.",
      blobsBodies: "Each upload is hashed once more, on the server's processor.",
      blobRedirect:
        "An address is good for 60 seconds, so a revoked key may still read a file for that long; the log and metrics do not see these bytes.",
      blobsCaFile:
        "The system's authorities do not count for the store any more. A renewed file counts after a restart.",
    },
  },
  {
    title: "Mail",
    costs: {
      smtpUrl: "Without it nobody gets a mail, and files pile up in the outbox.",
      mailFrom: "Mail servers refuse a sender whose domain they do not know to be yours (SPF, DKIM).",
    },
  },
  {
    title: "Accounts",
    costs: {
      accessCodes: "Off: everybody who reaches the server can store up to the free plan, as often as they sign up.",
      freeFile: "What one upload may take of the disk. Lower: larger files that are there stay, and no new ones come.",
      freeStorage:
        "Times the number of accounts, it is what the storage has to hold, and as much again for a while of what they delete.",
      proFile: "As for the free plan.",
      proStorage: "As for the free plan.",
      vaults: "Rows, and longer lists of vaults.",
      apiKeys: "Rows. Each key is one more that can leak.",
      invites: "Rows. Each invite lets somebody in until it ends.",
      webhookEndpoints:
        "Each endpoint that hears an event costs a row, two more writes and a request for each of them.",
      keepVersionsDays:
        "Storage: replaced contents stay for so long, and accounts are charged for them. Vaults that say their own days do not follow.",
      uploadHours: "Unfinished uploads hold their storage for so long.",
      paymentSecret: "Whoever has it can put any account on any plan.",
    },
  },
  {
    title: "Requests",
    costs: {
      rawUpload: "An upload in one request begins from nothing when its connection breaks.",
      resumableUpload: "What one unfinished upload may hold of the storage, within the account's own.",
      jsonBody: "Memory for each such body that is on its way.",
      idleSeconds:
        "Longer: silent connections hold their place. Shorter: clients on poor networks are cut, and send again.",
      graceSeconds:
        "A stop takes so long at most; a process manager has to wait longer. Transfers that take longer are cut.",
      noticeSeconds:
        "Each stop takes longer by as much. Shorter than the balancer's checks: it sends requests to a server that is gone.",
      logLevel: "Below info, requests are not in the log, and a fault cannot be traced to one. Debug costs disk.",
    },
  },
  {
    title: "Rates",
    costs: {
      generalRate: "Higher: one credential may take that much of the processes. Lower: busy agents get 429 and wait.",
      generalBurst: "Higher: one credential may take that many places at one moment.",
      loginRate:
        "Higher: more passwords can be tried from one address, each at the price of a password hash of this machine.",
      signInFailures: "Higher: more guesses at one account. Lower: people who mistype wait sooner.",
      signupRate: "Higher: more accounts and guesses at codes from one address.",
      anonymousRate: "Higher: more work for callers whom nobody knows.",
      refreshRate: NOTHING,
      idpRate: "Higher: more requests to the provider, at your client's limits there.",
      mailRate: "Higher: more mails at the wish of one address, which count against your sender's name.",
      mailAddressRate: "Higher: one mailbox may get more mails that its owner did not ask for.",
      webhookTestRate: "Higher: more requests to a receiver at the wish of an account.",
    },
  },
  {
    title: "Webhooks",
    costs: {
      webhookNetworks: "Every account can make the server send requests into these networks.",
      webhookProxy: "The proxy sees what endpoints hear, and has to keep webhooks out of your networks itself.",
      webhookConcurrency: "A socket and memory for each attempt under way; receivers that answer late keep them.",
      webhookEndpointConcurrency: "More for a receiver to bear at a time. Fewer: a slow receiver falls behind.",
      webhookEndpointRate: "More a second for a receiver to bear. On PostgreSQL all processes keep it together.",
    },
  },
  {
    title: "The chain",
    costs: {
      network: "Addresses and signatures of one network do not count on another, so it stays as it is.",
      chainFile: "Users' programs take the file only by its digest, so a change of it is one that you announce.",
      chainUrl:
        "The server believes the node about who may use a shared vault; while it does not answer, shared vaults do not either.",
      chainPackage: "Vaults of another package are not seen, so it stays as it is.",
      chainId: "Without it a node of another chain is believed from the start on.",
    },
  },
  {
    title: "Signing in elsewhere",
    costs: {
      idpIssuer: "The provider decides who a user is, and while it is away nobody signs in there.",
      idpClientId: NOTHING,
      idpClientSecret: "Whoever has it can ask the provider in your name.",
      prover: "Proofs of sign-ins are made there. Development's prover counts on a chain of this machine alone.",
      proverUrl: "It is sent tokens and salts, so it can link addresses to people.",
      proverApiKey: "Whoever has it uses your share of the prover.",
    },
  },
];
