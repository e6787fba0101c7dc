import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { temporal } from '@temporalio/proto';
import { Client, Connection, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Workflow, WorkflowStartOptions } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes';
import { AppConfig } from '../config/config';

/** Each of the server's caches learns of new attributes within a few seconds. */
const ATTRIBUTE_ATTEMPTS = 8;
const ATTRIBUTE_WAIT_MS = 1_000;

const { INDEXED_VALUE_TYPE_KEYWORD } = temporal.api.enums.v1.IndexedValueType;

/** The process's only Temporal client. Orchestrators beside it are what features see; no handle leaves this folder. */
@Injectable()
export class TemporalClient implements OnModuleDestroy {
  private readonly logger = new Logger(TemporalClient.name);
  private readonly connection: Connection;
  private readonly client: Client;
  private withSearchAttributes = true;

  constructor(config: AppConfig) {
    const { address, namespace, apiKey, tls } = config.temporal;
    // Lazy: the API starts, answers reads and accepts runs while Temporal is away. The sweep starts them later.
    this.connection = Connection.lazy({ address, ...(apiKey && { apiKey }), ...(tls && { tls }) });
    this.client = new Client({ connection: this.connection, namespace });
  }

  /** Starts a workflow once: a second start under the same id is success. Resolves to whether this call started it. */
  async startOnce<T extends Workflow>(type: string, options: WorkflowStartOptions<T>): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.start(type, options);
      } catch (error) {
        if (!this.withSearchAttributes || !isUnknownSearchAttribute(error)) throw error;
        if (attempt === 1) await this.registerSearchAttributes();
        else if (attempt < ATTRIBUTE_ATTEMPTS) await sleep(ATTRIBUTE_WAIT_MS);
        else this.goOnWithoutSearchAttributes(error);
      }
    }
  }

  private async start<T extends Workflow>(type: string, options: WorkflowStartOptions<T>): Promise<boolean> {
    const { typedSearchAttributes: _, ...plain } = options;
    try {
      await this.client.workflow.start<T>(
        type,
        (this.withSearchAttributes ? options : plain) as WorkflowStartOptions<T>,
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }

  private goOnWithoutSearchAttributes(error: unknown): void {
    this.withSearchAttributes = false;
    this.logger.warn({ err: error }, 'Search attributes could not be registered: workflows start without them');
  }

  /**
   * Makes the search attributes known to the namespace. Where the account may not do that, workflows start without them
   * and an operator is told: a run is worth more than its label.
   */
  async registerSearchAttributes(): Promise<void> {
    try {
      await this.connection.operatorService.addSearchAttributes({
        namespace: this.client.options.namespace,
        searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map(({ name }) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
      });
    } catch (error) {
      this.goOnWithoutSearchAttributes(error);
    }
  }

  /** Asks a workflow to cancel; one that has ended or never began is left alone. */
  async cancel(workflowId: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(workflowId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Sends a signal; resolves to false when the workflow has ended or never began. */
  async signal(workflowId: string, signal: string, ...args: unknown[]): Promise<boolean> {
    try {
      await this.client.workflow.getHandle(workflowId).signal(signal, ...args);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Whether the workflow is there and hasn't closed. */
  async isOpen(workflowId: string): Promise<boolean> {
    try {
      const { status } = await this.client.workflow.getHandle(workflowId).describe();
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Rejects when the server can't be reached within the time. */
  async check(timeoutMs: number): Promise<void> {
    await this.connection.withDeadline(Date.now() + timeoutMs, () => this.connection.ensureConnected());
    await this.connection.withDeadline(Date.now() + timeoutMs, () => this.connection.workflowService.getSystemInfo({}));
  }

  async onModuleDestroy(): Promise<void> {
    await this.connection.close();
  }
}

function isUnknownSearchAttribute(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return /search attribute/i.test(cause);
}
