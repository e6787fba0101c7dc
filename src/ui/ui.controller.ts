import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CustomAuthDecides, Public } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { isLoopbackName, hostnameOf } from '../http/loopback';
import { RouteTags } from '../http/route-tags';
import { UiBundles } from './ui-bundles';
import { uiErrors } from './ui.errors';
import {
  loadUiSchema,
  type LoadUi,
  type UiFileParam,
  uiFileParam,
  type UiFileQuery,
  uiFileQuery,
  type UiParam,
  uiParam,
} from './ui.schemas';
import { uiTags } from './ui-tags';

const AS_LONG_AS_POSSIBLE = 'public, max-age=31536000, immutable';

/** Generative UI: components of `ui` in langgraph.json, which pages load with LoadExternalComponent of the SDK. */
@RouteTags('Generative UI')
@Controller('ui')
export class UiController {
  constructor(
    private readonly bundles: UiBundles,
    private readonly config: AppConfig,
    private readonly settings: HttpSettings,
  ) {}

  /** HTML that loads the bundle of an agent and renders one of its components. The first answer may wait for the bundler. */
  @Post(':agent')
  @HttpCode(200)
  @Header('content-type', 'text/html; charset=utf-8')
  @CustomAuthDecides()
  @ApiOperation({ summary: 'Load a UI component' })
  @ApiProduces('text/html')
  @ApiOkResponse({
    description: 'Tags of style sheets and script',
    content: { 'text/html': { schema: { type: 'string' } } },
  })
  @ApiNotFoundResponse({ description: 'langgraph.json has no `ui` of this name' })
  async load(
    @Param({ schema: uiParam }) { agent }: UiParam,
    @Body({ schema: loadUiSchema }) { name }: LoadUi,
    @Req() request: FastifyRequest,
  ): Promise<string> {
    return uiTags(this.base(request), agent, name, await this.bundles.filesOf(agent));
  }

  /** A file of a bundle. Public, since the tags of a page can't carry a key: it holds code for browsers and no data. */
  @Get(':agent/:basename')
  @Public()
  @ApiOperation({ summary: 'Get a file of a UI bundle' })
  @ApiProduces('text/javascript', 'text/css')
  @ApiOkResponse({ description: 'The file' })
  @ApiNotFoundResponse({ description: 'There is no such bundle or file' })
  async file(
    @Param({ schema: uiFileParam }) { agent, basename }: UiFileParam,
    @Query({ schema: uiFileQuery }) { v }: UiFileQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const file = (await this.bundles.filesOf(agent)).find((each) => each.basename === basename);
    if (!file) throw uiErrors.fileNotFound();
    const etag = `"${file.version}"`;
    void reply.header('cache-control', v === file.version ? AS_LONG_AS_POSSIBLE : 'no-cache').header('etag', etag);
    if (request.headers['if-none-match'] === etag) return void reply.status(304);
    void reply.type(file.contentType);
    return file.content;
  }

  /** Address of this server for the page: without a scheme, so that it takes the page's, except where there is no TLS. */
  private base(request: FastifyRequest): string {
    const { publicUrl, apiUrl } = this.config.http;
    const { mountPrefix } = this.settings;
    if (publicUrl !== undefined) return publicUrl + mountPrefix;
    const asked = `http://${request.host}`;
    const { host } = new URL(URL.canParse(asked) ? asked : apiUrl);
    return `${isLoopbackName(hostnameOf(host)) ? 'http:' : ''}//${host}${mountPrefix}`;
  }
}
