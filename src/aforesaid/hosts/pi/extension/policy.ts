// What the service told of the privacy policy, as long as the files of the configuration are what they were then.

import { statSync } from "node:fs";
import type { Service } from "./service.ts";

export interface Policy {
  /** Names the policy: as long as it is the same, what was judged stays judged. */
  stamp: string;
  enabled: boolean;
  /** Whether it keeps anything from the provider that was asked about. */
  restricts: boolean;
  /** State of the configuration's files when it was read. */
  files: string;
}

export class Policies {
  /** Told last, for whatever provider, however long ago. */
  latest: Policy | undefined;
  private told = new Map<string | undefined, Policy>();

  constructor(
    private readonly service: Service,
    private readonly session: string,
  ) {}

  /** The policy for a provider, if it is known to be what the configuration says now. */
  of(provider: string | undefined): Policy | undefined {
    const policy = this.told.get(provider);
    return policy && policy.files === this.service.files.map(state).join(" ") ? policy : undefined;
  }

  adopt(provider: string | undefined, told: any): void {
    const { stamp, enabled, restricts, files } = told ?? {};
    if (typeof stamp !== "string" || !Array.isArray(files)) return;
    this.latest = { stamp, enabled: enabled !== false, restricts: restricts !== false, files: files.join(" ") };
    this.told.set(provider, this.latest);
  }

  /** Asks the service; undefined if it does not answer in time. */
  async ask(provider: string | undefined): Promise<Policy | undefined> {
    try {
      const told = await this.service.call("session/clear", { session: this.session, provider }, this.service.settings.timeoutMs);
      this.adopt(provider, told?.policy);
    } catch {
      return undefined;
    }
    return this.of(provider);
  }
}

/** As the service tells it. */
function state(file: string): string {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false });
  return status ? `${status.mtimeNs}:${status.size}` : "-";
}
