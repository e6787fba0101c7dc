import 'reflect-metadata';
import { Controller, Get, Post } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { expectLibrary } from '../../../test/support/library-guard';
import { contextOf, routesOf } from './routes';

@Controller(['things', '/api/things'])
class Things {
  @Get(':thing_id')
  find(): void {
    return undefined;
  }

  @Post()
  create(): void {
    return undefined;
  }

  notARoute(): void {
    return undefined;
  }
}

describe("Nest's routes", () => {
  const routes = new Map(routesOf(Things, new MetadataScanner()));

  it('are listed in the metadata of controllers', () => {
    const found = [...routes.keys()].sort().join(', ');
    expectLibrary(
      found === 'GET /api/things/:thing_id, GET /things/:thing_id, POST /api/things, POST /things',
      `The metadata of routes have changed: found ${found}. Requests are refused only after their bodies have been read.`,
    );
  });

  it('give guards an execution context', () => {
    const route = routes.get('POST /things')!;
    const context = contextOf('request', 'reply', route);
    const http = context.switchToHttp();
    expectLibrary(
      context.getHandler() === route.handler &&
        context.getClass() === Things &&
        http.getRequest<string>() === 'request' &&
        http.getResponse<string>() === 'reply',
      'ExecutionContextHost takes other arguments than (request and reply, controller, handler).',
    );
  });
});
