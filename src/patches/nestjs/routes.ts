/**
 * @library @nestjs/core 12.5.1
 * @patch Makes an `ExecutionContextHost` and reads the metadata of routes, neither of which the packages export at their root.
 * @why Guards decide about a request before its body is read and before Nest has routed it (src/server/admission.ts).
 * @upstream https://github.com/nestjs/nest/issues/2292
 * @remove When Nest can run guards before a body is parsed, or exports both.
 */
import { type ExecutionContext, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { MetadataScanner } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';

type Handler = (...args: never[]) => unknown;

/** The method of a controller that serves a route. */
export interface RouteHandler {
  controller: Type;
  handler: Handler;
}

/** The context that guards are given for a request to a handler. */
export function contextOf(request: unknown, reply: unknown, { controller, handler }: RouteHandler): ExecutionContext {
  return new ExecutionContextHost([request, reply], controller, handler);
}

/** The handlers of a controller by method and pattern, as Fastify names routes: `GET /threads/:thread_id`. */
export function routesOf(controller: Type, scanner: MetadataScanner): [route: string, handler: RouteHandler][] {
  const methods = controller.prototype as Record<string, Handler>;
  return scanner.getAllMethodNames(methods).flatMap((name) => {
    const handler = methods[name];
    return patternsOf(controller, handler).map((route): [string, RouteHandler] => [route, { controller, handler }]);
  });
}

function patternsOf(controller: Type, handler: Handler): string[] {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) return [];
  return pathsOf(controller).flatMap((prefix) =>
    pathsOf(handler).map((path) => {
      const parts = [prefix, path].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
      return `${RequestMethod[method]} /${parts.join('/')}`;
    }),
  );
}

function pathsOf(declared: object): string[] {
  const paths = Reflect.getMetadata(PATH_METADATA, declared) as string | string[] | undefined;
  return Array.isArray(paths) ? paths : [paths ?? ''];
}
