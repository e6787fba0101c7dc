import { Injectable, PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { ApiError } from '../http/api-error';
import { tooManyElements } from '../http/list-limit';

/**
 * Checks a body of the event protocol, whose clients expect 400 where the rest of the API says 422.
 * @throws {ApiError} 400 with every wrong field named
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

/** @throws {ApiError} 400 with every wrong field named */
export function parseEnvelope<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const refusal = tooManyElements(schema, value);
  if (refusal !== undefined) throw new ApiError(400, 'invalid_envelope', refusal);
  const parsed = schema.safeParse(withoutNulls(value));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const detail = errors.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
  throw new ApiError(400, 'invalid_envelope', detail, { errors });
}

/** Takes null fields for absent, as some clients leave a field out like this. An answer of null is one. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, each]) => each !== null || key === 'response'));
}
