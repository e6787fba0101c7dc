import { Injectable, PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { ApiError, invalidRequest } from '../http/api-error';
import { tooManyElements } from '../http/list-limit';

/**
 * Checks a body of the event protocol, whose clients expect 400 where the rest of the API says 422.
 * @throws {ApiError} 400 with the wrong fields named, up to a hundred
 */
@Injectable()
export class EnvelopePipe<S extends z.ZodType> implements PipeTransform<unknown, z.output<S>> {
  constructor(private readonly schema: S) {}

  transform(body: unknown): z.output<S> {
    return parseEnvelope(this.schema, body);
  }
}

/** The body for OpenAPI, which knows the schemas of the usual pipe only. */
export function bodyOf(schema: z.ZodType): { type: 'object' } {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described as { type: 'object' };
}

/** @throws {ApiError} 400 with the wrong fields named, up to a hundred */
export function parseEnvelope<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const refusal = tooManyElements(schema, value);
  if (refusal !== undefined) throw new ApiError(400, 'invalid_envelope', refusal);
  const parsed = schema.safeParse(withoutNulls(value));
  if (parsed.success) return parsed.data;
  const { detail, errors } = invalidRequest(parsed.error.issues);
  throw new ApiError(400, 'invalid_envelope', detail, { errors });
}

/** Takes null fields for absent, as some clients leave a field out like this. An answer of null is one. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, each]) => each !== null || key === 'response'));
}
