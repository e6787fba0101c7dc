import { Injectable, Logger } from '@nestjs/common';
import type { JsonObject } from '../../database/json';
import { currentScope } from '../../database/request-scope';
import { ApiError } from '../../http/api-error';
import { type AccessFilter, parseAccessFilter, type SearchAccess } from './access-filter';
import { CustomAuth } from './custom-auth';
import type { AuthAction, AuthResource } from './protocol';

export interface Authorized<V> {
  /** The value after the handler's changes; its metadata is stored. */
  value: V;
  /** Condition on the resource's metadata; undefined for all resources of the tenant. */
  filter: AccessFilter | undefined;
  /** The filter is that of a handler for every kind of resource. */
  isGeneral: boolean;
}

/**
 * Asks the custom auth whether the user of the request may do something. A resource that the filter excludes must look as if it
 * didn't exist.
 *
 * Without a custom auth, with an API key, and for the server's own work, everything of the tenant is allowed.
 */
@Injectable()
export class Authorizer {
  private readonly logger = new Logger(Authorizer.name);

  constructor(private readonly custom: CustomAuth) {}

  /** @throws {ApiError} the handler's error; 403 when it refuses or there is none */
  async authorize<V extends object>(resource: AuthResource, action: AuthAction, value: V): Promise<Authorized<V>> {
    const user = currentScope()?.user;
    if (!user) return { value, filter: undefined, isGeneral: false };
    const question = { resource, action, value: value as Record<string, unknown>, user };
    const answer = await this.custom.authorize(question);
    return {
      value: { ...value, ...(answer.value as Partial<V>) },
      filter: this.filterOf(answer.filter),
      isGeneral: answer.isGeneral ?? false,
    };
  }

  /**
   * Asks whether the user may search resources that are found by way of others, such as runs by their threads.
   * @throws {ApiError} as `authorize` does
   */
  async authorizeSearch(resource: AuthResource, requested: { metadata: JsonObject }): Promise<SearchAccess> {
    const { value, filter } = await this.authorize(resource, 'search', requested);
    // A handler may have replaced it by null.
    return { filter, metadata: (value.metadata as JsonObject | null) ?? {} };
  }

  /**
   * The same for a step that leaves out what the user may not do: resolves to undefined when the handler refuses.
   * @throws {ApiError} when the module fails
   */
  async authorizeIfAllowed<V extends object>(
    resource: AuthResource,
    action: AuthAction,
    value: V,
  ): Promise<Authorized<V> | undefined> {
    try {
      return await this.authorize(resource, action, value);
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return undefined;
      throw error;
    }
  }

  private filterOf(returned: unknown): AccessFilter | undefined {
    if (returned === undefined) return undefined;
    try {
      return parseAccessFilter(returned);
    } catch (error) {
      this.logger.error({ err: error }, 'A handler of the custom auth returned a filter that cannot be used');
      throw new ApiError(500, 'custom_auth_failed', 'The custom auth failed');
    }
  }
}
