import { METHODS_1_0 } from './a2a.schemas';

/** Supported versions, the preferred one first. */
export const VERSIONS = ['1.0', '0.3'] as const;
export type ProtocolVersion = (typeof VERSIONS)[number];

/**
 * The version that a request asks for, as Major.Minor: a patch number changes nothing. None means 0.3.
 * @returns undefined for an unsupported one
 */
export function requestedVersion(asked: string | undefined): ProtocolVersion | undefined {
  const trimmed = asked?.trim() ?? '';
  if (trimmed === '') return '0.3';
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+))?(?:\.\d+)?$/.exec(trimmed) ?? [];
  return VERSIONS.find((version) => version === `${major}.${minor}`);
}

/**
 * The version of one call: the one that the request asks for. Where it names none, a method that only 1.0 has says it, since many
 * clients of 1.0 leave the header out.
 */
export function versionOfCall(asked: string | undefined, requested: ProtocolVersion, method: string): ProtocolVersion {
  const isStated = (asked?.trim() ?? '') !== '';
  return !isStated && Object.hasOwn(METHODS_1_0, method) ? '1.0' : requested;
}
