import { createParamDecorator, ExecutionContext, Injectable, PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpSettings } from '../config/http-settings';
import { SecretBox } from '../crypto/secret-box';
import { SEALED_FIELDS } from '../crypto/sealed-fields';

type Headers = Record<string, string>;

@Injectable()
class SelectedHeaders implements PipeTransform<FastifyRequest['headers'], Headers> {
  constructor(private readonly settings: HttpSettings) {}

  transform(headers: FastifyRequest['headers']): Headers {
    return this.settings.configurableHeaders.of(headers);
  }
}

const requestHeaders = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>().headers,
);

/** The headers of the request that `http.configurable_headers` selects, for the run's `configurable`. */
export const ConfigurableHeaders = (): ParameterDecorator => requestHeaders(SelectedHeaders);

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
