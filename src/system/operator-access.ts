import { Injectable } from '@nestjs/common';
import { ApiKeysService } from '../auth/api-keys.service';
import { AppConfig } from '../config/config';
import { isSame } from '../crypto/is-same';
import { carriesToken } from '../metrics/metrics-access';
import { systemErrors } from './system.errors';

type Headers = Record<string, string | undefined>;

/** Access to what concerns the deployment as a whole, and no single tenant. */
@Injectable()
export class OperatorAccess {
  constructor(
    private readonly config: AppConfig,
    private readonly apiKeys: ApiKeysService,
  ) {}

  /**
   * Access to figures: for any caller on loopback unless there is a token for them.
   * @throws {ApiError} 401 when they are not the caller's to read
   */
  async requireForMetrics(headers: Headers): Promise<void> {
    if (this.config.telemetry.metricsToken === undefined && this.config.http.isLoopback) return;
    if (!(await this.isOperator(headers))) throw systemErrors.metricsDenied();
  }

  /**
   * Access to findings, which name addresses and files: for any caller only where no route requires credentials.
   * @throws {ApiError} 401 without the operator's credentials; 403 for the key of another tenant
   */
  async requireForFindings(headers: Headers): Promise<void> {
    const { auth, http, telemetry, hasLanggraphJson } = this.config;
    const hasUsers = hasLanggraphJson && this.config.langgraphJson.auth !== undefined;
    if (!auth.isEnabled && !hasUsers && http.isLoopback && telemetry.metricsToken === undefined) return;
    const key = headers['x-api-key'];
    if (key !== undefined && isSame(key, auth.adminKey)) return;
    if (await this.isOperator(headers)) return;
    const isKnown = key !== undefined && (await this.apiKeys.ownerOf(key)) !== undefined;
    throw isKnown ? systemErrors.findingsOfOperator() : systemErrors.findingsDenied();
  }

  /** Whether the caller has the token for metrics, or a key of the operator's own tenant. */
  private async isOperator(headers: Headers): Promise<boolean> {
    if (carriesToken(headers.authorization, this.config.telemetry.metricsToken)) return true;
    const key = headers['x-api-key'];
    return key !== undefined && (await this.apiKeys.ownerOf(key))?.tenantId === this.config.auth.defaultTenantId;
  }
}
