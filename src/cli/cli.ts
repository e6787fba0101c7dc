import 'reflect-metadata';
import { userInfo } from 'node:os';
import { NestFactory } from '@nestjs/core';
import { AuditRepository } from '../audit/audit.repository';
import { AuditVerificationService } from '../audit/audit-verification.service';
import { acceptSecretKey, confirmSecretKey } from '../auth/secret-key-check';
import { TenantsService } from '../auth/tenants.service';
import { keepCompiledCode } from '../config/compiled-code';
import { ConfigError } from '../config/config-error';
import { type AppConfig, loadConfig } from '../config/config';
import { SecretRotationService } from '../crypto/secret-rotation.service';
import { asOwner } from '../database/logins';
import { inScope } from '../database/request-scope';
import { ExportVerificationService } from '../exports/verification/export-verification.service';
import { ApiError } from '../http/api-error';
import { RunExplanationService } from '../runs/explanation/run-explanation.service';
import { CliModule } from './cli.module';
import { createProgram, type WithServices } from './program';

/** No command starts a workflow, and the one that asks Temporal does without where it isn't known. */
const readConfig = (): AppConfig => loadConfig({ TEMPORAL_ADDRESS: 'not-set:7233', ...process.env });

/** The operator at a terminal: reads and writes across tenants, under the name of the account. */
const withServices: WithServices = async (work) => {
  const config = readConfig();
  await asOwner(config.database.url, (client) => confirmSecretKey(client, config.secrets.key, false));
  const app = await NestFactory.createApplicationContext(CliModule.forRoot(config), {
    logger: false,
    abortOnError: false,
  });
  const actor = JSON.stringify({ kind: 'cli', id: userInfo().username });
  try {
    const services = {
      tenants: app.get(TenantsService, { strict: false }),
      verification: app.get(ExportVerificationService, { strict: false }),
      rotation: app.get(SecretRotationService, { strict: false }),
      audit: app.get(AuditRepository, { strict: false }),
      auditVerification: app.get(AuditVerificationService, { strict: false }),
      explanation: app.get(RunExplanationService, { strict: false }),
    };
    return await inScope({ tenantId: undefined, isAcrossTenants: true, actor }, () => work(services));
  } finally {
    await app.close();
  }
};

/** Makes the key of the environment the key of the database. */
async function acceptKey(): Promise<void> {
  const { database, secrets } = readConfig();
  await asOwner(database.url, (client) => acceptSecretKey(client, secrets.key));
}

createProgram(withServices, acceptKey)
  .parseAsync()
  .catch((error: unknown) => {
    const text =
      error instanceof ApiError
        ? error.detail
        : error instanceof ConfigError || error instanceof Error
          ? error.message
          : error;
    process.stderr.write(`${String(text)}\n`);
    process.exitCode = 1;
  })
  .finally(keepCompiledCode);
