/** Every fault of the configuration at once, so that a start needs one correction and not five. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`Configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}
