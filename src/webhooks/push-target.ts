/** Receiver of notifications that a client registered: sealed as a whole, since a URL may contain a token. */
export interface PushTarget {
  url: string;
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

/** Headers by which a receiver recognizes its notifications. */
export function pushHeaders({ token, authentication }: PushTarget): Record<string, string> {
  return {
    ...(authentication && {
      authorization: `${authentication.scheme} ${authentication.credentials}`.trim(),
    }),
    ...(token !== '' && { 'x-a2a-notification-token': token }),
  };
}
