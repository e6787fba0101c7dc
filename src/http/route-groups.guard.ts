import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { HttpSettings } from '../config/http-settings';
import { ApiError } from './api-error';
import { ROUTE_TAGS } from './route-tags';

/**
 * `http.disable_…` of langgraph.json: the routes of a disabled group answer 404. A group is known by the tag
 * under which its controllers are described.
 */
@Injectable()
export class RouteGroupsGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: HttpSettings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const tags = this.reflector.getAllAndMerge<string[]>(ROUTE_TAGS, [context.getHandler(), context.getClass()]);
    if (this.settings.isDisabled(tags)) throw new ApiError(404, 'not_found', 'Not Found', { format: 'text' });
    return true;
  }
}
