import { Body, Controller, Get, HttpCode, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Tenant } from '../auth/tenant';
import type { TenantId } from '../auth/tenant';
import { DeliveriesService } from './deliveries.service';
import { toDelivery, toDeliveryDetail } from './delivery.mapper';
import {
  DeliveryDetailResponse,
  deliveryDetailSchema,
  deliveryListSchema,
  DeliveryParams,
  deliveryParams,
  DeliveryResponse,
  deliverySchema,
  ListDeliveriesQuery,
  listDeliveriesQuery,
  TestWebhookBody,
  testWebhookBody,
} from './webhooks.schemas';
import { paginate } from '../http/pagination';
import { RouteTags } from '../http/route-tags';

@RouteTags('Webhooks')
@Controller('webhooks')
export class WebhooksController {
  constructor(private readonly deliveries: DeliveriesService) {}

  /** Newest first. `X-Pagination-Total` is the number of all that match. */
  @Get('deliveries')
  @ApiOperation({ summary: 'List webhook deliveries' })
  @ApiOkResponse({ standardSchema: deliveryListSchema })
  async list(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listDeliveriesQuery }) query: ListDeliveriesQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryResponse[]> {
    const { limit, offset, run_id: runId, thread_id: threadId, export_id: exportId, status, host } = query;
    const filter = {
      ...(runId && { runId }),
      ...(threadId && { threadId }),
      ...(exportId && { exportId }),
      ...(status && { status }),
      ...(host && { host }),
    };
    const page = await this.deliveries.listDeliveries(tenantId, filter, { limit, offset });
    return paginate(reply, page, offset).map(toDelivery);
  }

  /** Returns a delivery with each of its attempts: status, time, response code, first bytes of the answer, error. */
  @Get('deliveries/:delivery_id')
  @ApiOperation({ summary: 'Get a webhook delivery with its attempts' })
  @ApiOkResponse({ standardSchema: deliveryDetailSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: deliveryParams }) params: DeliveryParams,
  ): Promise<DeliveryDetailResponse> {
    const { delivery, attempts } = await this.deliveries.getDelivery(tenantId, params.delivery_id);
    return toDeliveryDetail(delivery, attempts);
  }

  /** The same message under the same webhook-id, as a new delivery with a schedule of its own. */
  @Post('deliveries/:delivery_id/redeliver')
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Send a webhook delivery again' })
  @ApiAcceptedResponse({ standardSchema: deliverySchema })
  async redeliver(
    @Tenant() tenantId: TenantId,
    @Param({ schema: deliveryParams }) params: DeliveryParams,
  ): Promise<DeliveryResponse> {
    return toDelivery(await this.deliveries.redeliver(tenantId, params.delivery_id));
  }

  /** One attempt without retries; the delivery shows the result. */
  @Post('test')
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Send a sample to a webhook URL' })
  @ApiAcceptedResponse({ standardSchema: deliverySchema })
  async test(
    @Tenant() tenantId: TenantId,
    @Body({ schema: testWebhookBody }) body: TestWebhookBody,
  ): Promise<DeliveryResponse> {
    return toDelivery(await this.deliveries.sendTest(tenantId, body.url));
  }
}
