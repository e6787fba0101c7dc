import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { GraphRegistry } from '../graphs/graph-registry';
import { TemporalClient } from './temporal-client';

/** The server learns of a version from its first polls. */
const ATTEMPTS = 30;
const WAIT_MS = 1_000;

export interface WorkerVersion {
  deploymentName: string;
  /** Id of the build: of Gantry and of the graphs' code. */
  buildId: string;
}

/**
 * Version of this process in a Worker Deployment, if workers are versioned.
 * @see https://docs.temporal.io/worker-deployments
 */
@Injectable()
export class WorkerDeployment {
  private readonly logger = new Logger(WorkerDeployment.name);
  readonly version: WorkerVersion | undefined;

  constructor(
    config: AppConfig,
    registry: GraphRegistry,
    private readonly temporal: TemporalClient,
  ) {
    const { deployment: deploymentName } = config.worker;
    if (deploymentName) this.version = { deploymentName, buildId: `${config.version}-${registry.revision}` };
  }

  /**
   * Makes the version current in a deployment that has none yet, since without one no work would be executed. Whether a later
   * version becomes current is the operator's decision, and the log names the command.
   */
  async begin(signal: AbortSignal): Promise<void> {
    if (!this.version) return;
    const { deploymentName, buildId } = this.version;
    for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted; attempt += 1) {
      try {
        const current = await this.temporal.currentVersion(deploymentName);
        if (current === undefined) await this.temporal.setCurrentVersion(deploymentName, buildId);
        else if (current !== buildId) this.logCommand(deploymentName, buildId, current);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS) {
          this.logger.error(
            { err: error, deploymentName, buildId },
            'The version of the workers could not be determined',
          );
        }
        await sleep(WAIT_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private logCommand(deploymentName: string, buildId: string, current: string): void {
    this.logger.warn(
      { deploymentName, buildId, current },
      `New work goes to version ${current}. To route it to this one: temporal worker deployment set-current-version ` +
        `--deployment-name ${deploymentName} --build-id ${buildId}`,
    );
  }
}
