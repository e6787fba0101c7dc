import { CredentialsRequired } from '../credentials-required';
import { StoreAnswer } from '../http-transport';
import { explainAnswer, explainRefusal, explainUnknown, explainUnreachable, StoreProblem, Words } from '../store-error';

const NOT_VALID: Words = [
  'Credentials are not valid: Azure does not accept them for this account',
  'Check account_name, and credentials.account_key or credentials.sas_token (its signature, and when it expires).',
];
const ACCESS_DENIED: Words = [
  'Access denied: the credentials may not write to this container',
  'Check credentials: a SAS token needs create and write (cw) on the container. Look also at the network rules of the account.',
];
const CONTAINER_NOT_VALID: Words = ['Container is not valid: it does not exist', 'Check container_name.'];
const LOCKED: Words = [
  'The blob is locked: it may not be replaced before its retention ends',
  'Give exports a container without an immutability policy, or wait until it has passed.',
];
const INVALID_ENDPOINT: Words = [
  'Invalid endpoint: it does not speak the API of Azure Blob Storage, or there is no such account',
  'Check account_name and endpoint_url; omit endpoint_url for Azure itself.',
];

const BY_CODE: Record<string, Words> = {
  AuthenticationFailed: NOT_VALID,
  InvalidAuthenticationInfo: NOT_VALID,
  NoAuthenticationInformation: NOT_VALID,
  KeyBasedAuthenticationNotPermitted: [
    'The account does not accept its key',
    'Give credentials.sas_token, or allow storage account key access.',
  ],
  AccountIsDisabled: ['The storage account is disabled', 'Enable it, or use another one.'],
  AuthorizationFailure: ACCESS_DENIED,
  AuthorizationPermissionMismatch: ACCESS_DENIED,
  AuthorizationResourceTypeMismatch: ACCESS_DENIED,
  AuthorizationServiceMismatch: ACCESS_DENIED,
  AuthorizationProtocolMismatch: ACCESS_DENIED,
  AuthorizationSourceIPMismatch: ACCESS_DENIED,
  InsufficientAccountPermissions: ACCESS_DENIED,
  UnauthorizedBlobOverwrite: [
    'Access denied: the credentials may not replace a blob',
    'A SAS token needs write (w) beside create (c), so that a part can be written again.',
  ],
  ContainerNotFound: CONTAINER_NOT_VALID,
  ContainerDisabled: CONTAINER_NOT_VALID,
  BlobImmutableDueToPolicy: LOCKED,
  CredentialsRequired: [
    'No credentials: a container of Azure needs some',
    'Give credentials.account_key or credentials.sas_token.',
  ],
};

/** Explains an error of a request to Azure Blob Storage. What isn't known is taken for a fault that may pass. */
export function explainAzureError(error: unknown): StoreProblem {
  const refusal = explainRefusal(error);
  if (refusal) return refusal;
  if (error instanceof CredentialsRequired) return fault(error.name, BY_CODE.CredentialsRequired);
  if (error instanceof StoreAnswer) return explainAzureAnswer(error);
  return explainUnreachable(error, INVALID_ENDPOINT) ?? explainUnknown(error);
}

function explainAzureAnswer({ status, code, message }: StoreAnswer): StoreProblem {
  if (code !== undefined && Object.hasOwn(BY_CODE, code)) return fault(code, BY_CODE[code]);
  if (status === 403) return fault(code ?? 'HTTP 403', ACCESS_DENIED);
  const isOdd = status < 400 || status === 404 || status === 405 || status === 501;
  if (code === undefined && isOdd) return fault(`HTTP ${status}`, INVALID_ENDPOINT);
  return explainAnswer(code ?? `HTTP ${status}`, message, status);
}

function fault(code: string, [message, hint]: Words): StoreProblem {
  return { code, message, hint, isUserFault: true };
}
