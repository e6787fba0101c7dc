import { ArgumentMetadata, Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { z } from 'zod';
import { invalidRequest } from './api-error';
import { tooManyElements } from './list-limit';

/** HTTP libraries write an empty parameter as `?stream_mode=`. */
function withoutEmpty(query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query;
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}

/**
 * Clients send `null` for omitted fields: at the top level of a body it counts as absent, except for fields whose schema gives
 * it a meaning.
 */
function withoutNulls(body: unknown, schema: unknown): unknown {
  // A batch is a list of bodies.
  if (Array.isArray(body)) {
    const each = schema instanceof z.ZodArray ? schema.element : undefined;
    return body.map((item: unknown) => (Array.isArray(item) ? item : withoutNulls(item, each)));
  }
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([key, value]) => value !== null || meansNull(schema, key)));
}

function meansNull(schema: unknown, key: string): boolean {
  if (!(schema instanceof z.ZodObject)) return false;
  const field: unknown = schema.shape[key];
  return (field instanceof z.ZodOptional ? field.unwrap() : field) instanceof z.ZodNullable;
}

/**
 * Checks bodies, queries and path parameters against the zod schema beside the parameter.
 * @throws {ApiError} 422 with the wrong fields named, up to a hundred
 */
@Injectable()
export class RequestValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({ exceptionFactory: (issues) => invalidRequest(issues) });
  }

  override transform<T = unknown>(value: T, metadata: ArgumentMetadata): Promise<T> {
    if (metadata.type === 'body') {
      const refusal = tooManyElements(metadata.schema, value);
      if (refusal !== undefined) throw invalidRequest([{ message: refusal }]);
      return super.transform<T>(withoutNulls(value, metadata.schema) as T, metadata);
    }
    if (metadata.type === 'query') return super.transform<T>(withoutEmpty(value) as T, metadata);
    return super.transform<T>(value, metadata);
  }
}
