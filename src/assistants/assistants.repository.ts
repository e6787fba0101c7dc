import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, SelectQueryBuilder } from 'typeorm';
import { type AccessFilter, restrict } from '../auth/custom/access-filter';
import type { TenantId } from '../auth/tenant';
import { columnsOf } from '../database/entity-columns';
import { prepared } from '../patches/pg/prepared-statements';
import type { Page } from '../http/pagination';
import { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import { AssistantListeners } from './assistant-listeners';
import type { AssistantFilter, SearchAssistants, SearchVersions } from './assistants.schemas';

/** Fields that a version stores. */
export type AssistantContent = Pick<
  AssistantEntity,
  'graphId' | 'name' | 'description' | 'config' | 'context' | 'metadata'
>;

const SORT_COLUMNS: Record<SearchAssistants['sort_by'], string> = {
  assistant_id: 'a.assistantId',
  created_at: 'a.createdAt',
  updated_at: 'a.updatedAt',
  name: 'lower(a.name)',
  graph_id: 'lower(a.graphId)',
};

const FIND_ASSISTANT = prepared(
  'find-assistant',
  `SELECT ${columnsOf(AssistantEntity, 'assistants')} FROM assistants WHERE tenant_id = $1 AND assistant_id = $2`,
);

@Injectable()
export class AssistantsRepository {
  constructor(
    @InjectRepository(AssistantEntity) private readonly assistants: Repository<AssistantEntity>,
    @InjectRepository(AssistantVersionEntity) private readonly versions: Repository<AssistantVersionEntity>,
    private readonly listeners: AssistantListeners,
  ) {}

  async findAssistant(tenantId: TenantId, assistantId: string, access?: AccessFilter): Promise<AssistantEntity | null> {
    if (!access) {
      const [assistant]: AssistantEntity[] = await this.assistants.query(FIND_ASSISTANT, [tenantId, assistantId]);
      return assistant ?? null;
    }
    const query = this.assistants
      .createQueryBuilder('a')
      .where('a.tenantId = :tenantId AND a.assistantId = :assistantId', { tenantId, assistantId });
    return restrict(query, 'a.metadata', access).getOne();
  }

  async findIds(tenantId: TenantId): Promise<string[]> {
    const assistants = await this.assistants.find({ select: { assistantId: true }, where: { tenantId } });
    return assistants.map(({ assistantId }) => assistantId);
  }

  /** Stores a new assistant as version 1; resolves to false when the id is taken. */
  async insertAssistant(tenantId: TenantId, assistantId: string, content: AssistantContent): Promise<boolean> {
    return this.assistants.manager.transaction(async (manager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(AssistantEntity)
        .values({ tenantId, assistantId, version: 1, ...content } as never)
        .orIgnore()
        .returning('assistant_id')
        .execute();
      if ((inserted.raw as unknown[]).length === 0) return false;
      await manager.insert(AssistantVersionEntity, { tenantId, assistantId, version: 1, ...content } as never);
      return true;
    });
  }

  /**
   * Changes an assistant under its row lock and stores the result as a new version; does nothing if there is no such assistant.
   */
  async changeAssistant(
    tenantId: TenantId,
    assistantId: string,
    change: (current: AssistantEntity) => AssistantContent | undefined,
  ): Promise<AssistantEntity | null> {
    return this.assistants.manager.transaction(async (manager) => {
      const current = await manager.findOne(AssistantEntity, {
        where: { tenantId, assistantId },
        lock: { mode: 'pessimistic_write' },
      });
      if (!current) return null;
      const content = change(current);
      if (!content) return current;
      const highest = (await manager.maximum(AssistantVersionEntity, 'version', { tenantId, assistantId })) ?? 0;
      const version = highest + 1;
      await manager.insert(AssistantVersionEntity, { tenantId, assistantId, version, ...content } as never);
      const row = { ...content, version, updatedAt: new Date() };
      await manager.update(AssistantEntity, { tenantId, assistantId }, row as never);
      return { ...current, ...row };
    });
  }

  /** Makes an older version current again, with all its fields. */
  async setLatest(tenantId: TenantId, assistantId: string, version: number): Promise<AssistantEntity | null> {
    const kept = await this.versions.findOneBy({ tenantId, assistantId, version });
    if (!kept) return null;
    const { graphId, name, description, config, context, metadata } = kept;
    const row = { graphId, name, description, config, context, metadata, version, updatedAt: new Date() };
    await this.assistants.update({ tenantId, assistantId }, row as never);
    return this.findAssistant(tenantId, assistantId);
  }

  async deleteAssistant(tenantId: TenantId, assistantId: string): Promise<boolean> {
    return this.assistants.manager.transaction(async (manager) => {
      const { affected } = await manager.delete(AssistantEntity, { tenantId, assistantId });
      await this.listeners.assistantDeleted(manager, tenantId, assistantId);
      return affected === 1;
    });
  }

  /** @param graphIds the graphs whose assistants are searched */
  async searchAssistants(
    tenantId: TenantId,
    search: SearchAssistants,
    graphIds: string[],
    access?: AccessFilter,
  ): Promise<Page<AssistantEntity>> {
    const [items, total] = await this.filtered(tenantId, search, graphIds, access)
      .orderBy(SORT_COLUMNS[search.sort_by], search.sort_order === 'asc' ? 'ASC' : 'DESC')
      .addOrderBy('a.assistantId', 'ASC')
      .offset(search.offset)
      .limit(search.limit)
      .getManyAndCount();
    return { items, total };
  }

  /** @param graphIds the graphs whose assistants are counted */
  countAssistants(
    tenantId: TenantId,
    filter: AssistantFilter,
    graphIds: string[],
    access?: AccessFilter,
  ): Promise<number> {
    return this.filtered(tenantId, filter, graphIds, access).getCount();
  }

  searchVersions(tenantId: TenantId, assistantId: string, search: SearchVersions): Promise<AssistantVersionEntity[]> {
    const query = this.versions
      .createQueryBuilder('v')
      .where('v.tenantId = :tenantId AND v.assistantId = :assistantId', { tenantId, assistantId });
    if (search.metadata) query.andWhere('v.metadata @> :metadata', { metadata: JSON.stringify(search.metadata) });
    return query.orderBy('v.version', 'DESC').offset(search.offset).limit(search.limit).getMany();
  }

  private filtered(
    tenantId: TenantId,
    filter: AssistantFilter,
    graphIds: string[],
    access?: AccessFilter,
  ): SelectQueryBuilder<AssistantEntity> {
    const query = this.assistants
      .createQueryBuilder('a')
      .where('a.tenantId = :tenantId AND a.graphId = ANY(:graphIds)', { tenantId, graphIds });
    if (filter.graph_id !== undefined) query.andWhere('a.graphId = :graphId', { graphId: filter.graph_id });
    if (filter.name !== undefined) {
      query.andWhere(`strpos(lower(a.name), lower(:name)) > 0`, { name: filter.name });
    }
    if (filter.metadata && Object.keys(filter.metadata).length > 0)
      query.andWhere('a.metadata @> :metadata', { metadata: JSON.stringify(filter.metadata) });
    return restrict(query, 'a.metadata', access);
  }
}
