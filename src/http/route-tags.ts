import { applyDecorators, SetMetadata } from '@nestjs/common';
// eslint-disable-next-line no-restricted-syntax -- the one place
import { ApiTags } from '@nestjs/swagger';

/** Metadata key of the tags of a controller or a handler. */
export const ROUTE_TAGS = Symbol('route tags');

/** Group of a controller's routes: under which they are described in `/openapi.json`, and switched off by `http.disable_…`. */
export const RouteTags = (...tags: string[]): ClassDecorator & MethodDecorator =>
  applyDecorators(ApiTags(...tags), SetMetadata(ROUTE_TAGS, tags));
