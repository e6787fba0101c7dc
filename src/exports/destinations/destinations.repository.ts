import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { isForeignKeyViolation } from '../../database/sql-errors';
import { DestinationEntity } from './destination.entity';

@Injectable()
export class DestinationsRepository {
  constructor(@InjectRepository(DestinationEntity) private readonly rows: Repository<DestinationEntity>) {}

  async insertDestination(
    tenantId: TenantId,
    row: Omit<DestinationEntity, 'tenantId' | 'createdAt' | 'updatedAt'>,
  ): Promise<DestinationEntity> {
    await this.rows.insert({ ...row, tenantId });
    return this.rows.findOneByOrFail({ tenantId, destinationId: row.destinationId });
  }

  findDestination(tenantId: TenantId, destinationId: string): Promise<DestinationEntity | null> {
    return this.rows.findOneBy({ tenantId, destinationId });
  }

  listDestinations(tenantId: TenantId): Promise<DestinationEntity[]> {
    return this.rows.find({ where: { tenantId }, order: { createdAt: 'DESC', destinationId: 'ASC' } });
  }

  async replaceCredentials(
    tenantId: TenantId,
    destinationId: string,
    fields: Pick<DestinationEntity, 'config' | 'credentials' | 'credentialsKeys'>,
  ): Promise<void> {
    await this.rows.update({ tenantId, destinationId }, { ...fields, updatedAt: () => 'now()' } as never);
  }

  /** Resolves to false when an export still refers to it. */
  async deleteDestination(tenantId: TenantId, destinationId: string): Promise<boolean> {
    try {
      await this.rows.delete({ tenantId, destinationId });
      return true;
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }
}
