import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AccessFilter } from '../auth/custom/access-filter';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { SecretValues } from '../crypto/secret-values';
import { acrossTenants } from '../database/request-scope';
import { checkContext } from '../runnable-config/check-context';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHosts } from '../graphs/host/graph-hosts';
import type { GraphTarget } from '../graphs/host/protocol';
import { keepMaskedField } from '../http/masked-fields';
import type { Page } from '../http/pagination';
import { isUuid } from '../http/uuid';
import type { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import { assistantErrors } from './assistant.errors';
import { AssistantContent, AssistantsRepository } from './assistants.repository';
import type {
  AssistantFilter,
  CreateAssistant,
  PatchAssistant,
  SearchAssistants,
  SearchVersions,
} from './assistants.schemas';

@Injectable()
export class AssistantsService {
  /** Tenants whose default assistants are known to exist. */
  private readonly prepared = new Set<string>();

  constructor(
    private readonly repository: AssistantsRepository,
    private readonly registry: GraphRegistry,
    private readonly graphs: GraphHosts,
    private readonly authorizer: Authorizer,
    private readonly config: AppConfig,
    private readonly secretValues: SecretValues,
  ) {}

  /**
   * Assistants of graphs that this deployment doesn't serve are kept, for another one may serve them, and are not found.
   * @throws 404 when neither an assistant of the tenant nor a served graph has this name
   */
  async getAssistant(tenantId: TenantId, idOrGraph: string): Promise<AssistantEntity> {
    const assistant = await this.readable(tenantId, idOrGraph);
    return this.registry.has(assistant.graphId) ? assistant : reject(assistantErrors.notFound());
  }

  /**
   * The assistant of a run. Callers that may create a run may run every served graph; an assistant that a user created requires
   * the right to read it.
   */
  async getForRun(tenantId: TenantId, idOrGraph: string): Promise<AssistantEntity> {
    let assistant = await this.findAssistant(tenantId, idOrGraph);
    if (assistant && !this.registry.isSystemAssistant(assistant.assistantId)) {
      const requested = { assistant_id: assistant.assistantId, metadata: {} };
      const { filter } = await this.authorizer.authorize('assistants', 'read', requested);
      if (filter) assistant = await this.findAssistant(tenantId, idOrGraph, filter);
    }
    if (!assistant) throw assistantErrors.unknownForRun(idOrGraph);
    await this.checkLoads(assistant.graphId);
    return assistant;
  }

  async createAssistant(tenantId: TenantId, body: CreateAssistant): Promise<AssistantEntity> {
    await this.prepare(tenantId);
    this.checkGraph(body.graph_id);
    checkContext(body);
    const assistantId = body.assistant_id ?? uuidv7();
    const requested = { ...body, assistant_id: assistantId, metadata: body.metadata ?? {} };
    const { value, filter } = await this.authorizer.authorize('assistants', 'create', requested);
    const inserted = await this.repository.insertAssistant(tenantId, assistantId, {
      graphId: body.graph_id,
      name: body.name ?? 'Untitled',
      description: body.description ?? null,
      config: this.secretValues.seal(tenantId, body.config ?? {}),
      context: this.secretValues.seal(tenantId, body.context ?? {}),
      metadata: value.metadata,
    });
    if (inserted) return this.accessible(tenantId, assistantId);
    const existing = body.if_exists === 'raise' ? null : await this.findAssistant(tenantId, assistantId, filter);
    return existing ?? reject(assistantErrors.exists(assistantId));
  }

  /** Every patch is a version, also an empty one. Metadata is merged, config and context are replaced. */
  async patchAssistant(tenantId: TenantId, idOrGraph: string, body: PatchAssistant): Promise<AssistantEntity> {
    if (body.graph_id !== undefined) this.checkGraph(body.graph_id);
    checkContext(body);
    const requested = { ...body, assistant_id: this.idOf(idOrGraph), metadata: body.metadata ?? {} };
    const { value, filter } = await this.authorizer.authorize('assistants', 'update', requested);
    const { assistantId } = await this.accessible(tenantId, idOrGraph, filter);
    const changed = await this.repository.changeAssistant(tenantId, assistantId, (current) => ({
      graphId: body.graph_id ?? current.graphId,
      name: body.name ?? current.name,
      description: body.description ?? current.description,
      config: body.config
        ? this.secretValues.seal(tenantId, keepMaskedField(body.config, current.config, 'config'))
        : current.config,
      context: body.context
        ? this.secretValues.seal(tenantId, keepMaskedField(body.context, current.context, 'context'))
        : current.context,
      metadata: { ...current.metadata, ...value.metadata },
    }));
    return changed ?? reject(assistantErrors.notFound());
  }

  /** @throws 409 for the default assistant of a served graph. */
  async getRemovable(tenantId: TenantId, idOrGraph: string): Promise<AssistantEntity> {
    const requested = { assistant_id: this.idOf(idOrGraph) };
    const { filter } = await this.authorizer.authorize('assistants', 'delete', requested);
    const assistant = await this.accessible(tenantId, idOrGraph, filter);
    if (this.registry.isSystemAssistant(assistant.assistantId)) throw assistantErrors.system();
    return assistant;
  }

  /** All assistants but the default ones of the served graphs. */
  async removableIds(tenantId: TenantId): Promise<string[]> {
    const ids = await this.repository.findIds(tenantId);
    return ids.filter((id) => !this.registry.isSystemAssistant(id));
  }

  /** Resolves to false when there is no such assistant. */
  deleteAssistant(tenantId: TenantId, assistantId: string): Promise<boolean> {
    return this.repository.deleteAssistant(tenantId, assistantId);
  }

  async searchAssistants(tenantId: TenantId, search: SearchAssistants): Promise<Page<AssistantEntity>> {
    await this.prepare(tenantId);
    if (search.graph_id !== undefined) this.checkGraph(search.graph_id);
    const { value, filter } = await this.authorizeSearch(search);
    return this.repository.searchAssistants(tenantId, { ...search, ...value }, this.registry.graphIds, filter);
  }

  async countAssistants(tenantId: TenantId, search: AssistantFilter): Promise<number> {
    await this.prepare(tenantId);
    const { value, filter } = await this.authorizeSearch(search);
    return this.repository.countAssistants(tenantId, { ...search, ...value }, this.registry.graphIds, filter);
  }

  /** Also of an assistant whose graph isn't served: an earlier version may name one that is. */
  async versions(tenantId: TenantId, idOrGraph: string, search: SearchVersions): Promise<AssistantVersionEntity[]> {
    const { assistantId } = await this.readable(tenantId, idOrGraph);
    const versions = await this.repository.searchVersions(tenantId, assistantId, search);
    if (versions.length === 0) throw assistantErrors.noVersions();
    return versions;
  }

  async setLatest(tenantId: TenantId, idOrGraph: string, version: number): Promise<AssistantEntity> {
    const requested = { assistant_id: this.idOf(idOrGraph), version, metadata: {} };
    const { filter } = await this.authorizer.authorize('assistants', 'update', requested);
    const { assistantId } = await this.accessible(tenantId, idOrGraph, filter);
    const assistant = await this.repository.setLatest(tenantId, assistantId, version);
    return assistant ?? reject(assistantErrors.versionNotFound(version));
  }

  /** The graph's drawing, as JSON text. */
  async drawGraph(tenantId: TenantId, idOrGraph: string, xray: boolean | number): Promise<string> {
    return this.graphs.call('drawGraph', { ...(await this.target(tenantId, idOrGraph)), xray });
  }

  /** JSON schemas of the graph's input, output, state and config, as JSON text. */
  async schemas(tenantId: TenantId, idOrGraph: string): Promise<string> {
    return this.graphs.call('getSchemas', await this.target(tenantId, idOrGraph));
  }

  /** The names of the fields of the graph's state. */
  async fields(tenantId: TenantId, idOrGraph: string): Promise<string[]> {
    return JSON.parse(await this.graphs.call('getFields', await this.target(tenantId, idOrGraph))) as string[];
  }

  /** The graphs inside the graph and their schemas, as JSON text. */
  async subgraphs(tenantId: TenantId, idOrGraph: string, recurse: boolean, namespace?: string): Promise<string> {
    const target = await this.target(tenantId, idOrGraph);
    return this.graphs.call('getSubgraphs', { ...target, recurse, ...(namespace !== undefined && { namespace }) });
  }

  /** The assistant's graph, as a run of it without a config of its own would have it. */
  private async target(tenantId: TenantId, idOrGraph: string): Promise<GraphTarget> {
    const { graphId, config, context, metadata } = await this.getAssistant(tenantId, idOrGraph);
    await this.checkLoads(graphId);
    const values = { ...(config as GraphTarget['config']).configurable, ...context };
    return { graphId, tenantId, metadata, config: { ...config, configurable: values }, context: values };
  }

  private authorizeSearch({ graph_id, metadata = {} }: AssistantFilter) {
    return this.authorizer.authorize('assistants', 'search', { graph_id, metadata });
  }

  private async readable(tenantId: TenantId, idOrGraph: string): Promise<AssistantEntity> {
    const requested = { assistant_id: this.idOf(idOrGraph), metadata: {} };
    const { filter } = await this.authorizer.authorize('assistants', 'read', requested);
    return this.accessible(tenantId, idOrGraph, filter);
  }

  /** @throws {ApiError} 404 also for an assistant that the filter excludes */
  private async accessible(tenantId: TenantId, idOrGraph: string, filter?: AccessFilter): Promise<AssistantEntity> {
    return (await this.findAssistant(tenantId, idOrGraph, filter)) ?? reject(assistantErrors.notFound());
  }

  private async findAssistant(
    tenantId: TenantId,
    idOrGraph: string,
    filter?: AccessFilter,
  ): Promise<AssistantEntity | null> {
    await this.prepare(tenantId);
    const assistantId = this.idOf(idOrGraph);
    return isUuid(assistantId) ? this.repository.findAssistant(tenantId, assistantId, filter) : null;
  }

  /** A graph's name stands for its default assistant. Ids are lower case, as the database returns them. */
  private idOf(idOrGraph: string): string {
    if (this.registry.has(idOrGraph)) return this.registry.systemAssistantId(idOrGraph);
    return isUuid(idOrGraph) ? idOrGraph.toLowerCase() : idOrGraph;
  }

  private checkGraph(graphId: string): void {
    if (this.registry.has(graphId)) return;
    throw assistantErrors.unknownGraph(graphId, this.registry.graphIds);
  }

  private async checkLoads(graphId: string): Promise<void> {
    const problem = await this.graphs.problemOf(graphId);
    if (problem) throw assistantErrors.brokenGraph(graphId, problem);
  }

  /** A tenant has a default assistant per graph from its first request on. */
  private async prepare(tenantId: TenantId): Promise<void> {
    if (this.prepared.has(tenantId)) return;
    // Runs outside of the request, so that the audit log records no caller.
    await acrossTenants(() => this.insertDefaults(tenantId));
    this.prepared.add(tenantId);
  }

  private async insertDefaults(tenantId: TenantId): Promise<void> {
    await Promise.all(
      this.registry.graphs.map(async ({ graphId, description }) => {
        const assistantId = this.registry.systemAssistantId(graphId);
        const { config = {}, context = {} } = this.config.graphs.defaultConfigs[graphId] ?? {};
        const content: AssistantContent = {
          graphId,
          name: graphId,
          description: description ?? null,
          config: this.secretValues.seal(tenantId, config),
          context: this.secretValues.seal(tenantId, context),
          metadata: { created_by: 'system' },
        };
        const inserted = await this.repository.insertAssistant(tenantId, assistantId, content);
        if (!inserted && description !== undefined) await this.describe(tenantId, assistantId, description);
      }),
    );
  }

  /** The description of a default assistant comes from langgraph.json: a new text creates a new version. */
  private async describe(tenantId: TenantId, assistantId: string, description: string): Promise<void> {
    await this.repository.changeAssistant(
      tenantId,
      assistantId,
      ({ graphId, name, config, context, metadata, ...current }) =>
        current.description === description ? undefined : { graphId, name, description, config, context, metadata },
    );
  }
}

function reject(error: Error): never {
  throw error;
}
