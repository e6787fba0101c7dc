import { Logger } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { ConfigError } from '../config/config-error';
import { AddressPolicy } from '../network/address-policy';
import { WebhookSigner } from './webhook-signer';
import { fillSection, resolveWebhookConfig, WebhookConfig } from './webhook.config';

/** Settings of webhooks that are read at the start of a process; errors stop the start. */
export class WebhookSettings {
  constructor(
    readonly config: WebhookConfig,
    readonly addresses: AddressPolicy,
    readonly signer: WebhookSigner,
  ) {}

  /** @throws {ConfigError} with every problem of the webhook settings, of both files and environment. */
  static read(app: AppConfig): WebhookSettings {
    const problems: string[] = [];
    const tried = <T>(name: string, make: () => T): T | undefined => {
      try {
        return make();
      } catch (error) {
        if (error instanceof ConfigError) problems.push(...error.problems);
        else problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        return undefined;
      }
    };
    const config = tried('webhooks', () => readSection(app));
    const addresses = tried('GANTRY_WEBHOOK_ALLOW_CIDRS', () => new AddressPolicy(app.webhooks.allowCidrs));
    const signer = tried('GANTRY_WEBHOOK_SECRETS', () => new WebhookSigner(app.webhooks.secrets));
    if (!config || !addresses || !signer) throw new ConfigError(problems);
    if (config.secretHeaders.length > 0 && config.url.allowedDomains.length === 0) {
      new Logger('Webhooks').warn(
        { headers: config.secretHeaders },
        'Headers with secrets go to every host that a caller names: set webhooks.url.allowed_domains in langgraph.json',
      );
    }
    return new WebhookSettings(config, addresses, signer);
  }
}

function readSection(app: AppConfig): WebhookConfig {
  // A missing file is reported by the graphs.
  if (!app.hasLanggraphJson) return resolveWebhookConfig({}, app.templateEnvironment);
  const { path, env, webhooks, http } = app.langgraphJson;
  try {
    return fillSection(webhooks, http?.disable_webhooks ?? false, { ...env, ...app.templateEnvironment });
  } catch (error) {
    throw error instanceof ConfigError
      ? new ConfigError(error.problems.map((problem) => `${path}: ${problem}`))
      : error;
  }
}
