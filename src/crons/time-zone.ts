/** `Area/Place` or an abbreviation. Offsets such as +02:00 are no zones to Temporal. */
const ZONE_NAME = /^[A-Za-z]+[A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/**
 * The canonical name of a time zone, in the spelling of the IANA database; undefined when there is no such zone. Node ignores the
 * case of names, and knows abbreviations of its own (`IST`), but Temporal's server finds a zone only by its exact IANA name.
 */
export function canonicalZone(name: string): string | undefined {
  if (!ZONE_NAME.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    // Node still has these zones, which were removed from the IANA database.
    return timeZone.startsWith('SystemV/') ? undefined : timeZone;
  } catch {
    // The platform's way to say that there is no such zone.
    return undefined;
  }
}
