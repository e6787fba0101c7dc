import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectDataSource } from '@nestjs/typeorm';
import type { AddressInfo } from 'node:net';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { acrossTenants } from '../database/request-scope';
import type { Query } from '../database/schema-version';
import { toApiTime } from '../http/api-time';
import { TemporalClient } from '../temporal/temporal-client';
import { BacklogMetrics } from './backlog.metrics';
import { addressChecks } from './checks/address-checks';
import { backlogChecks } from './checks/backlog-checks';
import { bucketCheck } from './checks/bucket-check';
import { databaseChecks } from './checks/database-checks';
import { ANSWER_TIMEOUT_MS, type Check, findingOf } from './checks/finding';
import { projectCheck } from './checks/project-check';
import type { Findings } from './system.schemas';

/** The checks are carried out this often at most, however many ask. */
const FRESH_MS = 5_000;

/** Checks of the deployment, each with advice if it fails, for the console and `npm run doctor`. */
@Injectable()
export class FindingsService {
  private latest: { at: number; findings: Promise<Findings> } | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly http: HttpSettings,
    @InjectDataSource() private readonly database: DataSource,
    private readonly temporal: TemporalClient,
    private readonly backlog: BacklogMetrics,
    private readonly host: HttpAdapterHost<FastifyAdapter>,
  ) {}

  /** Findings of all checks, at most five seconds old. A service that doesn't answer is a finding, and delays no other. */
  readFindings(): Promise<Findings> {
    if (!this.latest || performance.now() - this.latest.at > FRESH_MS) {
      this.latest = { at: performance.now(), findings: this.check() };
    }
    return this.latest.findings;
  }

  private async check(): Promise<Findings> {
    const checkedAt = toApiTime(new Date());
    const findings = await Promise.all(this.checks().map((each) => findingOf(each)));
    return { ok: findings.every(({ state }) => state !== 'failure'), checked_at: checkedAt, findings };
  }

  private checks(): Check[] {
    const { http, temporal, traces, langgraphJson } = this.config;
    const query: Query = (sql, parameters) => acrossTenants(() => this.database.query(sql, parameters));
    return [
      { name: 'node', look: () => `Node ${process.versions.node}`, remedy: '' },
      projectCheck(langgraphJson),
      { name: 'ports', look: () => this.listening(), remedy: 'Restart the API.' },
      ...databaseChecks(query),
      {
        name: 'temporal',
        look: () => this.checkTemporal(temporal.address),
        remedy: 'Check TEMPORAL_ADDRESS, TEMPORAL_TLS and TEMPORAL_NAMESPACE, and that the server runs.',
      },
      bucketCheck(traces.objectStore),
      ...addressChecks({ url: http.apiUrl, mountPrefix: this.http.mountPrefix, origins: this.http.cors.origins }),
      { name: 'auth', look: () => this.authentication(), remedy: '' },
      ...backlogChecks(() => this.backlog.observe()),
    ];
  }

  private async checkTemporal(address: string): Promise<string> {
    const { version, namespace } = await this.temporal.describeServer(ANSWER_TIMEOUT_MS);
    return `server ${version} at ${address}, namespace ${namespace}`;
  }

  private listening(): string {
    const { address, family, port } = this.host.httpAdapter.getHttpServer().address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    const reach = this.config.http.isLoopback ? 'for this machine only' : 'for other machines as well';
    const { publicUrl } = this.config.http;
    return `the API listens on ${host}:${port}, ${reach}${publicUrl ? `; its public address is ${publicUrl}` : ''}`;
  }

  private authentication(): string {
    if (this.config.langgraphJson.auth) return 'on, by the auth module of langgraph.json';
    // The settings refuse to start otherwise.
    return this.config.auth.isEnabled ? 'on, by API keys' : 'off: for this machine only';
  }
}
