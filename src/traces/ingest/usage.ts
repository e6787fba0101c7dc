import { isExactNumber } from '../../http/exact-json';

/** Tokens and costs of a model call, from the fields of various frameworks. */
export interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  prompt_cost?: number;
  completion_cost?: number;
  total_cost?: number;
  details?: Record<string, unknown>;
}

type Json = Record<string, unknown>;

/** Numbers beyond 2^53 are objects as well, and lists are. */
function object(value: unknown): Json | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
  return isObject ? (value as Json) : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function cost(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The message of LangChain's serialised generation, whose usage sits beside its content. */
function generatedMessage(outputs: Json): Json | undefined {
  const generations = outputs.generations;
  const first: unknown = Array.isArray(generations) ? generations[0] : undefined;
  const generation = object(Array.isArray(first) ? first[0] : first);
  const message = object(generation?.message);
  return object(message?.kwargs) ?? message;
}

/** The kinds of runs that call a model. */
const MODEL_CALLS: ReadonlySet<string> = new Set(['llm', 'embedding']);

/** The usage in the forms of OpenAI, Anthropic and LangChain. */
function responseUsage(outputs: Json | undefined): Json | undefined {
  return (
    object(outputs && generatedMessage(outputs)?.usage_metadata) ??
    object(object(outputs?.llm_output)?.token_usage) ??
    object(outputs?.usage)
  );
}

/**
 * Reads `usage_metadata` (LangSmith's own form) from a run's outputs or its metadata, and the usage in a model's response from
 * the outputs of a call of a model. Other runs often return the response of a call under them, whose usage must not count twice.
 * @param runType undefined where the operation doesn't name it
 */
export function usageOf(outputs: unknown, metadata: unknown, runType?: string): Usage | undefined {
  const out = object(outputs);
  const isModelCall = runType === undefined || MODEL_CALLS.has(runType);
  const raw =
    object(out?.usage_metadata) ??
    (isModelCall ? responseUsage(out) : undefined) ??
    object(object(metadata)?.usage_metadata);
  if (!raw) return undefined;
  const prompt = count(raw.input_tokens) ?? count(raw.prompt_tokens);
  const completion = count(raw.output_tokens) ?? count(raw.completion_tokens);
  const total =
    count(raw.total_tokens) ??
    (prompt === undefined && completion === undefined ? undefined : (prompt ?? 0) + (completion ?? 0));
  const promptCost = cost(raw.input_cost);
  const completionCost = cost(raw.output_cost);
  const totalCost =
    cost(raw.total_cost) ??
    (promptCost === undefined && completionCost === undefined ? undefined : (promptCost ?? 0) + (completionCost ?? 0));
  const details = {
    ...(object(raw.input_token_details) && { prompt_token_details: raw.input_token_details }),
    ...(object(raw.output_token_details) && { completion_token_details: raw.output_token_details }),
    ...(object(raw.input_cost_details) && { prompt_cost_details: raw.input_cost_details }),
    ...(object(raw.output_cost_details) && { completion_cost_details: raw.output_cost_details }),
  };
  if (total === undefined && totalCost === undefined) return undefined;
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(total !== undefined && { total_tokens: total }),
    ...(promptCost !== undefined && { prompt_cost: promptCost }),
    ...(completionCost !== undefined && { completion_cost: completionCost }),
    ...(totalCost !== undefined && { total_cost: totalCost }),
    ...(Object.keys(details).length > 0 && { details }),
  };
}
