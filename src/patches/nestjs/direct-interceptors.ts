/**
 * @library @nestjs/core 12.5.1
 * @patch Replaces `intercept` on the prototype of `InterceptorsConsumer`, and calls its `createContext`.
 * @why The library passes each request with an interceptor through eight observables: 7 % of the api's time to create a thread. The interceptor of all routes only sets the scope of a request, for which a function around the handler is enough.
 * @upstream None known.
 * @remove When the library calls interceptors without observables, or can run a function around each handler.
 */
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer';
import type { Observable } from 'rxjs';

/** An interceptor that runs a function around handlers, without a look at what they return. */
export abstract class DirectInterceptor implements NestInterceptor {
  /** Calls `next`, and returns what it returns. */
  abstract around<T>(context: ExecutionContext, next: () => T): T;

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return this.around(context, () => next.handle());
  }
}

type Intercept = (
  this: InterceptorsConsumer,
  ...args: Parameters<InterceptorsConsumer['intercept']>
) => Promise<unknown>;

const { intercept: throughObservables } = InterceptorsConsumer.prototype as { intercept: Intercept };

/**
 * Calls a DirectInterceptor without an observable where it is the only interceptor. Beside others it is called as before, since an
 * observable that they return is subscribed to after `around` has returned. The same would be true of a handler's own observable, which no
 * handler here returns.
 */
async function intercept(
  this: InterceptorsConsumer,
  ...[interceptors, args, instance, callback, next, type]: Parameters<InterceptorsConsumer['intercept']>
): Promise<unknown> {
  const [only, ...others] = interceptors;
  if (others.length > 0 || !(only instanceof DirectInterceptor)) {
    return throughObservables.call(this, interceptors, args, instance, callback, next, type);
  }
  const context = this.createContext(args, instance, callback);
  if (type) context.setType(type);
  return only.around(context, next);
}

/** Lets the library call direct interceptors without observables, in the whole process. */
export function callInterceptorsDirectly(): void {
  InterceptorsConsumer.prototype.intercept = intercept;
}
