import { z } from 'zod';
import { list, masterKey, positiveInt, type Values, yearsLimit } from '../variables';

export const securityVariables = {
  GANTRY_SECRET_KEY: masterKey.describe(
    '32 bytes in base64: encrypts destination credentials and webhook URLs, and is part of the hash of API keys',
  ),
  GANTRY_SEALING_KEYS: list
    .pipe(z.array(masterKey))
    .describe('keys of stored secrets, separated by commas: the first one seals, all of them decrypt'),
  GANTRY_AUDIT_ADDRESSES: z
    .enum(['hashed', 'full', 'off'])
    .default('hashed')
    .describe('addresses of callers in the audit log: hashed, full, off'),
  GANTRY_AUDIT_RETENTION_DAYS: positiveInt
    .max(...yearsLimit(365))
    .default(365)
    .describe('days that the audit log is kept'),
};

/** The deployment's secrets. */
export interface SecretSettings {
  /** 32 bytes: the deployment's secret. */
  key: Buffer;
  /** Keys of stored secrets: the first one seals, all of them open. Without any it is the deployment's secret. */
  sealingKeys: Buffer[];
}

/** Form of addresses in the audit log, and its retention. */
export interface AuditSettings {
  /** How it keeps the addresses of callers. */
  addresses: 'hashed' | 'full' | 'off';
  retentionMs: number;
}

export const secretSettings = (env: Values<typeof securityVariables>): SecretSettings => ({
  key: Buffer.from(env.GANTRY_SECRET_KEY, 'base64'),
  sealingKeys: [...env.GANTRY_SEALING_KEYS, env.GANTRY_SECRET_KEY].map((key) => Buffer.from(key, 'base64')),
});

export const auditSettings = (env: Values<typeof securityVariables>): AuditSettings => ({
  addresses: env.GANTRY_AUDIT_ADDRESSES,
  retentionMs: env.GANTRY_AUDIT_RETENTION_DAYS * 86_400_000,
});
