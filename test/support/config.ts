import { AppConfig, loadConfig } from '../../src/config/config';
import { testVariables } from './variables';

/** The settings of a test's process. */
export const testConfig = (databaseUrl: string, overrides?: Record<string, string>): AppConfig =>
  loadConfig(testVariables(databaseUrl, overrides));
