import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { getMimeType } from 'hono/utils/mime';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { GraphRegistry } from '../graphs/graph-registry';
import { userCodeEnvironment } from '../graphs/user-code-environment';
import { bundleUis } from './bundler';
import type { BundleAnswer, BundledFile } from './bundler.protocol';
import { uiErrors } from './ui.errors';

export interface UiFile {
  basename: string;
  content: Buffer;
  contentType: string;
  /** Hash of the content: a version of the file, by which caches know it. */
  version: string;
}

interface Waiting {
  bundle: Promise<UiFile[]>;
  settle: (answer: BundleAnswer) => void;
}

/** The bundles of `ui` in langgraph.json, made once after the start and kept in memory. */
@Injectable()
export class UiBundles implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(UiBundles.name);
  private readonly bundles: ReadonlyMap<string, Waiting>;
  private readonly closing = new AbortController();

  constructor(
    private readonly config: AppConfig,
    private readonly registry: GraphRegistry,
    settings: HttpSettings,
  ) {
    const names = settings.serves('ui') ? Object.keys(registry.config.ui.sources) : [];
    this.bundles = new Map(names.map((name) => [name, this.wait()]));
  }

  onApplicationBootstrap(): void {
    if (this.bundles.size > 0) void this.bundle();
  }

  onModuleDestroy(): void {
    this.closing.abort();
  }

  /**
   * The files of a bundle, style sheets and scripts; the first request may wait for the bundler.
   * @throws {ApiError} 404 where langgraph.json has no such `ui`, 500 where it could not be bundled
   */
  filesOf(name: string): Promise<UiFile[]> {
    const waiting = this.bundles.get(name);
    if (!waiting) throw uiErrors.notFound(name);
    return waiting.bundle;
  }

  private wait(): Waiting {
    const { promise, resolve, reject } = Promise.withResolvers<UiFile[]>();
    // Those who ask for it hear of the error; the log has it as well.
    promise.catch(() => undefined);
    const settle = (answer: BundleAnswer): void => {
      if ('files' in answer) resolve(answer.files.map(toUiFile));
      else reject(uiErrors.notBundled(answer.name, answer.error));
    };
    return { bundle: promise, settle };
  }

  private async bundle(): Promise<void> {
    const { config, registry } = this;
    const { path, env, ui } = registry.config;
    const request = { folder: dirname(path), uis: ui.sources, shared: ui.shared };
    const confinement = { env: userCodeEnvironment(config, env), ...config.graphs.confinement };
    const { signal } = this.closing;
    const take = (answer: BundleAnswer): void => {
      if ('error' in answer && !signal.aborted) {
        this.logger.error(`langgraph.json: ui.${answer.name} could not be bundled: ${answer.error}`);
      }
      this.bundles.get(answer.name)?.settle(answer);
    };
    await bundleUis(request, confinement, take, signal);
  }
}

function toUiFile({ basename, content }: BundledFile): UiFile {
  return {
    basename,
    content: Buffer.from(content),
    contentType: getMimeType(basename) ?? 'text/plain',
    version: createHash('sha256').update(content).digest('hex').slice(0, 16),
  };
}
