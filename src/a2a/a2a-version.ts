/** What is spoken here, the preferred one first. */
export const VERSIONS = ['1.0', '0.3'] as const;
export type ProtocolVersion = (typeof VERSIONS)[number];

/**
 * The version that a request asks for, as Major.Minor: a patch number changes nothing. None means 0.3.
 * @returns undefined for one that isn't spoken here
 */
export function requestedVersion(asked: string | undefined): ProtocolVersion | undefined {
  const trimmed = asked?.trim() ?? '';
  if (trimmed === '') return '0.3';
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+))?(?:\.\d+)?$/.exec(trimmed) ?? [];
  return VERSIONS.find((version) => version === `${major}.${minor}`);
}
