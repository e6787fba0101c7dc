/** Settings that open something: no code but Gantry's own may see them. */
export const SECRET_SETTINGS: readonly string[] = [
  'DATABASE_URL',
  'GANTRY_ADMIN_KEY',
  'GANTRY_API_KEY',
  'GANTRY_GRAPHS_DATABASE_URL',
  'GANTRY_INTERNAL_KEY',
  'GANTRY_METRICS_TOKEN',
  'GANTRY_REQUESTS_DATABASE_URL',
  'GANTRY_S3_ACCESS_KEY_ID',
  'GANTRY_S3_SECRET_ACCESS_KEY',
  'GANTRY_SEALING_KEYS',
  'GANTRY_SECRET_KEY',
  'GANTRY_WEBHOOK_SECRETS',
  'TEMPORAL_API_KEY',
];

/**
 * Removes the secret settings from a process's environment once its configuration is read, so that no library, child process
 * or error report picks them up there. The kernel keeps the initial environment in /proc/self/environ.
 */
export function forgetSecretSettings(env: NodeJS.ProcessEnv = process.env): void {
  for (const name of SECRET_SETTINGS) delete env[name];
}
