import { Injectable } from '@nestjs/common';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';

type Headers = Record<string, string>;

/** Headers of the request that made a run, as the run's row keeps them: sealed, since they may carry a user's token. */
@Injectable()
export class RunHeaders {
  constructor(private readonly secrets: SecretBox) {}

  /** @returns undefined when there is nothing to keep */
  seal(tenantId: string, runId: string, headers: Headers): string | undefined {
    if (Object.keys(headers).length === 0) return undefined;
    return this.secrets.seal(JSON.stringify(headers), SEALED_FIELDS.runHeaders.context(tenantId, runId));
  }

  open(tenantId: string, runId: string, sealed: string | undefined): Headers {
    return sealed === undefined
      ? {}
      : (JSON.parse(this.secrets.open(sealed, SEALED_FIELDS.runHeaders.context(tenantId, runId))) as Headers);
  }
}
