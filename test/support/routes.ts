import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { v7 as uuidv7 } from 'uuid';

export interface Route {
  method: string;
  /** Path in the form of the router: `/threads/:thread_id`. */
  path: string;
  controller: string;
  handler: (...args: unknown[]) => unknown;
  owner: new (...args: never[]) => object;
}

const listOf = (value: string | string[] | undefined): string[] => (Array.isArray(value) ? value : [value ?? '']);

/** Path of a route as the API's description has it: `/threads/{thread_id}`. */
export function describedPath(path: string): string {
  return path
    .replace(/\(\^[^)]*\)/g, '')
    .replace(/(?<!:):(?!:)(\w+)/g, '{$1}')
    .replaceAll('::', ':');
}

/** Address of a route, with the id of no resource for each parameter. */
export function addressOf(path: string): string {
  return describedPath(path).replace(/\{\w+\}/g, () => uuidv7());
}

/** Every route that a controller of the application declares, found by reflection: a new one can't be forgotten. */
export function routesOf(app: NestFastifyApplication): Route[] {
  const routes: Route[] = [];
  for (const module of app.get(ModulesContainer).values()) {
    for (const { metatype } of module.controllers.values()) {
      const owner = metatype as Route['owner'];
      const prototype = owner.prototype as Record<string, Route['handler']>;
      for (const name of new MetadataScanner().getAllMethodNames(prototype)) {
        const handler = prototype[name];
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
        if (method === undefined) continue;
        for (const prefix of listOf(Reflect.getMetadata(PATH_METADATA, owner) as string | string[])) {
          for (const path of listOf(Reflect.getMetadata(PATH_METADATA, handler) as string | string[])) {
            const parts = [prefix, path].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
            routes.push({
              method: RequestMethod[method],
              path: `/${parts.join('/')}`,
              controller: owner.name,
              handler,
              owner,
            });
          }
        }
      }
    }
  }
  return routes.sort((a, b) => `${a.path} ${a.method}`.localeCompare(`${b.path} ${b.method}`));
}
