import { CredentialsRequired } from '../credentials-required';
import { StoreAnswer } from '../http-transport';
import { explainAnswer, explainRefusal, explainUnknown, explainUnreachable, StoreProblem, Words } from '../store-error';

/** This process has no credentials of Google's to use, or Google doesn't renew them. */
export class AmbientCredentialsFailed extends Error {
  override readonly name = 'AmbientCredentialsFailed';
}

const ACCESS_DENIED: Words = [
  'Access denied: the service account may not write to this bucket',
  'Grant storage.objects.create on the bucket, and storage.objects.delete so that a part can be written again.',
];
const INVALID_ENDPOINT: Words = [
  'Invalid endpoint: it does not speak the JSON API of Google Cloud Storage',
  'Check endpoint_url; omit it for Google itself.',
];

const BY_REASON: Record<string, Words> = {
  retentionPolicyNotMet: [
    'The object is locked: it may not be replaced before its retention ends',
    'Give exports a prefix or a bucket without a retention policy, or wait until it has passed.',
  ],
  objectUnderActiveHold: ['The object is locked: it is under a hold', 'Release the hold, or export again.'],
  userProjectMissing: [
    'The bucket charges the requester, and the request named no project to charge',
    'Use a bucket without Requester Pays.',
  ],
};

/** Explains an error of a request to Google Cloud Storage. What isn't known is taken for a fault that may pass. */
export function explainGcsError(error: unknown): StoreProblem {
  const refusal = explainRefusal(error);
  if (refusal) return refusal;
  if (error instanceof CredentialsRequired) {
    return fault('CredentialsRequired', [
      'No credentials: this bucket is not one that the server writes to with its own',
      'Give credentials.service_account_key. The operator lists buckets that need none (GANTRY_EXPORT_AMBIENT_BUCKETS, ' +
        'as gs://name), without an endpoint_url.',
    ]);
  }
  if (error instanceof AmbientCredentialsFailed) {
    const problem = fault(error.name, [
      "No credentials: the server's own were not found, or Google does not accept them",
      'Give credentials.service_account_key, or Application Default Credentials to the api and worker processes.',
    ]);
    // The service that gives them may answer again in a moment.
    return { ...problem, isUserFault: false };
  }
  if (error instanceof StoreAnswer) return explainGcsAnswer(error);
  return explainUnreachable(error, INVALID_ENDPOINT) ?? explainUnknown(error);
}

function explainGcsAnswer({ status, code: reason, message }: StoreAnswer): StoreProblem {
  const code = reason ?? `HTTP ${status}`;
  if (reason !== undefined && Object.hasOwn(BY_REASON, reason)) return fault(code, BY_REASON[reason]);
  if (status === 401) {
    return fault(code, [
      'Credentials are not valid: Google does not accept the key of the service account',
      'Check credentials.service_account_key: the key must exist, and its account be enabled.',
    ]);
  }
  if (status === 403) return fault(code, ACCESS_DENIED);
  if (reason !== undefined && status === 404) {
    return fault(code, ['Bucket is not valid: it does not exist', 'Check bucket_name.']);
  }
  const isOdd = status < 400 || status === 404 || status === 405 || status === 501;
  if (reason === undefined && isOdd) return fault(code, INVALID_ENDPOINT);
  return explainAnswer(code, message, status);
}

function fault(code: string, [message, hint]: Words): StoreProblem {
  return { code, message, hint, isUserFault: true };
}
