import { applyDecorators, Controller } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** Extension of an operation in the framework's description: the path of its controller that is described. */
export const DESCRIBED_PATH = 'x-described-path';

/**
 * A controller that clients reach at several paths. `/openapi.json` describes the first one; the others serve the same routes.
 * @param described without a slash before it
 */
export const AliasedController = (described: string, ...aliases: string[]): ClassDecorator =>
  applyDecorators(Controller([described, ...aliases]), ApiExtension(DESCRIBED_PATH, described));
