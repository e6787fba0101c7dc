import { Body, Controller, Delete, Get, Header, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { toStoreItem } from './store.mapper';
import {
  type DeleteItem,
  deleteItemSchema,
  type FoundItems,
  foundItemsSchema,
  type GetItem,
  getItemQuery,
  itemSchema,
  keyQuery,
  type ListNamespaces,
  listNamespacesSchema,
  type Namespaces,
  namespacesSchema,
  type PutItem,
  putItemSchema,
  type SearchItems,
  searchItemsSchema,
} from './store.schemas';
import { StoreService } from './store.service';
import { RouteTags } from '../http/route-tags';
import { SearchRoute } from '../http/search-route';

/** Long-term memory: JSON objects under a namespace and a key, for every thread and every graph of a tenant. */
@RouteTags('Store')
@CustomAuthDecides()
@Controller('store')
export class StoreController {
  constructor(private readonly store: StoreService) {}

  @Put('items')
  @HttpCode(204)
  @ApiOperation({ summary: 'Put an item: store it, or replace it whole' })
  @ApiNoContentResponse()
  put(@Tenant() tenantId: TenantId, @Body({ schema: putItemSchema }) body: PutItem): Promise<void> {
    return this.store.putItem(tenantId, body);
  }

  /** `null` when there is no such item: a miss is no error to a memory. */
  @Get('items')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'Get an item, or null' })
  @ApiOkResponse({ standardSchema: itemSchema.nullable() })
  async get(
    @Tenant() tenantId: TenantId,
    @Query({ schema: getItemQuery }) query: GetItem,
    @Query('key', { schema: keyQuery }) key: string,
  ): Promise<string> {
    const item = await this.store.getItem(tenantId, query, key);
    return JSON.stringify(item && toStoreItem(item));
  }

  @Delete('items')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete an item; no error when it is gone already' })
  @ApiNoContentResponse()
  delete(@Tenant() tenantId: TenantId, @Body({ schema: deleteItemSchema }) body: DeleteItem): Promise<void> {
    return this.store.deleteItem(tenantId, body);
  }

  /** The last written first, or by similarity to `query` where the deployment has a `store.index`. */
  @Post('items/search')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Search items below a namespace' })
  @ApiOkResponse({ standardSchema: foundItemsSchema })
  async search(
    @Tenant() tenantId: TenantId,
    @Body({ schema: searchItemsSchema.prefault({}) }) body: SearchItems,
  ): Promise<FoundItems> {
    const items = await this.store.searchItems(tenantId, body);
    return { items: items.map((item) => ({ ...toStoreItem(item), score: item.score })) };
  }

  /** Those that hold an item. `*` in `prefix` and `suffix` stands for any label. */
  @Post('namespaces')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'List namespaces' })
  @ApiOkResponse({ standardSchema: namespacesSchema })
  async namespaces(
    @Tenant() tenantId: TenantId,
    @Body({ schema: listNamespacesSchema.prefault({}) }) body: ListNamespaces,
  ): Promise<Namespaces> {
    return { namespaces: await this.store.listNamespaces(tenantId, body) };
  }
}
