import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
  Module,
  type NestInterceptor,
  NotFoundException,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { map, type Observable } from 'rxjs';
import { expectLibrary } from '../../../test/support/library-guard';
import { callInterceptorsDirectly, DirectInterceptor } from './direct-interceptors';

const scope = new AsyncLocalStorage<string>();

@Injectable()
class Scoping extends DirectInterceptor {
  throughObservables = 0;

  around<T>(context: ExecutionContext, next: () => T): T {
    return scope.run(`${context.getClass().name}.${context.getHandler().name}`, next);
  }

  override intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.throughObservables += 1;
    return super.intercept(context, next);
  }
}

class Wrapping implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const outer = scope.getStore();
    return next.handle().pipe(map((inner) => ({ outer, inner })));
  }
}

@Controller('scopes')
class Scopes {
  @Get('plain')
  async plain(): Promise<{ scope: string | undefined }> {
    await new Promise((resolve) => setImmediate(resolve));
    return { scope: scope.getStore() };
  }

  @Get('wrapped')
  @UseInterceptors(Wrapping)
  wrapped(): string | undefined {
    return scope.getStore();
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException('Not here');
  }
}

@Module({
  controllers: [Scopes],
  providers: [Scoping, { provide: APP_INTERCEPTOR, useExisting: Scoping }],
})
class Root {}

describe("Nest's interceptors", () => {
  let app: INestApplication;
  let adapter: FastifyAdapter;

  beforeAll(async () => {
    callInterceptorsDirectly();
    adapter = new FastifyAdapter();
    app = await NestFactory.create(Root, adapter, { logger: false });
    await app.init();
  });

  afterAll(() => app?.close());

  const get = async (path: string) => (await adapter.inject(`/scopes/${path}`)).json<unknown>();

  it('run around handlers without an observable', async () => {
    expect(await get('plain')).toEqual({ scope: 'Scopes.plain' });
    expectLibrary(
      app.get(Scoping).throughObservables === 0,
      'Handlers are not called through InterceptorsConsumer.intercept any more: each request passes through observables.',
    );
  });

  it('run around those of a route, with observables', async () => {
    expect(await get('wrapped')).toEqual({ outer: 'Scopes.wrapped', inner: 'Scopes.wrapped' });
    expect(app.get(Scoping).throughObservables).toBe(1);
  });

  it('let errors of handlers pass', async () => {
    expect(await get('missing')).toMatchObject({ statusCode: 404, message: 'Not here' });
  });
});
