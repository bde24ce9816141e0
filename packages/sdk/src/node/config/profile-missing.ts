import { SdkError } from "../../http/errors.ts";

/** Flags or environment name a profile that the configuration does not have. */
export class ProfileMissingError extends SdkError {
  override readonly name = "ProfileMissingError";
  declare readonly code: "profile_missing";
  readonly profile: string;

  constructor(profile: string, file: string) {
    super(`The configuration ${file} has no profile "${profile}"`, {
      code: "profile_missing",
      retryable: false,
      nextStep: "Name a profile that the configuration has, or add this one.",
    });
    this.profile = profile;
  }

  protected override details(): Record<string, unknown> {
    return { profile: this.profile };
  }
}
