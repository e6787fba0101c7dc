import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppConfig } from '../config/config';
import { ApiKeysService } from './api-keys.service';
import { authErrors } from './auth.errors';
import { authRequestOf } from './custom/auth-request';
import { CustomAuth } from './custom/custom-auth';
import { isSame } from '../crypto/is-same';
import { headerOf } from '../http/header';

/**
 * Access to the description of the API: except on loopback, only for callers of the API. A browser can't send a key in a
 * header, so its login dialog accepts the key as password.
 */
@Injectable()
export class DocsAccess {
  constructor(
    private readonly config: AppConfig,
    private readonly apiKeys: ApiKeysService,
    private readonly customAuth: CustomAuth,
  ) {}

  /**
   * @throws {ApiError} 401 that makes a browser show its login dialog; the errors of the custom auth for callers with its
   * credentials
   */
  async check(request: FastifyRequest): Promise<void> {
    if (!this.config.http.docsAreProtected) return;
    const { authorization, cookie } = request.headers;
    const key = headerOf(request, 'x-api-key') ?? passwordOf(authorization);
    if (key !== undefined && (await this.opens(key))) return;
    const isUsers = authorization === undefined ? cookie !== undefined : !isBasic(authorization);
    if (!this.customAuth.source || key !== undefined || !isUsers) throw authErrors.docsNeedKey();
    await this.customAuth.authenticate(authRequestOf(request));
  }

  private async opens(key: string): Promise<boolean> {
    return isSame(key, this.config.auth.adminKey) || (await this.apiKeys.ownerOf(key)) !== undefined;
  }
}

const isBasic = (authorization: string): boolean => /^basic /i.test(authorization);

/** The name before the first colon doesn't matter. */
function passwordOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !isBasic(authorization)) return undefined;
  const pair = Buffer.from(authorization.slice('basic '.length), 'base64').toString();
  const separator = pair.indexOf(':');
  return separator === -1 ? undefined : pair.slice(separator + 1);
}
