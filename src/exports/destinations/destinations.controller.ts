import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsEntitlement } from '../../auth/entitlements';
import { Tenant, TenantHeaderRequired, TenantId } from '../../auth/tenant';
import { toDestination, toDestinationTest } from './destination.mapper';
import {
  CreateDestination,
  createDestinationSchema,
  Destination,
  destinationListSchema,
  destinationParamsSchema,
  destinationSchema,
  DestinationTest,
  destinationTestSchema,
  UpdateDestination,
  updateDestinationSchema,
} from './destinations.schemas';
import { DestinationsService } from './destinations.service';
import { RouteTags } from '../../http/route-tags';

interface DestinationParams {
  destination_id: string;
}

@RouteTags('Bulk Exports')
@TenantHeaderRequired()
@Controller('api/v1/bulk-exports/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  /** Tests the destination by writing to it, and stores it with its credentials sealed. */
  @Post()
  @NeedsEntitlement('bulk_export')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a destination' })
  @ApiOkResponse({ standardSchema: destinationSchema })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createDestinationSchema }) body: CreateDestination,
  ): Promise<Destination> {
    return toDestination(await this.destinations.createDestination(tenantId, body));
  }

  @Get()
  @ApiOperation({ summary: 'List destinations' })
  @ApiOkResponse({ standardSchema: destinationListSchema })
  async list(@Tenant() tenantId: TenantId): Promise<Destination[]> {
    return (await this.destinations.listDestinations(tenantId)).map(toDestination);
  }

  @Get(':destination_id')
  @ApiOperation({ summary: 'Get a destination' })
  @ApiOkResponse({ standardSchema: destinationSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: destinationParamsSchema }) params: DestinationParams,
  ): Promise<Destination> {
    return toDestination(await this.destinations.getDestination(tenantId, params.destination_id));
  }

  /** Rotates the credentials, tested like those of a new destination. */
  @Patch(':destination_id')
  @ApiOperation({ summary: 'Replace the credentials of a destination' })
  @ApiOkResponse({ standardSchema: destinationSchema })
  async update(
    @Tenant() tenantId: TenantId,
    @Param({ schema: destinationParamsSchema }) params: DestinationParams,
    @Body({ schema: updateDestinationSchema }) body: UpdateDestination,
  ): Promise<Destination> {
    return toDestination(await this.destinations.rotateCredentials(tenantId, params.destination_id, body));
  }

  /** Writes, reads and deletes a small object under `<prefix>/tmp/`, and names what is missing. */
  @Post(':destination_id/test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Test a destination' })
  @ApiOkResponse({ standardSchema: destinationTestSchema })
  async test(
    @Tenant() tenantId: TenantId,
    @Param({ schema: destinationParamsSchema }) params: DestinationParams,
  ): Promise<DestinationTest> {
    return toDestinationTest(
      params.destination_id,
      await this.destinations.testDestination(tenantId, params.destination_id),
    );
  }

  /** Deletes a destination that no export refers to. */
  @Delete(':destination_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a destination' })
  async delete(
    @Tenant() tenantId: TenantId,
    @Param({ schema: destinationParamsSchema }) params: DestinationParams,
  ): Promise<void> {
    await this.destinations.deleteDestination(tenantId, params.destination_id);
  }
}
